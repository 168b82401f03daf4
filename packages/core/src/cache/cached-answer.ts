import { parseJson } from '../chat/json';
import type { ChatResponse } from '../chat/response';
import type { Usage } from '../chat/usage';

/** What every cache tier keeps of a complete, successful answer. */
export interface CachedAnswer {
  readonly v: 1;
  readonly provider: string;
  /** Target model that answered. */
  readonly model: string;
  readonly response: ChatResponse;
  readonly usage: Usage;
  /** What the answer cost when it was made: what a hit saves. Integer nano-USD. */
  readonly costNanoUsd: number;
  /** Parameters of the request that were left out; absent where none were. */
  readonly dropped?: readonly string[];
  /** Where the semantic cache found it: the request it was found for. */
  readonly matchedBy?: string;
  /** Where it is kept for replays by `Idempotency-Key`. */
  readonly sent?: SentAnswer;
}

/** What its first caller got, so that the next one gets the same. */
export interface SentAnswer {
  /** UUID of the first request: ids of the answer are made of it. */
  readonly requestId: string;
  /** The body byte for byte (zstd, base64); absent for streams too long to keep. */
  readonly body?: string;
}

export function packBody(parts: readonly Uint8Array[]): string {
  return Bun.zstdCompressSync(Buffer.concat(parts)).toString('base64');
}

export function unpackBody(body: string): Uint8Array {
  return Bun.zstdDecompressSync(Buffer.from(body, 'base64'));
}

export function encodeCachedAnswer(answer: CachedAnswer): string {
  return JSON.stringify(answer);
}

/** undefined for anything this version did not write: a damaged or foreign entry is a miss, never an error. */
export function decodeCachedAnswer(text: string): CachedAnswer | undefined {
  const value = parseJson(text) as CachedAnswer | null | undefined;
  return value?.v === 1 && Array.isArray(value.response?.choices) ? value : undefined;
}

/** For `IdempotencyKeys`. */
export const CACHED_ANSWER_CODEC = { encode: encodeCachedAnswer, decode: decodeCachedAnswer };
