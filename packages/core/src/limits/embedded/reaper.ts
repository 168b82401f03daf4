import type { RebuildSource, ReserveChange } from '../hot-store';
import type { EmbeddedBook } from './book';
import type { JournalTarget } from './lines';
import type { EmbeddedState } from './state';

const BATCH = 100;

export interface ReapParts extends JournalTarget {
  readonly book: EmbeddedBook;
  readonly nowMs: () => number;
}

/** Books and logs expired holds; one with a row is only released. */
export async function reapHolds({ state, queue, book, nowMs }: ReapParts, source: RebuildSource): Promise<number> {
  let reaped = 0;
  for (;;) {
    const atMs = nowMs();
    const expired = [...state.holds].filter(([, hold]) => hold.leaseUntilMs <= atMs).slice(0, BATCH);
    if (expired.length === 0) return reaped;
    const stored = await source.findStored(expired.map(([id, hold]) => ({ id, createdAtMs: hold.admittedAtMs })));
    for (const [requestId, hold] of expired) {
      if (hold.leaseUntilMs > nowMs() || !state.holds.has(requestId)) continue;
      if (stored.has(requestId)) book.record({ t: 'release', requestId });
      else {
        book.record({ t: 'reap', atMs: nowMs(), id: queue.nextId, requestId });
        reaped++;
      }
    }
  }
}

/** See `HotStore.reserve`. */
export function changeReserve(
  state: EmbeddedState,
  book: EmbeddedBook,
  { requestId, change, untilMs }: ReserveChange,
): number | undefined {
  if (!state.holds.has(requestId)) return undefined;
  book.record({ t: 'reserve', reserve: { requestId, change, untilMs } });
  return state.holds.get(requestId)?.holdNanoUsd ?? 0;
}
