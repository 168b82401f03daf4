// The disk refuses a line: what was to be decided is refused; what already happened counts in memory, and its line is
// written before the next one.

import { storeUnavailable } from '../store-unavailable';
import { Journal } from './journal';
import { applyLine, type JournalLine, type JournalTarget, snapshotLines } from './lines';

const COMPACT_BYTES = 32 * 1024 * 1024;

export interface EmbeddedBookOptions {
  readonly dataDir: string;
  /** Journal size that starts a compaction. */
  readonly compactBytes?: number;
  readonly nowMs: () => number;
}

/** State and queue together with their journal: the only way either is changed. */
export class EmbeddedBook {
  private readonly journal: Journal;
  private unwritten: JournalLine[] = [];

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

  /** Journal first, then memory: what is decided is never forgotten. Throws `store_unavailable`. */
  record(line: JournalLine): void {
    try {
      this.writeUnwritten();
      this.journal.append(JSON.stringify(line));
    } catch (cause) {
      throw storeUnavailable('the journal cannot be written', cause);
    }
    applyLine(this.target, line);
  }

  /** For what already happened: never throws. */
  recordAnyway(line: JournalLine): void {
    this.unwritten.push(line);
    try {
      this.writeUnwritten();
    } catch {
      // `isBehind` shows it; the next line tries again.
    }
    applyLine(this.target, line);
  }

  /** Throws when the disk still refuses. */
  writeUnwritten(): void {
    while (this.unwritten[0] !== undefined) {
      this.journal.append(JSON.stringify(this.unwritten[0]));
      this.unwritten.shift();
    }
  }

  get isBehind(): boolean {
    return this.unwritten.length > 0;
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
