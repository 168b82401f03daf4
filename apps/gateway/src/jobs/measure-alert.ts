import {
  burnRate,
  cacheRatioFall,
  shortWindowMinutes,
  WINDOW_VALUES,
  type WindowSums,
} from '@llm0/core/alerts/condition';
import type { AlertKind } from '@llm0/core/alerts/kinds';
import { anomalyHours, describeDeviation, findSpendAnomaly } from '@llm0/core/alerts/spend-anomaly';
import { inTime } from '@llm0/core/async/in-time';
import { formatUsdText } from '@llm0/core/pricing/format-usd';
import type { TargetStatus } from '@llm0/core/routing/target-health';
import { listToldSubjects, type StoredAlert } from '@llm0/drizzle/queries/alerts';
import { countGuardrailHits } from '@llm0/drizzle/queries/guardrails/guardrail-stats';
import { listBudgets } from '@llm0/drizzle/queries/limits/budgets';
import { systemLogRows } from '@llm0/drizzle/queries/logs/system-logs';
import { loadOverview } from '@llm0/drizzle/queries/stats/read/load-stats';
import { PROVIDER_ANSWERS, type StatsQuery } from '@llm0/drizzle/queries/stats/read/questions';
import { loadSpendHours } from '@llm0/drizzle/queries/stats/read/spend-hours';
import { reachedCaches } from '@llm0/drizzle/queries/stats/read/totals';
import { budgetLevels } from './budget-levels';
import type { JobContext } from './job';
import { providersDown } from './providers-down';

const MINUTE_MS = 60_000;
const WEEK_MS = 7 * 24 * 60 * MINUTE_MS;
const LOGS_READ = 100;
const BUDGETS_READ = 20_000;

/** Current state of the stores. */
export interface StoreStates {
  /** Reason why Postgres refuses writes; undefined if it accepts them. */
  readonly postgres: () => Promise<string | undefined>;
  /** Unreachable stores, with the reason. */
  readonly away: () => Promise<readonly string[]>;
  /** Rows of the log that wait. */
  readonly depth: () => Promise<{ readonly entries: number; readonly oldestAgeMs: number }>;
}

export const ALL_WELL: StoreStates = {
  postgres: async () => undefined,
  away: async () => [],
  depth: async () => ({ entries: 0, oldestAgeMs: 0 }),
};

export interface MeasureContext extends Pick<JobContext, 'db' | 'nowMs'> {
  /** Targets that are or were in trouble, as all gateways see them. */
  readonly targets: () => readonly TargetStatus[];
  readonly stores: StoreStates;
}

export interface MeasuredAlert {
  readonly value: number;
  /** Measured value in words. */
  readonly text: string;
  /** Everything that the text shortens. */
  readonly details?: readonly string[];
  /** Sorted names of the affected things. The alert reports new names while it fires. */
  readonly subjects?: readonly string[];
  /** Set by kinds that tell of each subject once: one of them is new. */
  readonly fresh?: boolean;
}

/** null without a measure. */
export type Measure = (context: MeasureContext, alert: StoredAlert) => Promise<MeasuredAlert | null>;

type Counted = Pick<StatsQuery, 'fromMs' | 'toMs' | 'cache' | 'outcome'>;

function overviewOf({ db }: MeasureContext, alert: StoredAlert, counted: Counted) {
  return loadOverview(db, { ...counted, nowMs: counted.toMs, projectId: alert.projectId ?? undefined });
}

async function sumsOf(
  context: MeasureContext,
  alert: StoredAlert,
  { windowMinutes = alert.windowMinutes, ...filter }: Partial<typeof PROVIDER_ANSWERS & { windowMinutes: number }> = {},
): Promise<WindowSums> {
  const toMs = context.nowMs();
  const overview = await overviewOf(context, alert, { ...filter, fromMs: toMs - windowMinutes * MINUTE_MS, toMs });
  return { ...overview, p95Ms: overview.durations.latency.p95 };
}

async function cacheSumsOf(context: MeasureContext, alert: StoredAlert, range: { fromMs: number; toMs: number }) {
  const sums = await overviewOf(context, alert, range);
  return { requests: reachedCaches(sums), hits: sums.exactHits + sums.semanticHits };
}

/** Answered or failed. */
const endedOf = ({ success, failures }: WindowSums) => count(success + failures);
const count = (value: number) => value.toLocaleString('en-US');
/** Percentiles come from bins of 4 %. */
const about = (ms: number) => (ms < 1000 ? `≈ ${Math.round(ms)} ms` : `≈ ${(ms / 1000).toPrecision(2)} s`);
const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

/** One measure a kind. */
export const MEASURES = {
  budget_share: async ({ db, nowMs }, { id, threshold, projectId }) => {
    const atMs = nowMs();
    const query = { nowMs: atMs, limit: BUDGETS_READ, projectId: projectId ?? undefined };
    return budgetLevels(await listBudgets(db, query), { threshold, nowMs: atMs, told: await listToldSubjects(db, id) });
  },
  error_rate: async (context, alert) => {
    const sums = await sumsOf(context, alert);
    const value = WINDOW_VALUES.error_rate(sums);
    return value === null ? null : { value, text: `${percent(value)} of ${endedOf(sums)} requests failed` };
  },
  latency_p95: async (context, alert) => {
    const value = WINDOW_VALUES.latency_p95(await sumsOf(context, alert, PROVIDER_ANSWERS));
    return value === null ? null : { value, text: `p95 latency of providers is ${about(value)}` };
  },
  spend: async (context, alert) => {
    const sums = await sumsOf(context, alert);
    return { value: WINDOW_VALUES.spend(sums), text: `${formatUsdText(sums.costNanoUsd)} was spent` };
  },
  job_failed: async ({ db, nowMs }, alert) => {
    const sinceMs = nowMs() - alert.windowMinutes * MINUTE_MS;
    const { data } = await systemLogRows.list(db, { limit: LOGS_READ }, { outcome: 'error' });
    const failed = data.filter((entry) => entry.createdAtMs >= sinceMs);
    const names = [...new Set(failed.map((entry) => entry.eventType))].join(', ');
    return { value: failed.length, text: failed.length === 0 ? 'no job failed' : `failed: ${names}` };
  },
  guardrail_hits: async ({ db, nowMs }, alert) => {
    const toMs = nowMs();
    const range = { fromMs: toMs - alert.windowMinutes * MINUTE_MS, toMs, projectId: alert.projectId ?? undefined };
    const value = await countGuardrailHits(db, range);
    return {
      value,
      text: value === 0 ? 'guardrails found nothing' : `guardrails found something ${count(value)} times`,
    };
  },
  provider_down: async ({ targets }, { threshold }) => providersDown(targets(), threshold),
  store_down: async ({ stores }) => {
    const away = await stores.away();
    return { value: away.length, text: away.length === 0 ? 'all stores answer' : `away: ${away.join(', ')}` };
  },
  log_queue: async ({ stores }) => {
    const { entries, oldestAgeMs } = await stores.depth();
    if (entries === 0) return { value: 0, text: 'no rows of the log wait for Postgres' };
    const value = oldestAgeMs / MINUTE_MS;
    return {
      value,
      text: `${count(entries)} rows of the log wait for Postgres, the oldest for ${value.toFixed(1)} min`,
    };
  },
  cache_ratio_fall: async (context, alert) => {
    const toMs = context.nowMs();
    const fromMs = toMs - alert.windowMinutes * MINUTE_MS;
    const now = await cacheSumsOf(context, alert, { fromMs, toMs });
    const before = await cacheSumsOf(context, alert, { fromMs: fromMs - WEEK_MS, toMs: fromMs });
    const value = cacheRatioFall(now, before);
    if (value === null) return null;
    const [ratio, usual] = [now.hits / now.requests, before.hits / before.requests];
    return { value, text: `${percent(ratio)} of answers came from a cache, ${percent(usual)} over the week before` };
  },
  spend_anomaly: async ({ db, nowMs }, alert) => {
    const atMs = nowMs();
    const found = findSpendAnomaly(atMs, await loadSpendHours(db, anomalyHours(atMs), alert.projectId ?? undefined));
    if (found === null) return null;
    const hour = new Date(found.hourMs).toISOString().slice(11, 16);
    const text = `${formatUsdText(found.costNanoUsd)} was spent in the hour from ${hour} UTC, ${describeDeviation(found.z)} of four weeks`;
    return { value: found.z, text };
  },
  error_budget_burn: async (context, alert) => {
    const long = await sumsOf(context, alert);
    const short = await sumsOf(context, alert, { windowMinutes: shortWindowMinutes(alert) });
    const value = burnRate(alert, long, short);
    if (value === null) return null;
    const text = `the error budget burns ${value.toFixed(1)} times too fast: ${count(long.failures)} of ${endedOf(long)} requests failed within ${alert.windowMinutes} min`;
    return { value, text };
  },
} as const satisfies Record<AlertKind, Measure>;

/** Kinds that query no database. */
export const OFF_SQL: ReadonlySet<AlertKind> = new Set(['provider_down', 'store_down', 'log_queue']);

const MEASURE_MS = 10_000;

/** Throws after a time-out, so that a hanging measure holds up nothing else. */
export async function measureInTime(context: MeasureContext, alert: StoredAlert): Promise<MeasuredAlert | null> {
  return inTime<MeasuredAlert | null, never>(MEASURES[alert.kind](context, alert), MEASURE_MS, () => {
    throw new Error(`the alert ${alert.name} could not be measured within ${MEASURE_MS / 1000} s`);
  });
}
