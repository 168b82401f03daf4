import { expect, test } from 'bun:test';
import { ALERT_KINDS } from '@llm0/core/alerts/kinds';
import type { Alert } from '../../api/settings';
import { placeOfMeasure } from './prepare-measure';

const NOW = Date.parse('2026-11-28T14:00:00Z');
const alert = (more: Partial<Alert>) =>
  ({ kind: 'error_rate', window_minutes: 15, project_id: null, ...more }) as Alert;
const place = (more: Partial<Alert>) => placeOfMeasure(alert(more), NOW);

test('every kind leads to what it measures', () => {
  expect(Object.fromEntries(ALERT_KINDS.map((kind) => [kind, place({ kind }).to]))).toEqual({
    budget_share: '/money',
    error_rate: '/requests',
    latency_p95: '/latency',
    spend: '/money',
    job_failed: '/settings',
    guardrail_hits: '/guardrails',
    provider_down: '/routing',
    store_down: '/settings',
    log_queue: '/settings',
    cache_ratio_fall: '/cache',
    spend_anomaly: '/money',
    error_budget_burn: '/requests',
  });
});

test('the window of the alert is the range of the page, and its project the filter', () => {
  expect(place({ window_minutes: 60 })).toMatchObject({
    label: 'Failed requests',
    search: { outcome: 'error', range: '1h', project: undefined },
  });
  expect(place({ window_minutes: 90, project_id: 'a' }).search).toEqual({
    outcome: 'error',
    ...{ from: '2026-11-28T12:30:00.000Z', to: '2026-11-28T14:00:00.000Z' },
    project: 'a',
  });
  // A window that does not apply is no range.
  expect(place({ kind: 'provider_down', project_id: 'a' }).search).toEqual({ tab: 'providers' });
});
