// Without the rows, retries every second; meanwhile the settlement stays in the journal.
import type { RebuildSource, Settlement } from '../hot-store';
import type { EmbeddedBook } from './book';
import type { JournalTarget } from './lines';
import type { EmbeddedTurn } from './turn';

const ASKED_AT_ONCE = 100;
const AGAIN_MS = 1_000;

export interface UnknownParts extends JournalTarget {
  readonly book: EmbeddedBook;
  readonly turn: EmbeddedTurn;
  readonly nowMs: () => number;
}

/** Settlements unknown to the store: only the rows show if they were booked. */
export class UnknownSettlements {
  /** While the rows are asked. */
  deciding: Promise<void> | undefined;
  private isStopped = false;

  constructor(private readonly parts: UnknownParts) {}

  isOne({ held, requestId }: Settlement): boolean {
    const { holds, done, reaped } = this.parts.state;
    return held && !holds.has(requestId) && !done.has(requestId) && !reaped.has(requestId);
  }

  /** Looks them up in the background, unless that is running. */
  decide(source: RebuildSource | undefined): void {
    if (this.parts.state.unknown.size === 0 || this.deciding !== undefined || source === undefined) return;
    this.deciding = this.lookUp(source).finally(() => {
      this.deciding = undefined;
    });
  }

  stop(): void {
    this.isStopped = true;
  }

  private async lookUp(source: RebuildSource): Promise<void> {
    const { state, queue, book, turn, nowMs } = this.parts;
    while (state.unknown.size > 0 && !this.isStopped) {
      const some = [...state.unknown.values()].slice(0, ASKED_AT_ONCE);
      const queued = new Set([...queue.all()].map(({ record }) => (JSON.parse(record) as { id?: string }).id));
      try {
        const asked = some.map(({ requestId: id, admittedAtMs: createdAtMs }) => ({ id, createdAtMs }));
        const stored = await source.findStored(asked);
        for (const settlement of some) {
          const { requestId } = settlement;
          if (stored.has(requestId) || queued.has(requestId)) book.recordLater({ t: 'known', requestId });
          else book.recordLater({ t: 'settle', atMs: nowMs(), force: true, id: queue.nextId, settlement });
        }
        await turn.open();
      } catch {
        await Bun.sleep(AGAIN_MS);
      }
    }
  }
}
