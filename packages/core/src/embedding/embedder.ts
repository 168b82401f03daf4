/** Why there is no vector: `too_long` and `language` are the text's own fault, the others the embedder's. */
export type EmbedFailure = 'too_long' | 'language' | 'late' | 'busy' | 'failed';

export type EmbedOutcome =
  /** `tokens`: with the special ones, where the model tells. */
  | { readonly type: 'vector'; readonly vector: Float32Array; readonly tokens?: number }
  | { readonly type: 'none'; readonly reason: EmbedFailure };

/** Turns a text into a vector of length 1. */
export interface Embedder {
  /** Names the model and whatever else changes its vectors: entries of another one are never compared. */
  readonly model: string;
  /** Never throws; `late` after `deadlineMs` at the latest. */
  embed(text: string, deadlineMs: number): Promise<EmbedOutcome>;
  stop(): void;
}

/** Longest text that is embedded at all, in characters: 512 tokens are at most about this much English. */
export const MAX_EMBEDDED_CHARACTERS = 3000;

export const none = (reason: EmbedFailure): EmbedOutcome => ({ type: 'none', reason });

/** The vector at length 1, so that cosine similarity means the same for every model; undefined for what has no direction. */
export function normalizeVector(values: ArrayLike<number>): Float32Array | undefined {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += (values[i] ?? 0) ** 2;
  const length = Math.sqrt(sum);
  if (!Number.isFinite(length) || length === 0) return undefined;
  const vector = new Float32Array(values.length);
  for (let i = 0; i < values.length; i++) vector[i] = (values[i] ?? 0) / length;
  return vector;
}
