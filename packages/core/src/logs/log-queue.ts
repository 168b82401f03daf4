/** One entry of the durable log queue. `record` is the JSON of a `LogRecord`. */
export interface QueuedRecord {
  /** Opaque to the reader; given back to `acknowledge`. */
  readonly entryId: string;
  readonly record: string;
}

export interface QueueDepth {
  /** Entries not yet acknowledged, delivered ones included. */
  readonly entries: number;
  /** Age of the oldest of them by the store's clock; 0 when empty. */
  readonly oldestAgeMs: number;
}

/**
 * The queue between settlement and `gateway_logs`. At least once: an entry comes back until it is acknowledged, also to
 * another reader after its first one died (idle ≥ 30 s). Readers must be idempotent by record id.
 */
export interface LogQueue {
  /** Up to `max` entries, oldest first; waits up to `waitMs` for the first one. */
  read(max: number, waitMs: number): Promise<readonly QueuedRecord[]>;
  /** Removes entries for good; call it after the rows are committed. */
  acknowledge(entryIds: readonly string[]): Promise<void>;
  /**
   * Takes back records that were read before the counters were rebuilt and may not be stored as they are: what neither
   * queue nor rows have is handed in again. They are not acknowledged; what is still queued comes back.
   */
  handBack(records: readonly string[]): void;
  depth(): Promise<QueueDepth>;
}
