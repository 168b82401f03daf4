/** Entries that may answer for each other: same project, answering model and surroundings, and vectors of one kind. */
export interface SemanticGroup {
  readonly projectId: string;
  readonly provider: string;
  readonly model: string;
  /** SHA-256 (hex) over embedder, route and everything but the last user turn. */
  readonly fingerprint: string;
}

export interface SemanticEntry extends SemanticGroup {
  /** Key of the same request in the exact cache. */
  readonly cacheKey: string;
  readonly question: string;
  readonly questionHash: string;
  /** Length 1. */
  readonly vector: Float32Array;
  /** Text of a `CachedAnswer`. */
  readonly value: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

export interface SemanticCandidate {
  readonly cacheKey: string;
  readonly question: string;
  /** Cosine similarity, −1 to 1. */
  readonly similarity: number;
  /** A user rejected this pair of questions. */
  readonly isRejected: boolean;
  readonly expiresAtMs: number;
  /** The answer, if included. */
  readonly value?: string;
}

export interface SemanticSearch {
  readonly group: SemanticGroup;
  readonly vector: Float32Array;
  /** Identifies the rejected question. */
  readonly questionHash: string;
  readonly nowMs: number;
  readonly limit: number;
  /** From this similarity on, the nearest entry includes its answer, which is mostly the result. */
  readonly valueFrom: number;
}

export type MatchOutcome = 'served' | 'shadow' | 'refused' | 'below';

/** Result of a look-up. Texts only if prompts may be stored. */
export interface SemanticMatch {
  readonly projectId: string;
  readonly requestId: string;
  readonly createdAtMs: number;
  readonly outcome: MatchOutcome;
  /** The guard that refused, or `rejected`; null for other outcomes. */
  readonly guard: string | null;
  readonly similarity: number;
  readonly threshold: number;
  readonly cacheKey: string;
  readonly matchedKey: string;
  readonly questionHash: string;
  readonly matchedHash: string;
  readonly prompt: string | null;
  readonly matchedPrompt: string | null;
}

export interface SemanticHitCount {
  readonly projectId: string;
  readonly cacheKey: string;
}

/** Storage of entries. All calls throw without the store. */
export interface SemanticStore {
  /** False if it can't store vectors at all. */
  isAvailable(): Promise<boolean>;
  /** Nearest first. */
  findNearest(search: SemanticSearch): Promise<readonly SemanticCandidate[]>;
  /** The entry's answer; null when it went meanwhile. */
  readValue(projectId: string, cacheKey: string): Promise<string | null>;
  /** Replaces entries by key. Throws `RecordsRejectedError` for permanently invalid entries. */
  write(entries: readonly SemanticEntry[]): Promise<void>;
  countHits(hits: readonly SemanticHitCount[], nowMs: number): Promise<void>;
  writeMatches(matches: readonly SemanticMatch[]): Promise<void>;
}
