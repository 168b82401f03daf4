import { beforeEach, expect, test } from 'bun:test';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { SignInThrottle } from './sign-in-throttle';

let nowMs: number;
let compared: number;
let throttle: SignInThrottle;
beforeEach(() => {
  nowMs = 0;
  compared = 0;
  throttle = new SignInThrottle(() => nowMs);
});

/** `ok`, `wrong`, or how long to wait in seconds. */
async function attempt(address: string, token: string): Promise<string | number> {
  const find = async () => {
    compared += 1;
    return token.startsWith('right') ? token : undefined;
  };
  try {
    return (await throttle.attempt(address, token, find)) === undefined ? 'wrong' : 'ok';
  } catch (error) {
    if (error instanceof GatewayError && error.kind === 'rate_limit_exceeded') return (error.retryAfterMs ?? 0) / 1000;
    throw error;
  }
}
const attempts = (count: number, address: string, token: string) =>
  Promise.all(Array.from({ length: count }, () => attempt(address, token)));

test('after ten wrong tokens every token waits, even the right one, for the stated time', async () => {
  const seen = await attempts(40, '192.0.2.1', 'guess');
  expect(seen.filter((one) => one === 'wrong')).toHaveLength(10);
  expect(compared).toBe(10);
  expect(await attempt('192.0.2.1', 'right')).toBe(6);
  expect(compared).toBe(10);
  expect(await attempt('192.0.2.2', 'right')).toBe('ok');
  nowMs += 5999;
  expect(await attempt('192.0.2.1', 'right')).toBeCloseTo(0.001);
  nowMs += 1;
  expect(await attempt('192.0.2.1', 'right')).toBe('ok');
});

test('a signed-in address keeps working during guesses; others gain nothing', async () => {
  expect(await attempt('192.0.2.1', 'right')).toBe('ok');
  await attempts(40, '192.0.2.1', 'guess');
  expect(await attempts(50, '192.0.2.1', 'right')).toEqual(Array(50).fill('ok'));
  expect(await attempt('192.0.2.1', 'right too')).toBe(6);
  await attempts(40, '192.0.2.9', 'guess');
  expect(await attempt('192.0.2.9', 'right')).toBe(6);
});

test('right ones cost nothing, however many at once and before anybody is known', async () => {
  const seen = await Promise.all(Array.from({ length: 60 }, (_, n) => attempt(`198.51.100.${n}`, 'right')));
  expect(new Set(seen)).toEqual(new Set(['ok']));
  expect(await attempts(60, '192.0.2.2', 'right')).toEqual(Array(60).fill('ok'));
  expect((await attempts(11, '192.0.2.1', 'guess')).filter((one) => one === 'wrong')).toHaveLength(10);
});

test('many addresses share a limit, and a /64 counts as one', async () => {
  const spread = await Promise.all(
    Array.from({ length: 400 }, (_, n) => attempt(`10.0.${n >> 8}.${n & 255}`, 'guess')),
  );
  expect(spread.filter((one) => one === 'wrong')).toHaveLength(100);
  expect(spread.at(-1)).toBe(2);
  nowMs += 1e6;
  const hosts = await Promise.all(Array.from({ length: 40 }, (_, n) => attempt(`2001:db8::${n + 1}`, 'guess')));
  expect(hosts.filter((one) => one === 'wrong')).toHaveLength(10);
});

test('a store that fails while a token is looked up is no wrong token', async () => {
  const failing = () => throttle.attempt('192.0.2.1', 'x', () => Promise.reject(new Error('gone')));
  for (let n = 0; n < 30; n++) await expect(failing()).rejects.toThrow('gone');
  expect(await attempt('192.0.2.1', 'right')).toBe('ok');
});
