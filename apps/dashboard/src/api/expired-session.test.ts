import { expect, test } from 'bun:test';
import { askForSignIn, onStaleSignIn, signInAgainAt } from './expired-session';

test('the listener hears of each refusal until it stops, and the way back is kept', () => {
  let heard = 0;
  const stop = onStaleSignIn(() => {
    heard += 1;
  });
  askForSignIn();
  askForSignIn();
  stop();
  askForSignIn();
  expect(heard).toBe(2);
  const { pathname, searchParams } = new URL(signInAgainAt('/projects/1?tab=keys&q=a b'), 'http://x');
  expect([pathname, searchParams.get('again'), searchParams.get('return_to')]).toEqual([
    ...['/auth/login', 'true', '/projects/1?tab=keys&q=a b'],
  ]);
});
