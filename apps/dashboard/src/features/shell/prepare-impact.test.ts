import { describe, expect, test } from 'bun:test';
import type { ErrorBucket } from '../../api/stats';
import { describePause, failingProviders, prepareImpact } from './prepare-impact';

const bucket = (minute: number, group: string | null, success: number, failures: number) =>
  ({ start: new Date(minute * 60_000).toISOString(), group, success, failures }) as ErrorBucket;

describe('impact', () => {
  // Successes before the first failure don't count.
  const all = [bucket(1, null, 40, 0), bucket(2, null, 30, 10), bucket(3, null, 0, 20), bucket(4, null, 40, 0)];
  const byCode = [
    ...[bucket(1, 'model_not_found', 0, 0), bucket(2, 'upstream_timeout', 0, 10)],
    ...[bucket(3, 'model_not_found', 0, 0), bucket(3, 'upstream_error', 0, 20)],
  ];
  const codes = [
    { code: 'upstream_error', failed: 20 },
    { code: 'upstream_timeout', failed: 10 },
  ];

  test('is the share of failures among requests since the first one, without caller errors, with its codes', () => {
    const impact = prepareImpact({ all, byCode, nowMs: 5 * 60_000 });
    expect(impact).toEqual({ ...{ failed: 30, share: 0.3, sinceMs: 120_000, endMs: null }, codes });
  });

  test('names the providers that failed, most first; requests that none was asked for have none', () => {
    const buckets = [bucket(0, '', 0, 9), bucket(0, 'a', 5, 2), bucket(0, 'b', 0, 7), bucket(0, 'c', 9, 0)];
    expect(failingProviders(buckets)).toEqual([
      { provider: 'b', failed: 7 },
      { provider: 'a', failed: 2 },
    ]);
  });

  test('is over after two minutes without a failure: later successes no longer count', () => {
    const nowMs = 6 * 60_000;
    expect(prepareImpact({ all, byCode, nowMs: nowMs - 1 })?.endMs).toBeNull();
    const impact = prepareImpact({ all, byCode, nowMs });
    expect(impact).toEqual({ ...{ failed: 30, share: 0.5, sinceMs: 120_000, endMs: 240_000 }, codes });
  });
});

test('callers who mistype models, exceed limits or leave cause no impact', () => {
  const byCode = [bucket(1, 'model_not_found', 0, 0), bucket(1, 'rate_limit_exceeded', 0, 0)];
  const none = { all: [], byCode: [], nowMs: 0 };
  const onlyCallers = { all: [bucket(1, null, 29, 0)], byCode, nowMs: 0 };
  expect([prepareImpact(onlyCallers), prepareImpact(none)]).toEqual([null, null]);
});

test('a paused provider tells when the gateway asks it again; a drained one that it is drained', () => {
  const pause = { models: ['a', 'b', 'c', 'd'], since: '1970-01-01T00:00:00Z', is_drained: false };
  const tell = (retryAt: string, given: object = {}) =>
    describePause({ ...pause, retry_at: `1970-01-01T${retryAt}Z`, ...given }, { nowMs: 0, timeZone: 'utc' });
  const told = ['00:00:20', '00:00:00.400', '00:00:00'].map((retryAt) => tell(retryAt, { models: ['a'] }));
  expect(told).toEqual(
    ['in 20 s', 'in 1 s', 'with the next request'].map((retry) => `paused since 00:00 UTC (a), retries ${retry}`),
  );
  expect(tell('00:00:01')).toBe('paused since 00:00 UTC (a, b, c and 1 more), retries in 1 s');
  expect(tell('00:00:01', { is_drained: true })).toBe('drained by operator');
});
