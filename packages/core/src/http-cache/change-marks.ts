import { LRUCache } from 'lru-cache';

/** A power of 16: resources are told apart by so many digits. */
const MARKS = 16 ** 4;
const DIGITS = 4;
/** Resources whose last change is remembered. */
const MAX_TIMES = 10_000;

/**
 * When resources changed, so that an answer that was on its way before is not kept after. Resources that share a mark
 * cost each other an answer that could have been kept, never the other way round.
 */
export class ChangeMarks {
  private readonly marks = new Uint32Array(MARKS);
  private readonly times = new LRUCache<string, number>({ max: MAX_TIMES });

  /** Another number after each change. `resource`: SHA-256, hex. */
  markOf(resource: string): number {
    return this.marks[indexOf(resource)] ?? 0;
  }

  /** Epoch milliseconds; undefined where none is known. */
  changedAtMs(resource: string): number | undefined {
    return this.times.get(resource);
  }

  note(resource: string, nowMs: number): void {
    const index = indexOf(resource);
    this.marks[index] = this.markOf(resource) + 1;
    this.times.set(resource, nowMs);
  }

  /** Any of them may have changed. */
  noteAll(): void {
    for (let index = 0; index < MARKS; index++) this.marks[index] = (this.marks[index] ?? 0) + 1;
  }
}

const indexOf = (resource: string): number => Number.parseInt(resource.slice(0, DIGITS), 16);
