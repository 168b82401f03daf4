import { expect, test } from 'bun:test';
import { alertFields, describeFiring, describePreview } from './prepare-alert';

const week = { from: '2026-03-01T00:00:00Z', to: '2026-03-08T00:00:00Z' };

test('summarises the preview of an alert in one sentence', () => {
  const firing = { from: '2026-03-03T14:05:00Z', to: '2026-03-03T14:25:00Z' };
  const fired = { ...week, fired: 3, firings: [firing], highest: 0.5 };
  expect(describePreview('error_rate', fired, 'utc')).toBe(
    'Over the last week, it would have fired 3 times, last on Tuesday 14:05 UTC, for 20 min. The highest value was 50 %.',
  );
  const open = { ...week, fired: 1, firings: [{ ...firing, to: null }], highest: 0.5 };
  expect(describePreview('error_rate', open, 'utc')).toEndWith(
    'fired once, last on Tuesday 14:05 UTC, and would still be firing. The highest value was 50 %.',
  );
  const always = { ...week, fired: 1, firings: [{ from: week.from, to: null }], highest: 0.5 };
  expect(describePreview('budget_share', always, 'utc')).toBe(
    'Over the last week, it would have fired all the time. The highest value was 50 %.',
  );
  const older = { ...always, firings: [{ from: week.from, to: firing.to }] };
  expect(describePreview('budget_share', older, 'utc')).toStartWith(
    'Over the last week, it would have fired once, last until Tuesday 14:25 UTC. The highest',
  );
  expect(describePreview('job_failed', fired, 'utc')).toEndWith('for 20 min.');
  const quiet = { ...week, fired: 0, firings: [], highest: 12.5 };
  expect(describePreview('spend', quiet, 'utc')).toBe(
    'Over the last week, it would not have fired: the highest value was $12.50.',
  );
  expect(describePreview('job_failed', { ...quiet, highest: 0 }, 'utc')).toBe(
    'Over the last week, it would not have fired: no job failed.',
  );
  expect(describePreview('spend_anomaly', { ...quiet, highest: -1.72 }, 'utc')).toEndWith(
    'it would not have fired: the highest value was 1.7 deviations below the usual.',
  );
  const short = { ...quiet, from: '2026-03-07T00:00:00Z', highest: null };
  expect(describePreview('latency_p95', short, 'utc')).toBe(
    'Since 2026-03-07 00:00:00 UTC, it would not have fired: there was nothing to measure.',
  );
});

test('a form has the fields of its kind and of who is told', () => {
  const names = (...given: Parameters<typeof alertFields>) => alertFields(...given).map(({ name }) => name);
  expect(names('provider_down')).toEqual([
    ...['name', 'kind', 'threshold', 'webhook_format', 'webhook_url', 'muted_until', 'is_active'],
  ]);
  expect(names('error_budget_burn', {}, 'pagerduty')).toEqual([
    ...['name', 'kind', 'threshold', 'objective', 'window_minutes', 'project_id'],
    ...['webhook_format', 'webhook_url', 'routing_key', 'muted_until', 'is_active'],
  ]);
});

test('another kind brings its usual threshold, as the form writes it', () => {
  const resets = alertFields('error_rate').find(({ name }) => name === 'kind')?.resets;
  const usual = (kind: string) => resets?.(kind).threshold;
  expect(['budget_share', 'latency_p95', 'spend', 'spend_anomaly', 'job_failed'].map(usual)).toEqual([
    ...['50', '10000', '10', '5', undefined],
  ]);
});

test('a threshold says what it means beside how it reads', () => {
  const threshold = alertFields('spend_anomaly').find(({ name }) => name === 'threshold');
  expect(threshold?.understood?.(5, {})).toStartWith(
    'Hourly spend exceeds the usual by 5 deviations. Compared with the same hour of the last four weeks.',
  );
  const spend = alertFields('spend').find(({ name }) => name === 'threshold');
  expect(spend?.understood?.(5, { window_minutes: '15' })).toBe('Spend reaches $5.00 within 15 min');
  const budget = alertFields('budget_share').find(({ name }) => name === 'threshold');
  expect([0.3, 0.6, 0.95].map((share) => budget?.understood?.(share, {}))).toEqual([
    'Budget use reaches 30 %. Told again at 50 %, 80 %, and 95 %',
    'Budget use reaches 60 %. Told again at 80 % and 95 %',
    'Budget use reaches 95 %',
  ]);
});

test('a firing of the past in one line', () => {
  const firing = {
    ...{ created_at: '2026-03-03T14:05:00Z', ended_at: '2026-03-03T14:25:00Z', told_at: null },
    ...{ value: 0.5, highest: 0.6, text: '50.0 % of 10 requests failed' },
  };
  expect(describeFiring(firing, 'utc')).toBe(
    '2026-03-03 14:05:00 UTC, for 20 min: 50.0 % of 10 requests failed (not sent)',
  );
  const budgets = { kind: 'budget_share', last_error: null, muted_until: null } as const;
  expect(describeFiring(firing, 'utc', budgets)).toBe(
    '2026-03-03 14:05:00 UTC: 50.0 % of 10 requests failed (not sent)',
  );
  expect(describeFiring({ ...firing, ended_at: null, told_at: firing.created_at }, 'utc')).toBe(
    '2026-03-03 14:05:00 UTC, still firing: 50.0 % of 10 requests failed',
  );
});
