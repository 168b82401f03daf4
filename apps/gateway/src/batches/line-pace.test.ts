import { expect, test } from 'bun:test';
import { isAskedAgain, LinePace } from './line-pace';

const refused = (status: number, code?: string, tries = 1, isPaid = false) => ({ status, code, tries, isPaid });

test('limits are waited for as long as it takes, failures three times, and nothing else', () => {
  expect(isAskedAgain(refused(429, 'rate_limit_exceeded', 1000))).toBe(true);
  expect(isAskedAgain(refused(503, 'upstream_unavailable', 1000))).toBe(true);
  expect([1, 2, 3].map((tries) => isAskedAgain(refused(502, 'upstream_error', tries)))).toEqual([true, true, false]);
  expect(isAskedAgain(refused(429, 'customer_spend_limit'))).toBe(false);
  expect([200, 400, 402, 404].map((status) => isAskedAgain(refused(status)))).toEqual([false, false, false, false]);
});

test('what a vendor has run waits for our stores alone', () => {
  expect(isAskedAgain(refused(503, 'store_unavailable', 9, true))).toBe(true);
  expect(isAskedAgain(refused(402, 'spend_cap_exceeded', 1, true))).toBe(false);
  expect(isAskedAgain(refused(429, 'upstream_rate_limited', 1, true))).toBe(false);
  expect(isAskedAgain(refused(500, 'upstream_error', 1, true))).toBe(false);
});

test('a told time holds back all lines of a chunk; without one, waits double', async () => {
  let nowMs = 0;
  const pace = new LinePace(() => nowMs, new AbortController().signal);
  await pace.wait();
  pace.holdBack('2', 1);
  nowMs = 1999;
  expect(pace.isHeldBack).toBe(true);
  nowMs = 2000;
  expect(pace.isHeldBack).toBe(false);
  pace.holdBack(null, 3);
  nowMs += 1999;
  expect(pace.isHeldBack).toBe(true);
  nowMs += 1;
  expect(pace.isHeldBack).toBe(false);
});
