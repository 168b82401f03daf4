import { describe, expect, test } from 'bun:test';
import { redactMessage } from './redact-message';
import { readRetryAfterMs } from './retry-after';

describe('what is passed on of a vendor’s words', () => {
  test.each([
    ['Incorrect API key provided: sk-proj-abc***********xyz9.', 'Incorrect API key provided: ***.'],
    ['key gsk_abcdefghijklmnop used', 'key *** used'],
    ['xai-abcdefghijklmnop', '***'],
    ['AIzaSyA1234567890abcdef', '***'],
    ['header Bearer abc.def-ghi', 'header ***'],
    ['at https://user:pw@host/x?key=abc123&y=1', 'at https://***@host/x?key=***&y=1'],
    ['two\n  lines', 'two lines'],
    ['the task-based sketch of risk-free keys', 'the task-based sketch of risk-free keys'],
  ])('%s', (given, shown) => {
    expect(redactMessage(given)).toBe(shown);
  });

  test('long messages are cut', () => {
    expect(redactMessage('a '.repeat(10_000)).length).toBeLessThanOrEqual(1001);
  });
});

describe('when to ask again', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  test.each<[Record<string, string>, number | undefined]>([
    [{}, undefined],
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:30 GMT' }, 0],
    [{ 'retry-after-ms': '120', 'retry-after': '7' }, 120],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': '999999999' }, 86_400_000],
  ])('%j', (headers, expected) => {
    expect(readRetryAfterMs(new Headers(headers), now)).toBe(expected as number);
  });
});
