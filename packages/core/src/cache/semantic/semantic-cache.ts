import type { CachedAnswer, CacheRoom } from '../cached-answer';
import type { SemanticGroup } from './semantic-store';

/** Measured on the project's own labelled set: see bench/semantic/README.md. */
export const DEFAULT_SEMANTIC_THRESHOLD = 0.85;

/** One eligible request, as the cache sees it. */
export interface SemanticQuestion extends Omit<SemanticGroup, 'fingerprint'> {
  readonly requestId: string;
  /** Key of the request in the exact cache. */
  readonly cacheKey: string;
  readonly text: string;
  /** Everything but the text. */
  readonly context: string;
  /** The project's own; null = the measured default. */
  readonly threshold: number | null;
  /** The caller's: raises only. */
  readonly minThreshold?: number;
  /** Look, but serve nothing. */
  readonly shadow: boolean;
  /** Memory for the answer that is found. */
  readonly room?: CacheRoom;
  /** False for answers that the project no longer caches. */
  readonly mayServe?: (stored: CachedAnswer) => boolean;
}

export type SemanticOutcome =
  | 'hit'
  | 'miss'
  | 'shadow'
  | 'refused'
  | 'late'
  | 'busy'
  | 'error'
  | 'unavailable'
  | 'language'
  | 'too_long';

export interface SemanticHit {
  readonly stored: CachedAnswer;
  /** Text of it. */
  readonly value: string;
  readonly similarity: number;
  /** Milliseconds the entry is still good for; > 0. */
  readonly remainingMs: number;
}

/** Result of a look-up; pass it to `keep` with the new answer. */
export interface SemanticLookUp {
  readonly hit?: SemanticHit;
  readonly vector?: Float32Array;
  /** The text can't be stored either. */
  readonly isUnfit?: boolean;
}

/** An answer to be found by other wordings. */
export interface SemanticAnswer {
  readonly value: string;
  readonly ttlMs: number;
  readonly provider: string;
  readonly model: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export interface SemanticCache {
  /** Never throws. */
  find(question: SemanticQuestion): Promise<SemanticLookUp>;
  /** Writes the answer some time soon; off the path. `lookUp` spares embedding the text again. */
  keep(question: SemanticQuestion, answer: SemanticAnswer, lookUp?: SemanticLookUp): void;
  /** Waits for pending writes, at most `timeoutMs`. */
  flush(timeoutMs: number): Promise<void>;
  stop(): void;
}
