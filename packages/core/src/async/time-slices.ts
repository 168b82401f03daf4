import { inTime } from './in-time';

/** Resolves once everything else that is ready had its turn. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The same after work on something large: what it left behind goes now, and not once the heap has grown by several. */
export async function letGo(): Promise<void> {
  Bun.gc(false);
  pending += 1;
  const done = noteCollection();
  // A collector that gets no processor falls behind: then whoever makes garbage waits, and not the memory.
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

/** Resolves once a collection has taken what was garbage now. */
function noteCollection(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  sentinels.register({}, () => {
    // Those asked for before it are done, too.
    pending = 0;
    resolve();
  });
  return promise;
}

/** Gives the memory of bytes back at once, for whoever is sure that nobody reads them any more. */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  const isWhole = buffer instanceof ArrayBuffer && byteLength === buffer.byteLength;
  if (isWhole && byteLength >= SMALLEST_FREED) buffer.transfer(0);
}

/** Less is gone with the next collection. */
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

  /** The same where so many characters were read or written, each of which leaves some bytes behind. */
  async pauseAfter(characters: number): Promise<void> {
    this.characters += characters;
    if (this.characters < COLLECT_AFTER) return this.pause();
    this.characters = 0;
    await letGo();
    this.sinceMs = performance.now();
  }
}

/** Else the heap would grow by what it holds before it looks. */
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
