/** Resolves once everything else that is ready had its turn. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The same after work on something large: what it left behind goes now, and not once the heap has grown by several. */
export function letGo(): Promise<void> {
  Bun.gc(false);
  return nextTurn();
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
export class Turns {
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

/** `map` in turns. */
export async function mapInTurns<A, B>(items: readonly A[], map: (item: A, index: number) => B): Promise<B[]> {
  await nextTurn();
  const turns = new Turns();
  const mapped: B[] = [];
  for (const item of items) {
    mapped.push(map(item, mapped.length));
    await turns.pause();
  }
  return mapped;
}
