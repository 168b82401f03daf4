import type { ProjectCounter } from '@llm0/core/limits/hot-store';
import type { Db } from '../../client';
import { sumMonths } from '../stats/read/spend-sums';

/** One project's month on both sides of the ledger law; nano-USD. */
export interface LedgerMonth {
  readonly projectId: string;
  /** `YYYY-MM`, UTC. */
  readonly month: string;
  /** Settled spend by the hot store's counter. */
  readonly counterNanoUsd: number;
  /** Σ `cost_usd` of the rows. */
  readonly logsNanoUsd: number;
  /** counter − logs: 0 once the queue is empty. */
  readonly diffNanoUsd: number;
}

export interface ReconcileOptions {
  /** `HotStore.counters()`. */
  readonly counters: readonly ProjectCounter[];
  readonly nowMs: number;
  readonly projectId?: string;
  /** `rollups` (default) is exact and quick; `rows` reads every row of the months. */
  readonly source?: 'rows' | 'rollups';
}

/**
 * Compares every counter with its rows, by month and project. This month's rows without a counter compare to 0; earlier
 * months without one have expired and are left out.
 */
export async function reconcileLedger(db: Db, options: ReconcileOptions): Promise<readonly LedgerMonth[]> {
  const { projectId, source = 'rollups' } = options;
  const thisMonth = new Date(options.nowMs).toISOString().slice(0, 'YYYY-MM'.length);
  const counters = options.counters.filter((counter) => projectId === undefined || counter.projectId === projectId);
  const [fromMonth = thisMonth] = [thisMonth, ...counters.map((counter) => counter.month)].sort();
  const months = new Map<string, { projectId: string; month: string; counter: number; logs: number }>();
  for (const { projectId: id, month, spentNanoUsd } of counters) {
    months.set(`${month} ${id}`, { projectId: id, month, counter: spentNanoUsd, logs: 0 });
  }
  for (const { projectId: id, month, spentNanoUsd } of await sumMonths(db, { projectId, fromMonth, source })) {
    const known = months.get(`${month} ${id}`);
    if (known !== undefined) known.logs = spentNanoUsd;
    else if (month >= thisMonth) {
      months.set(`${month} ${id}`, { projectId: id, month, counter: 0, logs: spentNanoUsd });
    }
  }
  return [...months]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { projectId: id, month, counter, logs }]) => ({
      projectId: id,
      month,
      counterNanoUsd: counter,
      logsNanoUsd: logs,
      diffNanoUsd: counter - logs,
    }));
}
