/** Reason for a missing vector: `too_long` and `language` come from the text, others from the embedder. */
export type EmbedFailure = 'too_long' | 'language' | 'late' | 'busy' | 'failed';

export type EmbedOutcome =
  /** `tokens`: including special ones, if the model reports them. */
  | { readonly type: 'vector'; readonly vector: Float32Array; readonly tokens?: number }
  | { readonly type: 'none'; readonly reason: EmbedFailure };

/** Turns a text into a vector of length 1. */
export interface Embedder {
  /** Identifies the model and everything that changes its vectors: entries of another one are never compared. */
  readonly model: string;
  /** Never throws; `late` after `deadlineMs` at the latest. */
  embed(text: string, deadlineMs: number): Promise<EmbedOutcome>;
  stop(): void;
}

/** Longest text that is embedded at all, in characters: 512 tokens are at most about this much English. */
export const MAX_EMBEDDED_CHARACTERS = 3000;

export const none = (reason: EmbedFailure): EmbedOutcome => ({ type: 'none', reason });

/** Scales a vector to length 1, so that cosine similarity is comparable; undefined for a zero vector. */
export function normalizeVector(values: ArrayLike<number>): Float32Array | undefined {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += (values[i] ?? 0) ** 2;
  const length = Math.sqrt(sum);
  if (!Number.isFinite(length) || length === 0) return undefined;
  const vector = new Float32Array(values.length);
  for (let i = 0; i < values.length; i++) vector[i] = (values[i] ?? 0) / length;
  return vector;
}
