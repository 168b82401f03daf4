import { expect, test } from 'bun:test';
import type { ErrorBucket } from '../../api/stats';
import { prepareErrorRate, prepareStatuses, requestsOfHealth, withCallerErrors } from './prepare-health';

const start = new Date(0).toISOString();
const bucket = (group: string | null, errors: number, requests = errors) =>
  ({
    start,
    group,
    requests,
    errors,
    success: requests - errors,
    aborted: 0,
    cap_exceeded: 0,
    rate_limited: 0,
  }) as ErrorBucket;

test('caller errors are apart from failures in counts and rates', () => {
  const byCode = [bucket('', 0, 70), bucket('model_not_found', 20), bucket('upstream_error', 10)];
  const buckets = withCallerErrors([bucket(null, 30, 100)], byCode);
  const shown = (data: ReturnType<typeof prepareStatuses>) =>
    data.series.map(({ label, values }) => [label, values[0]]);
  expect(shown(prepareStatuses([0], buckets))).toEqual([
    ['Success', 70],
    ['Caller error', 20],
    ['Failed', 10],
  ]);
  expect(shown(prepareErrorRate([0], buckets))).toEqual([
    ['Failed', 0.1],
    ['Caller error', 0.2],
  ]);
});

test('a series of failures leads to failures only', () => {
  const { error_code: failed } = requestsOfHealth('error');
  expect(failed).toContain('upstream_error');
  expect(failed).not.toContain('model_not_found');
  expect(requestsOfHealth('caller')).toEqual({ status: 'error', error_code_not: failed });
  expect([requestsOfHealth('success'), requestsOfHealth(null)]).toEqual([{ status: 'success' }, { status: undefined }]);
});
