// A webhook that cannot be told: written to the alert as `last_error`, and told again at the next check.
import { isMet, shareUsed, WINDOW_VALUES, type WindowSums } from '@llm0/core/alerts/condition';
import {
  type AlertKind,
  listActiveAlerts,
  recordAlertFailure,
  recordAlertState,
  type StoredAlert,
} from '@llm0/drizzle/queries/alerts';
import { countGuardrailHits } from '@llm0/drizzle/queries/guardrails/guardrail-stats';
import { listBudgets } from '@llm0/drizzle/queries/limits/budgets';
import { systemLogRows } from '@llm0/drizzle/queries/logs/system-logs';
import { loadOverview } from '@llm0/drizzle/queries/stats/read/load-stats';
import type { Job, JobContext } from './job';

const MINUTE_MS = 60_000;
const LOGS_READ = 100;

/** What was measured, and how it is said; null where there is nothing to measure. */
type Measure = (
  context: Pick<JobContext, 'db' | 'nowMs'>,
  alert: StoredAlert,
) => Promise<{ value: number; text: string } | null>;

const sumsOf = async ({ db, nowMs }: Parameters<Measure>[0], alert: StoredAlert): Promise<WindowSums> => {
  const toMs = nowMs();
  const range = { fromMs: toMs - alert.windowMinutes * MINUTE_MS, toMs, nowMs: toMs };
  const overview = await loadOverview(db, { ...range, projectId: alert.projectId ?? undefined });
  return { ...overview, p95Ms: overview.durations.latency.p95 };
};
const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

const MEASURES = {
  budget_share: async ({ db, nowMs }, alert) => {
    const [tightest] = await listBudgets(db, { nowMs: nowMs(), limit: 1, projectId: alert.projectId ?? undefined });
    if (tightest === undefined) return null;
    const share = shareUsed(tightest.usedNanoUsd, tightest.limitNanoUsd);
    return {
      value: share,
      text: `${percent(share)} of the ${tightest.period} budget of ${tightest.scope} ${tightest.name} is used`,
    };
  },
  error_rate: async (context, alert) => {
    const sums = await sumsOf(context, alert);
    const value = WINDOW_VALUES.error_rate(sums);
    return value === null ? null : { value, text: `${percent(value)} of ${sums.requests} requests failed` };
  },
  latency_p95: async (context, alert) => {
    const value = WINDOW_VALUES.latency_p95(await sumsOf(context, alert));
    return value === null ? null : { value, text: `p95 latency is ${Math.round(value)} ms` };
  },
  spend: async (context, alert) => {
    const value = WINDOW_VALUES.spend(await sumsOf(context, alert));
    return { value, text: `$${value.toFixed(2)} was spent` };
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
    return { value, text: `guardrails found something ${value} times` };
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
  const isFiring = isMet(alert, measured?.value ?? null);
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
