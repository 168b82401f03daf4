// A webhook that cannot be told: written to the alert as `last_error`, and told again at the next check.
import {
  type AlertKind,
  listActiveAlerts,
  recordAlertFailure,
  recordAlertState,
  type StoredAlert,
} from '@llm0/drizzle/queries/alerts';
import { listBudgets } from '@llm0/drizzle/queries/limits/budgets';
import { systemLogRows } from '@llm0/drizzle/queries/logs/system-logs';
import { loadOverview } from '@llm0/drizzle/queries/stats/read/load-stats';
import type { Job, JobContext } from './job';

const MINUTE_MS = 60_000;
const NANO_USD = 1e9;
/** One failed request of two is no trend. */
const MIN_REQUESTS = 5;
const LOGS_READ = 100;

/** What was measured, and how it is said; null where there is nothing to measure. */
type Measure = (
  context: Pick<JobContext, 'db' | 'nowMs'>,
  alert: StoredAlert,
) => Promise<{ value: number; text: string } | null>;

const overviewOf = ({ db, nowMs }: Parameters<Measure>[0], alert: StoredAlert) => {
  const toMs = nowMs();
  const range = { fromMs: toMs - alert.windowMinutes * MINUTE_MS, toMs, nowMs: toMs };
  return loadOverview(db, { ...range, projectId: alert.projectId ?? undefined });
};
const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

const MEASURES = {
  budget_share: async ({ db, nowMs }, alert) => {
    const [tightest] = await listBudgets(db, { nowMs: nowMs(), limit: 1, projectId: alert.projectId ?? undefined });
    if (tightest === undefined) return null;
    const share = tightest.limitNanoUsd === 0 ? 1 : tightest.usedNanoUsd / tightest.limitNanoUsd;
    return {
      value: share,
      text: `${percent(share)} of the ${tightest.period} budget of ${tightest.scope} ${tightest.name} is used`,
    };
  },
  error_rate: async (context, alert) => {
    const { requests, errors } = await overviewOf(context, alert);
    if (requests < MIN_REQUESTS) return null;
    return { value: errors / requests, text: `${percent(errors / requests)} of ${requests} requests failed` };
  },
  latency_p95: async (context, alert) => {
    const { durations } = await overviewOf(context, alert);
    const { p95 } = durations.latency;
    return p95 === null ? null : { value: p95, text: `p95 latency is ${Math.round(p95)} ms` };
  },
  spend: async (context, alert) => {
    const usd = (await overviewOf(context, alert)).costNanoUsd / NANO_USD;
    return { value: usd, text: `$${usd.toFixed(2)} was spent` };
  },
  job_failed: async ({ db, nowMs }, alert) => {
    const sinceMs = nowMs() - alert.windowMinutes * MINUTE_MS;
    const { data } = await systemLogRows.list(db, { limit: LOGS_READ }, { outcome: 'error' });
    const failed = data.filter((entry) => entry.createdAtMs >= sinceMs);
    const names = [...new Set(failed.map((entry) => entry.eventType))].join(', ');
    return { value: failed.length, text: failed.length === 0 ? 'no job failed' : `failed: ${names}` };
  },
} as const satisfies Record<AlertKind, Measure>;

/** Compares what is measured with every alert's threshold, and tells its webhook when it passes it either way. */
export function checkAlerts(postWebhook: (url: string, body: object) => Promise<void>): Job {
  return {
    name: 'check_alerts',
    intervalMs: 30_000,
    async run(context) {
      const messages: string[] = [];
      for (const alert of await listActiveAlerts(context.db)) {
        const message = await checkAlert(context, alert, postWebhook);
        if (message !== null) messages.push(message);
      }
      return messages.length === 0 ? null : { message: messages.join('; ') };
    },
  };
}

async function checkAlert(
  context: JobContext,
  alert: StoredAlert,
  postWebhook: (url: string, body: object) => Promise<void>,
): Promise<string | null> {
  const measured = await MEASURES[alert.kind](context, alert);
  const isFiring = measured !== null && measured.value >= (alert.kind === 'job_failed' ? 1 : alert.threshold);
  if (isFiring === alert.isFiring) return null;
  const what = measured?.text ?? 'there is nothing to measure any more';
  const text = `${isFiring ? 'Alert' : 'Resolved'}: ${alert.name}: ${what}`;
  const event = isFiring ? 'alert_firing' : 'alert_resolved';
  try {
    await postWebhook(alert.webhookUrl, { event, text, value: measured?.value ?? null, alert: describe(alert) });
  } catch (error) {
    await recordAlertFailure(context.db, alert.id, error instanceof Error ? error.message : String(error));
    return null;
  }
  await recordAlertState(context.db, alert, isFiring, context.nowMs());
  return text;
}

const describe = ({ id, name, kind, threshold, windowMinutes, projectId }: StoredAlert) => ({
  ...{ id, name, kind, threshold },
  window_minutes: windowMinutes,
  project_id: projectId,
});
