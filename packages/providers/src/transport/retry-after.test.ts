import { describe, expect, test } from 'bun:test';
import { readRetryAfterMs } from './retry-after';

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
