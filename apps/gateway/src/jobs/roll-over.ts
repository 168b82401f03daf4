import type { JsonObject } from '@llm0/core/chat/json';
import { formatUsd } from '@llm0/core/pricing/format-usd';
import { reconcileLedger } from '@llm0/drizzle/queries/limits/reconcile';
import { ensurePartitionsAhead } from '@llm0/drizzle/queries/logs/partitions';
import { getSetting, putSetting } from '@llm0/drizzle/queries/settings';
import type { Job, JobContext } from './job';

const LAST_DAY = 'rolled_over_to';
/** Requests admitted before midnight may settle after it: a day is closed this long after its end. */
const GRACE_MS = 120_000;

/**
 * Closes a UTC day: creates partitions, and after the last day of a month records its spend by project and counters.
 * Budgets roll over by the store's clock.
 */
export const rollOver: Job = {
  name: 'roll_over',
  intervalMs: 30_000,
  async run(context) {
    const today = utcDay(context.nowMs() - GRACE_MS);
    const last = await getSetting(context.db, LAST_DAY);
    if (typeof last === 'string' && last >= today) return null;
    await ensurePartitionsAhead(context.db, context.nowMs());
    const month = today.slice(0, 7);
    const ended = typeof last === 'string' && last.slice(0, 7) < month ? last.slice(0, 7) : null;
    const closed = ended === null ? null : await closeMonth(context, ended);
    await putSetting(context.db, LAST_DAY, today);
    if (closed !== null) return closed;
    return { message: typeof last === 'string' ? `day ${last} closed` : `first day ${today}` };
  },
};

async function closeMonth(context: JobContext, month: string) {
  const counters = (await context.hotStore.counters()).filter((counter) => counter.month === month);
  const ledger = (await reconcileLedger(context.db, { counters, nowMs: Date.parse(`${month}-01T00:00:00Z`) })).filter(
    (entry) => entry.month === month,
  );
  const projects: JsonObject[] = ledger.map((entry) => ({
    project_id: entry.projectId,
    spent_usd: formatUsd(entry.logsNanoUsd),
    counter_usd: formatUsd(entry.counterNanoUsd),
  }));
  const even = ledger.every((entry) => entry.diffNanoUsd === 0);
  return {
    ok: even,
    message: `month ${month} closed, ${even ? 'every counter is the sum of its rows' : 'some counters differ from their rows'}`,
    metadata: { month, projects },
  };
}

const utcDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
