import { expect, test } from 'bun:test';
import { OUTCOMES } from '@llm0/core/errors/outcome';
import type { ErrorBucket } from '../../api/stats';
import { OUTCOME_LAYERS, prepareErrorRate, prepareStatuses } from './prepare-health';

const bucket = {
  ...{ start: new Date(0).toISOString(), group: null, requests: 100, success: 70, errors: 30, failures: 10 },
  ...{ caller_errors: 20, failure_rate: 0.125 },
  ...{ aborted: 0, cap_exceeded: 0, rate_limited: 0, failovers: 0, error_rate: 0 },
} satisfies ErrorBucket;

test('caller errors are apart from failures in counts and rates', () => {
  const shown = (data: ReturnType<typeof prepareStatuses>) =>
    data.series.map(({ label, values }) => [label, values[0]]);
  expect(shown(prepareStatuses([0], [bucket]))).toEqual([
    ['Success', 70],
    ['Caller error', 20],
    ['Failed', 10],
  ]);
  expect(shown(prepareErrorRate([0, 1], [bucket]))).toEqual([['Failed', 0.125]]);
});

test('each layer is called as requests are filtered', () => {
  expect(OUTCOME_LAYERS.map(({ name }) => name as string).sort()).toEqual([...OUTCOMES].sort());
});
