import { inTime } from './in-time';

/** Resolves once everything else that is ready had its turn. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Collects garbage after large work, before the heap grows by several times. */
export async function letGo(): Promise<void> {
  Bun.gc(false);
  pending += 1;
  const done = noteCollection();
  // A starved collector falls behind, so producers of garbage wait instead of memory growing.
  if (pending > MOST_PENDING) {
    await inTime(done, MOST_WAIT_MS, () => undefined);
    pending = 0;
  }
  await nextTurn();
}

/** Collections asked for and not done yet. */
let pending = 0;
const MOST_PENDING = 3;
const MOST_WAIT_MS = 50;
const sentinels = new FinalizationRegistry<() => void>((done) => done());

/** Resolves after a collection of the current garbage. */
function noteCollection(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  sentinels.register({}, () => {
    // Earlier ones are done as well.
    pending = 0;
    resolve();
  });
  return promise;
}

/** Frees a buffer at once; no reader may use it afterwards. */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  const isWhole = buffer instanceof ArrayBuffer && byteLength === buffer.byteLength;
  if (isWhole && byteLength >= SMALLEST_FREED) buffer.transfer(0);
}

/** The next collection frees smaller buffers. */
const SMALLEST_FREED = 16 * 1024;
const SLICE_MS = 5;

/** Gives others their turn where this one has worked long enough. */
export class TimeSlices {
  private sinceMs = performance.now();
  private characters = 0;

  async pause(): Promise<void> {
    if (performance.now() - this.sinceMs < SLICE_MS) return;
    await nextTurn();
    this.sinceMs = performance.now();
  }

  /** Pauses after a number of characters, each of which leaves some garbage. */
  async pauseAfter(characters: number): Promise<void> {
    this.characters += characters;
    if (this.characters < COLLECT_AFTER) return this.pause();
    this.characters = 0;
    await letGo();
    this.sinceMs = performance.now();
  }
}

/** Otherwise the heap would double before a collection. */
const COLLECT_AFTER = 1024 * 1024;

/** `map` in slices. */
export async function mapInSlices<A, B>(items: readonly A[], map: (item: A, index: number) => B): Promise<B[]> {
  await nextTurn();
  const slices = new TimeSlices();
  const mapped: B[] = [];
  for (const item of items) {
    mapped.push(map(item, mapped.length));
    await slices.pause();
  }
  return mapped;
}
