import { describe, expect, test } from 'bun:test';
import { burnRate, cacheRatioFall, shortWindowMinutes } from './condition';

const sums = (requests: number, failures: number) => ({
  success: requests - failures,
  failures,
  costNanoUsd: 0,
  p95Ms: null,
});

describe('error budgets', () => {
  test('burn as fast as the slower of both windows', () => {
    expect(burnRate({ objective: 0.99 }, sums(1000, 200), sums(100, 50))).toBeCloseTo(20);
    expect(burnRate({ objective: 0.99 }, sums(1000, 200), sums(100, 0))).toBe(0);
    expect(burnRate({ objective: 0.999 }, sums(1000, 10), sums(100, 1))).toBeCloseTo(10);
  });

  test('say nothing of few requests, or of an objective that allows nothing', () => {
    expect(burnRate({ objective: 0.99 }, sums(1000, 500), sums(2, 2))).toBeNull();
    expect(burnRate({ objective: 1 }, sums(1000, 500), sums(100, 50))).toBeNull();
    expect(burnRate({}, sums(1000, 10), sums(100, 1))).toBeCloseTo(1);
  });

  test('the short window is a twelfth of the long one', () => {
    expect([60, 15, 1].map((windowMinutes) => shortWindowMinutes({ windowMinutes }))).toEqual([5, 1, 1]);
  });
});

describe('the hit ratio', () => {
  test('falls by the share of it that is lost', () => {
    expect(cacheRatioFall({ requests: 100, hits: 10 }, { requests: 1000, hits: 400 })).toBeCloseTo(0.75);
    expect(cacheRatioFall({ requests: 100, hits: 60 }, { requests: 1000, hits: 400 })).toBe(0);
    expect(cacheRatioFall({ requests: 100, hits: 0 }, { requests: 1000, hits: 400 })).toBe(1);
  });

  test('says nothing of few requests, or of a cache that hardly ever hit', () => {
    expect(cacheRatioFall({ requests: 10, hits: 0 }, { requests: 1000, hits: 400 })).toBeNull();
    expect(cacheRatioFall({ requests: 100, hits: 0 }, { requests: 50, hits: 20 })).toBeNull();
    expect(cacheRatioFall({ requests: 100, hits: 0 }, { requests: 1000, hits: 5 })).toBeNull();
  });
});
