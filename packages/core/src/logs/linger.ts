const SHORTEST_MS = 250;
const LONGEST_MS = 1000;
/** Fewer than this a batch cost nothing to speak of: whoever watches them come sees them soon. */
const TRICKLE = 25;
/** A batch's own cost, mostly that of the roll-ups, is that of 200 rows: from here on it is a quarter. */
const WORTH_WHILE = 600;

/** Delay before the next batch: enough rows to be worth one, at most a second. */
export class Linger {
  private lastMs = SHORTEST_MS;

  /** Milliseconds, after a batch of so many records that was not full. */
  after(records: number): number {
    const wantedMs = records < TRICKLE ? SHORTEST_MS : (this.lastMs * WORTH_WHILE) / records;
    this.lastMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, wantedMs));
    return this.lastMs;
  }
}
