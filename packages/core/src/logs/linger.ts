const SHORTEST_MS = 250;
const LONGEST_MS = 1000;
/** Smaller batches cost little, so watchers see them soon. */
const TRICKLE = 25;
/** A batch costs as much as 200 rows, mostly for roll-ups: from here on, that is a quarter. */
const WORTH_WHILE = 600;

/** Delay before the next batch: enough rows to be worth one, at most a second. */
export class Linger {
  private lastMs = SHORTEST_MS;

  /** Milliseconds to wait after an incomplete batch of so many records. */
  after(records: number): number {
    const wantedMs = records < TRICKLE ? SHORTEST_MS : (this.lastMs * WORTH_WHILE) / records;
    this.lastMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, wantedMs));
    return this.lastMs;
  }
}
