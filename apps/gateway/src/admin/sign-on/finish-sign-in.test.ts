import { expect, test } from 'bun:test';
import { authenticatedAt, SignInRefused } from './finish-sign-in';

const NOW = 1_800_000_000_000;
const at = (secondsAgo: number | undefined, isAgain: boolean, supported?: readonly string[]) => {
  const claims = secondsAgo === undefined ? {} : { auth_time: NOW / 1000 - secondsAgo };
  try {
    const found = authenticatedAt({ iss: 'i', sub: 's', ...claims }, { isAgain, nowMs: NOW, supported });
    return found === null ? null : (NOW - found) / 1000;
  } catch (error) {
    return error instanceof SignInRefused ? error.reason : error;
  }
};

test('a sign-in is as old as the issuer says, and never of the future', () => {
  expect([at(3600, false), at(0, false), at(-100, false), at(undefined, false)]).toEqual([3600, 0, 0, null]);
});

test('a repeated one must be recent; only issuers that know no time are believed without one', () => {
  expect([at(30, true), at(359, true), at(361, true), at(-100, true)]).toEqual([30, 359, 'stale', 0]);
  expect([at(undefined, true), at(undefined, true, ['sub'])]).toEqual([0, 0]);
  expect(at(undefined, true, ['sub', 'auth_time'])).toBe('stale');
});
