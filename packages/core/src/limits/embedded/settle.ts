import { completeLostRecord, DONE_MARKER_MS, isReserve, REAPED_MARKER_MS, reserveCounters } from '../hold';
import type { ReserveChange, Settlement } from '../hot-store';
import { adjustLevel, refillBucket } from '../token-bucket';
import { addToSums } from './apply';
import { coveringCounters } from './budgets';
import { adjustLevels } from './levels';
import type { EmbeddedState, OpenHold } from './state';

/** Outcome of a settlement; `record` goes to the queue. */
export type SettleResult =
  | { readonly type: 'queued'; readonly record: string }
  | { readonly type: 'repeated' }
  | { readonly type: 'unknown' };

/** Settles as `lua/settle.lua` does, once by request id. `force`: known to be nowhere, booked without a hold. */
export function applySettle(
  state: EmbeddedState,
  settlement: Settlement,
  { atMs, force }: { readonly atMs: number; readonly force: boolean },
): SettleResult {
  const { requestId, costNanoUsd, record } = settlement;
  forgetOldMarks(state, atMs);
  const hold = state.holds.get(requestId);
  if (hold !== undefined) {
    releaseHold(state, requestId, hold, costNanoUsd);
    adjustTokens(state, hold, { actual: settlement.tokens, atMs });
    mark(state, requestId, atMs);
    return { type: 'queued', record };
  }
  if (state.done.has(requestId)) return { type: 'repeated' };
  const { reapedNanoUsd: reaped, admittedAtMs = settlement.admittedAtMs } = state.reaped.get(requestId) ?? {};
  if (reaped !== undefined) {
    bookUnheld(state, settlement, { admittedAtMs, spent: costNanoUsd - reaped });
    state.reaped.delete(requestId);
    state.done.set(requestId, { untilMs: atMs + REAPED_MARKER_MS });
    return { type: 'queued', record: `${record.slice(0, -1)},"createdAtMs":${admittedAtMs},"corrects":true}` };
  }
  if (settlement.held && !force) return { type: 'unknown' };
  if (costNanoUsd > 0) bookUnheld(state, settlement, { admittedAtMs, spent: costNanoUsd });
  // Unheld free records may arrive twice: the drain is idempotent by id.
  if (costNanoUsd > 0 || force) mark(state, requestId, atMs);
  return { type: 'queued', record };
}

/** Books without a hold, also in the counted budgets that cover the request. */
function bookUnheld(
  state: EmbeddedState,
  settlement: Settlement,
  { admittedAtMs, spent }: { readonly admittedAtMs: number; readonly spent: number },
): void {
  const counters = coveringCounters(state, settlement, admittedAtMs);
  const booking = { ...settlement, admittedAtMs, customerId: settlement.customerId ?? '', counters };
  addToSums(state, booking, { spent, held: 0, open: 0 });
}

/** Books an expired hold; undefined if it is missing. */
export function applyReap(state: EmbeddedState, requestId: string, atMs: number): string | undefined {
  const hold = state.holds.get(requestId);
  if (hold === undefined) return undefined;
  releaseHold(state, requestId, hold, hold.lostNanoUsd);
  const { lostNanoUsd: reapedNanoUsd, admittedAtMs } = hold;
  state.reaped.set(requestId, { untilMs: atMs + REAPED_MARKER_MS, reapedNanoUsd, admittedAtMs });
  return completeLostRecord(hold);
}

/** Takes a hold away and books `spent` for it. */
export function releaseHold(state: EmbeddedState, requestId: string, hold: OpenHold, spent: number): void {
  addToSums(state, hold, { spent, held: -hold.holdNanoUsd, open: isReserve(hold) ? 0 : -1 });
  state.holds.delete(requestId);
}

/** Lowers a reserve as `lua/reserve.lua` does: nano-USD left, or undefined without one. */
export function applyReserve(
  state: EmbeddedState,
  { requestId, change, untilMs: leaseUntilMs }: Pick<ReserveChange, 'requestId' | 'change' | 'untilMs'>,
): number | undefined {
  const hold = state.holds.get(requestId);
  if (hold === undefined) return undefined;
  const { holdNanoUsd: before } = hold;
  const left = Math.max(0, Math.min(before, 'to' in change ? change.to : before - change.by));
  addToSums(state, hold, { spent: 0, held: left - before, open: isReserve(hold) ? 0 : -1 });
  const counters = reserveCounters(hold.counters);
  if (left === 0) state.holds.delete(requestId);
  else state.holds.set(requestId, { ...hold, holdNanoUsd: left, counters, leaseUntilMs });
  return left;
}

function adjustTokens(state: EmbeddedState, hold: OpenHold, { actual, atMs }: { actual: number; atMs: number }): void {
  if (hold.counters !== undefined) adjustLevels(state, hold.counters, { differenceTokens: hold.tokens - actual, atMs });
  if (hold.tokensPerMinute === 0) return;
  const key = state.key(hold.projectId, hold.keyId);
  // Uses the current limit, because the hold's may have changed.
  const limit = key.tokens?.burst ?? hold.tokensPerMinute;
  const level = refillBucket(key.tokens, atMs, limit, limit);
  key.tokens = { ...key.tokens, level: adjustLevel(level, hold.tokens - actual, limit), atMs };
}

function mark(state: EmbeddedState, requestId: string, atMs: number): void {
  state.done.set(requestId, { untilMs: atMs + DONE_MARKER_MS });
}

/** Marks are in the order they were made; a few are looked at each time. */
function forgetOldMarks(state: EmbeddedState, nowMs: number): void {
  for (const marks of [state.done, state.reaped]) {
    let looked = 0;
    for (const [requestId, { untilMs }] of marks) {
      if (untilMs > nowMs || looked++ > 8) break;
      marks.delete(requestId);
    }
  }
}
