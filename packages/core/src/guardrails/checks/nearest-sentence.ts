import type { CheckNeeds } from './check-needs';

/** Longest wait for a vector by default. */
const DEADLINE_MS = 30_000;
/** Sentences that are embedded at once: others get their turn between them. */
const AT_ONCE = 4;

/** Sentences to compare with: their vectors are worked out once, at the first question; after a failure, at the next. */
export class SentenceList {
  private vectors: Promise<readonly Float32Array[]> | undefined;

  constructor(
    private readonly sentences: readonly string[],
    private readonly embed: CheckNeeds['embed'],
  ) {}

  /** Begins to work. */
  prepare(): Promise<readonly Float32Array[]> {
    this.vectors ??= embedAll(this.sentences, this.embed, AT_ONCE).catch((error: unknown) => {
      this.vectors = undefined;
      throw error;
    });
    return this.vectors;
  }

  /** Cosine similarity of the nearest one. */
  async nearest(vector: Float32Array): Promise<number> {
    let best = -1;
    for (const known of await this.prepare()) best = Math.max(best, cosineOf(known, vector));
    return best;
  }
}

/** One vector for each text. Throws if one fails. */
export async function embedAll(
  texts: readonly string[],
  embed: CheckNeeds['embed'],
  atOnce: number,
  signal?: AbortSignal,
): Promise<readonly Float32Array[]> {
  const vectors: Float32Array[] = [];
  for (let start = 0; start < texts.length; start += atOnce) {
    signal?.throwIfAborted();
    const outcomes = await Promise.all(texts.slice(start, start + atOnce).map((text) => embed(text, DEADLINE_MS)));
    for (const outcome of outcomes) {
      if (outcome.type === 'none') throw new Error(`a text could not be embedded: ${outcome.reason}`);
      vectors.push(outcome.vector);
    }
  }
  signal?.throwIfAborted();
  return vectors;
}

/** Both have length 1. */
function cosineOf(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
