import type { ChatResponse } from '../chat/response';
import type { Usage } from '../chat/usage';

/** What every cache tier keeps of a complete, successful answer. */
export interface StoredAnswer {
  readonly v: 1;
  readonly provider: string;
  /** Target model that answered. */
  readonly model: string;
  readonly response: ChatResponse;
  readonly usage: Usage;
  /** What the answer cost when it was made: what a hit saves. Integer nano-USD. */
  readonly costNanoUsd: number;
}

export function encodeStoredAnswer(answer: StoredAnswer): string {
  return JSON.stringify(answer);
}

/** undefined for anything this version did not write: a damaged or foreign entry is a miss, never an error. */
export function decodeStoredAnswer(text: string): StoredAnswer | undefined {
  try {
    const value = JSON.parse(text) as StoredAnswer;
    return value.v === 1 && Array.isArray(value.response?.choices) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** For `IdempotentAnswers`. */
export const STORED_ANSWER_CODEC = { encode: encodeStoredAnswer, decode: decodeStoredAnswer };
