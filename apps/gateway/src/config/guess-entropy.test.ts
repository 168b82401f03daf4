import { expect, test } from 'bun:test';
import { threadMs } from '@llm0/testing/thread-time';
import { createAdminSecret } from '../admin/access/admin-token';
import { guessEntropyBits } from './guess-entropy';

const ENOUGH = 128;
const random = (bytes: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes)));

test.each([
  ...['correcthorsebattery', 'correct-horse-battery-staple', 'Correct Horse Battery Staple Window River'],
  ...['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'abcabcabcabcabcabcabcabcabcabcabcabcabcabc'],
  ...['0123456789abcdef0123456789abcdef', 'deadbeefdeadbeefdeadbeefdeadbeef', 'qwertyuiopasdfghjklzxcvbnm123456'],
  ...['12345678901234567890123456789012345678901234567890', '9876543210fedcba9876543210fedcba'],
  ...['test-admin-token-0123456789', 'change-me-please-now', 'my-super-secret-admin-token-for-production'],
  ...[
    'Password123!Password123!Password123!',
    'P@ssw0rd!2026',
    'x7Kp9mQ2vL5nR8tW',
    '00000000-0000-4000-8000-000000000000',
  ],
  ...['administratoradministrator', 'llm0_admin_llm0_admin_llm0_admin_llm0_admin_', 'Sommer-2026-Hamburg-Sonne'],
])('%s is guessed sooner', (secret) => {
  expect(guessEntropyBits(secret)).toBeLessThan(ENOUGH);
});

test('random ones of 128 bits or more are not suspected', () => {
  const kinds: readonly (readonly [string, () => string])[] = [
    ['32 hex digits', () => random(16).toString('hex')],
    ['32 hex digits in capitals', () => random(16).toString('hex').toUpperCase()],
    ['64 hex digits', () => random(32).toString('hex')],
    ['24 bytes in base64url', () => random(24).toString('base64url')],
    ['32 bytes in base64', () => random(32).toString('base64')],
    ['an admin token of ours', () => createAdminSecret().secret],
  ];
  for (const [kind, make] of kinds) {
    const suspected = Array.from({ length: 2000 }, make).filter((secret) => guessEntropyBits(secret) < ENOUGH - 1e-9);
    expect([kind, suspected.length <= 4]).toEqual([kind, true]);
  }
});

test('half as long is half as strong; nothing is nothing', () => {
  expect(guessEntropyBits(random(8).toString('hex'))).toBeLessThan(66);
  expect(guessEntropyBits('')).toBe(0);
});

test('a long secret is looked at in no time', () => {
  const startMs = threadMs();
  guessEntropyBits('ab'.repeat(2000) + random(2000).toString('base64'));
  expect(threadMs() - startMs).toBeLessThan(500);
});
