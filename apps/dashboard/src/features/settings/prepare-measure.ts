import type { Alert } from '../../api/settings';
import { PRESETS, rangeQuery } from '../../range/time-range';
import type { Place } from '../../ui/place-link';

interface Measure {
  readonly label: string;
  readonly to: string;
  readonly search?: object;
  /** The page takes a range: the alert's window, or this preset. */
  readonly range?: 'window' | keyof typeof PRESETS;
}

const FAILED = { label: 'Failed requests', to: '/requests', search: { outcome: 'error' }, range: 'window' } as const;
const JOBS = { label: 'Job runs', to: '/settings', search: { tab: 'jobs' } } as const;

const MEASURES: Readonly<Record<Alert['kind'], Measure>> = {
  budget_share: { label: 'Budgets', to: '/money', search: { tab: 'statement' } },
  error_rate: FAILED,
  error_budget_burn: FAILED,
  latency_p95: { label: 'Latency', to: '/latency', range: 'window' },
  spend: { label: 'Spend', to: '/money', range: 'window' },
  spend_anomaly: { label: 'Spend', to: '/money', range: '24h' },
  guardrail_hits: { label: 'Hits', to: '/guardrails', search: { tab: 'hits' }, range: 'window' },
  cache_ratio_fall: { label: 'Cache', to: '/cache', range: '7d' },
  provider_down: { label: 'Providers', to: '/routing', search: { tab: 'providers' } },
  store_down: { label: 'System', to: '/settings', search: { tab: 'system' } },
  log_queue: JOBS,
  job_failed: { ...JOBS, search: { tab: 'jobs', outcome: 'error' } },
};

const MINUTE_MS = 60_000;

/** The page that shows what an alert measures, over the alert's window and project. */
export function placeOfMeasure(
  { kind, window_minutes: minutes, project_id }: Pick<Alert, 'kind' | 'window_minutes' | 'project_id'>,
  nowMs: number,
): Place & { readonly label: string } {
  const { range, search, ...place } = MEASURES[kind];
  const ofProject = kind === 'budget_share' || range !== undefined ? { project: project_id ?? undefined } : {};
  const asked = range === 'window' ? rangeOf(minutes * MINUTE_MS, nowMs) : range && { range };
  return { ...place, search: { ...search, ...asked, ...ofProject } };
}

function rangeOf(ms: number, nowMs: number) {
  const preset = Object.entries(PRESETS).find(([, one]) => one.ms === ms);
  return preset === undefined ? rangeQuery({ fromMs: nowMs - ms, toMs: nowMs }) : { range: preset[0] };
}
