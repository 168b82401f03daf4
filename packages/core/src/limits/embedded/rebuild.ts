import type { RebuildData, RebuildSource } from '../hot-store';
import { customersOfMonth } from '../month-customers';
import { parseDay, parseMonth } from '../periods';
import { addToSums } from './apply';
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
