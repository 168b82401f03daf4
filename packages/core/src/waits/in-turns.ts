/** Resolves once everything else that is ready had its turn. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const SLICE_MS = 5;

/** Gives others their turn where this one has worked long enough. */
export class Turns {
  private sinceMs = performance.now();

  async pause(): Promise<void> {
    if (performance.now() - this.sinceMs < SLICE_MS) return;
    await nextTurn();
    this.sinceMs = performance.now();
  }
}

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
