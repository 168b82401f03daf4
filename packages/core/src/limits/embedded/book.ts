// If the disk refuses a line, a decision is refused. An event counts in memory, and its line precedes the next one.
import { storeUnavailable } from '../store-unavailable';
import { Journal } from './journal';
import { applyLine, type JournalLine, type JournalTarget, snapshotLines } from './lines';

const COMPACT_BYTES = 64 * 1024 * 1024;

export interface EmbeddedBookOptions {
  readonly dataDir: string;
  /** Journal size that starts a compaction. */
  readonly compactBytes?: number;
  readonly nowMs: () => number;
}

/** State and queue together with their journal: the only way either is changed. */
export class EmbeddedBook {
  private readonly journal: Journal;
  private refused = false;

  constructor(
    private readonly target: JournalTarget,
    { dataDir, compactBytes, nowMs }: EmbeddedBookOptions,
  ) {
    this.journal = new Journal({
      dir: dataDir,
      name: 'hot',
      compactBytes: compactBytes ?? COMPACT_BYTES,
      *snapshot() {
        for (const line of snapshotLines(target, nowMs())) yield JSON.stringify(line);
      },
    });
  }

  /** Replays the journal. */
  open(): { readonly lines: number; readonly skipped: number } {
    return this.journal.open((line) => applyLine(this.target, JSON.parse(line) as JournalLine));
  }

  /** Journal first, then memory: a decision is never lost. Throws `store_unavailable`. */
  record(line: JournalLine): void {
    const number = this.journal.add(JSON.stringify(line));
    try {
      this.write();
    } catch (cause) {
      if (!this.journal.has(number)) {
        this.journal.takeBack(number);
        throw cause;
      }
    }
    applyLine(this.target, line);
  }

  /** For events, and for changes that `takeBack` can undo: memory first, journal with the next `write`. */
  recordLater(line: JournalLine): number {
    const number = this.journal.add(JSON.stringify(line));
    applyLine(this.target, line);
    return number;
  }

  /** Throws `store_unavailable` while the disk refuses; the next call tries again. */
  write(): void {
    try {
      this.journal.write();
      this.refused = false;
    } catch (cause) {
      this.refused = true;
      throw storeUnavailable('the journal cannot be written', cause);
    }
  }

  has(number: number): boolean {
    return this.journal.has(number);
  }

  /** The lines from this number on will never be written; their effects are the caller's to undo. */
  takeBack(number: number): void {
    this.journal.takeBack(number);
  }

  /** True while refused lines wait. */
  get isBehind(): boolean {
    return this.refused;
  }

  compact(): void {
    this.journal.compact();
  }

  compactIfLarge(): void {
    if (this.isBehind) return;
    try {
      this.journal.compactIfLarge();
    } catch {
      // The old generation is whole; the next settlement tries again.
    }
  }

  close(): void {
    this.journal.close();
  }
}
