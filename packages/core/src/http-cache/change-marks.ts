import { LRUCache } from 'lru-cache';

/** A power of 16: hash digits that distinguish resources. */
const MARKS = 16 ** 4;
const DIGITS = 4;
/** Maximum of remembered changes. */
const MAX_TIMES = 10_000;

/**
 * Times of resources' changes, so that answers from before a change aren't stored after it. Resources with a shared
 * mark may lose a storable answer, never the reverse.
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
