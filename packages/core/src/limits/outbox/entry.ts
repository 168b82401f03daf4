import type { Place } from '../../collections/linked-set';
import type { Settlement } from '../hot-store';
import type { CommitId } from '../redis/keys';

/** A settlement on its way to the store. */
export interface Entry {
  readonly sentAtMs: number;
  /** Last write to the store, by the monotonic clock. */
  onWireMs: number;
  readonly settlement: Settlement;
  inFile: boolean;
  /** While the store has not answered. */
  sent: Place<Entry> | undefined;
  /** Commit of the first attempt. */
  sentIn: CommitId | undefined;
  /** Of the first attempt. */
  shard: number | undefined;
  /** Position in the queue. */
  queued: { readonly entryId: string } | undefined;
  /** The store may already have it, so look it up. */
  doubtful: boolean;
}

export function createEntry(settlement: Settlement, sentAtMs: number, doubtful: boolean): Entry {
  return {
    sentAtMs,
    onWireMs: 0,
    settlement,
    inFile: false,
    sent: undefined,
    sentIn: undefined,
    shard: undefined,
    queued: undefined,
    doubtful,
  };
}
