import { expect, test } from 'bun:test';
import { signInProblem } from './sign-in-problem';

test('says why a sign-in gave no session, in a sentence; other words of the address say nothing', () => {
  expect(signInProblem('?sign_in=unreachable&provider=Okta')).toBe(
    "Okta can't be reached. Try again; open sessions go on.",
  );
  expect(signInProblem('?sign_in=denied')).toStartWith('The identity provider refused');
  for (const search of ['', '?sign_in=', '?sign_in=constructor', '?sign_in=<b>'])
    expect(signInProblem(search)).toBeNull();
});
