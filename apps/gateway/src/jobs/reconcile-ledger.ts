import { type LedgerMonth, reconcileLedger } from '@llm0/drizzle/queries/limits/reconcile';
import type { Job, JobContext } from './job';

const ATTEMPTS = 20;
const LOOKS = 3;
const PAUSE_MS = 500;

/** Checks the ledger law: every project's counter is the sum of its rows, to the nano-dollar, once the queue is empty. */
export const reconcileLedgerJob: Job = {
  name: 'reconcile_ledger',
  intervalMs: 3_600_000,
  async run(context) {
    const differing = await findDifferences(context);
    if (differing === null) return { message: 'the log queue was never empty, so nothing could be compared' };
    if (differing.length === 0) return { message: 'every counter is the sum of its rows' };
    const projects = differing.map((month) => ({
      project_id: month.projectId,
      month: month.month,
      diff_nano_usd: month.diffNanoUsd,
    }));
    context.log.error({ projects }, 'counters differ from the sum of their rows');
    return {
      ok: false,
      message: `${differing.length} counters differ from the sum of their rows`,
      metadata: { projects },
    };
  },
};

/**
 * Months that differ in several consecutive looks. A look counts only with an empty queue before and after; null if
 * that never happened.
 */
async function findDifferences(context: JobContext): Promise<readonly LedgerMonth[] | null> {
  let looks = 0;
  let found: readonly LedgerMonth[] = [];
  for (let attempt = 0; attempt < ATTEMPTS && looks < LOOKS; attempt++) {
    if (attempt > 0) await Bun.sleep(PAUSE_MS);
    const differing = await lookOnce(context);
    if (differing === null) continue;
    found = looks === 0 ? differing : intersect(found, differing);
    if (found.length === 0) return [];
    looks++;
  }
  return looks === 0 ? null : found;
}

async function lookOnce({ db, hotStore, nowMs }: JobContext): Promise<readonly LedgerMonth[] | null> {
  if ((await hotStore.depth()).entries > 0) return null;
  const months = await reconcileLedger(db, { counters: await hotStore.counters(), nowMs: nowMs() });
  if ((await hotStore.depth()).entries > 0) return null;
  return months.filter((month) => month.diffNanoUsd !== 0);
}

const intersect = (before: readonly LedgerMonth[], now: readonly LedgerMonth[]) =>
  now.filter((month) => before.some((other) => isSame(month, other)));

const isSame = (a: LedgerMonth, b: LedgerMonth) =>
  a.projectId === b.projectId && a.month === b.month && a.diffNanoUsd === b.diffNanoUsd;
