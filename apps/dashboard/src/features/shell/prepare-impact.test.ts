import { expect, test } from 'bun:test';
import type { ErrorBucket } from '../../api/stats';
import { describeRetry, prepareImpact } from './prepare-impact';

const bucket = (minute: number, group: string | null, requests: number, errors: number) =>
  ({ start: new Date(minute * 60_000).toISOString(), group, requests, errors }) as ErrorBucket;

test('impact is the share of failures among requests without caller errors, with its start and codes', () => {
  const all = [bucket(1, null, 60, 20), bucket(2, null, 40, 10), bucket(3, null, 20, 20)];
  const byCode = [
    ...[bucket(1, 'model_not_found', 20, 20), bucket(2, 'upstream_timeout', 10, 10)],
    bucket(3, 'upstream_error', 20, 20),
  ];
  expect(prepareImpact({ all, byCode })).toEqual({
    ...{ failed: 30, share: 0.3, sinceMs: 120_000 },
    codes: [
      { code: 'upstream_error', failed: 20 },
      { code: 'upstream_timeout', failed: 10 },
    ],
  });
});

test('callers who mistype models, exceed limits or leave cause no impact', () => {
  const byCode = [bucket(1, 'model_not_found', 20, 20), bucket(1, 'rate_limit_exceeded', 9, 0)];
  const none = { all: [], byCode: [] };
  expect([prepareImpact({ all: [bucket(1, null, 49, 20)], byCode }), prepareImpact(none)]).toEqual([null, null]);
});

test('a paused provider tells when the gateway asks it again', () => {
  const told = ['00:00:20', '00:00:00.400', '00:00:00'].map((at) => describeRetry(`1970-01-01T${at}Z`, 0));
  expect(told).toEqual(['retries in 20 s', 'retries in 1 s', 'retries now']);
});
