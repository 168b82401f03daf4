import type { Settlement } from '../hot-store';

/** A settlement on its way to the store. */
export interface Entry {
  readonly requestId: string;
  readonly admittedAtMs: number;
  readonly sentAtMs: number;
  /** When it was last written to the store, by the monotonic clock. */
  onWireMs: number;
  readonly bytes: number;
  /** undefined once only the file has it. */
  settlement: Settlement | undefined;
  inFile: boolean;
  /** What carried it the first time. */
  sentIn?: string;
  /** Where it is in the queue. */
  queued?: { readonly entryId: string };
  /** Whether the store has it must be looked up. */
  doubtful: boolean;
}
