import type { OpenCount } from '../budget-counts';
import { homeOf, SPANS } from '../budgets';
import type { RebuildData, RebuildSource } from '../hot-store';
import { customersOfMonth } from '../month-customers';
import { parseDay, parseMonth } from '../periods';
import { addToSums } from './apply';
import type { EmbeddedBook } from './book';
import { coveredHolds, isCounted } from './budgets';
import type { JournalTarget } from './lines';
import type { EmbeddedLogQueue } from './log-queue';
import { countCustomer, customerOf, type EmbeddedState, openDay, openMonth } from './state';

const BATCH = 1000;

/**
 * Counters = rows + open holds, after a lost or truncated journal. Stores the queue first, so that rows are complete.
 * Drops holds with rows, and versions, so that callers reload.
 */
export async function rebuildState(
  { state, queue }: { readonly state: EmbeddedState; readonly queue: EmbeddedLogQueue },
  source: RebuildSource,
  nowMs: number,
): Promise<RebuildData> {
  const entries = [...queue.all()];
  for (let i = 0; i < entries.length; i += BATCH) {
    const some = entries.slice(i, i + BATCH);
    await source.storeRecords(some.map(({ record }) => record));
    queue.remove(some.map(({ id }) => id));
  }
  const stored = await source.findStored(
    [...state.holds].map(([id, hold]) => ({ id, createdAtMs: hold.admittedAtMs })),
  );
  for (const requestId of stored) state.holds.delete(requestId);
  const data = await source.loadSpend(nowMs);

  state.projects.clear();
  for (const key of state.keys.values()) {
    key.open = 0;
    key.total.spent = 0;
    key.total.held = 0;
    key.months.clear();
  }
  for (const customer of state.customers.values()) {
    customer.days.clear();
    customer.months.clear();
    customer.countedMonth = undefined;
  }
  for (const row of data.projectMonths) {
    openMonth(state.project(row.projectId).months, parseMonth(row.month)).spent = row.spentNanoUsd;
  }
  for (const row of data.keyTotals) state.key(row.projectId, row.keyId).total.spent = row.spentNanoUsd;
  for (const row of data.keyMonths) {
    openMonth(state.key(row.projectId, row.keyId).months, parseMonth(row.month)).spent = row.spentNanoUsd;
  }
  for (const row of data.customerDays) {
    openDay(state.customer(row.projectId, row.customerId).days, parseDay(row.day)).spent = row.spentNanoUsd;
  }
  for (const row of data.customerMonths) {
    openMonth(state.customer(row.projectId, row.customerId).months, parseMonth(row.month)).spent = row.spentNanoUsd;
  }
  state.limits.clear();
  for (const { projectId, customerId, limits } of data.customerLimits) {
    state.limits.set(customerOf(projectId, customerId), limits);
  }
  for (const customer of customersOfMonth({ data, holds: state.holds.values(), nowMs })) countCustomer(state, customer);
  for (const hold of state.holds.values()) addToSums(state, hold, { spent: 0, held: hold.holdNanoUsd, open: 1 });
  return data;
}

export interface CountParts extends JournalTarget {
  readonly book: EmbeddedBook;
  readonly nowMs: () => number;
}

/** Counts of single budgets: an `open_budget` line begins one, a `count_budget` line ends it. */
export function openCounts({ state, queue, book, nowMs }: CountParts): OpenCount {
  return async (projectId, list) => {
    const shares = list.some(({ members }) => members !== undefined);
    const budgets = list.flatMap((budget) => {
      const { id, span, version } = budget;
      const home = homeOf(id, projectId);
      const counted = state.projects.get(home)?.budgets.get(id);
      if (counted?.isCounted === true && isCounted(counted.version, version)) return [];
      const period = SPANS[span].indexOf(nowMs());
      const openRequests = coveredHolds(state, { projectId, budget, period });
      book.record({ t: 'open_budget', budget: { projectId: home, id, period, openRequests } });
      return [{ ...budget, period, openRequests }];
    });
    const records = [...queue.all()]
      .map(({ record }) => record)
      .filter((record) => shares || record.includes(projectId));
    return {
      budgets,
      async *queued() {
        yield records;
      },
      // No other process counts here.
      beat: async () => {},
      close: async ({ id, version, period }, spentNanoUsd) =>
        book.record({
          t: 'count_budget',
          budget: { projectId: homeOf(id, projectId), id, version, period, spentNanoUsd },
        }),
    };
  };
}
