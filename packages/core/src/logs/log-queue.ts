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
 * The queue between settlement and `gateway_logs`. At least once: an entry returns until acknowledged, possibly
 * to another reader. Readers must be idempotent by record id.
 */
export interface LogQueue {
  /** Up to `max` entries, oldest first; waits up to `waitMs` for the first one. */
  read(max: number, waitMs: number): Promise<readonly QueuedRecord[]>;
  /** Removes entries for good; call it after the rows are committed. */
  acknowledge(entryIds: readonly string[]): Promise<void>;
  /**
   * Returns records read before a rebuild, which may be outdated: those in neither queue nor rows are submitted again.
   * They stay unacknowledged; queued ones come back.
   */
  handBack(records: readonly string[]): void;
  depth(): Promise<QueueDepth>;
}
