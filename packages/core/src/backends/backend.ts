/** Cache settings of a backend. */
export interface BackendCache {
  readonly enabled: boolean;
  /** Default lifetime; null = CACHE_TTL. */
  readonly ttlSeconds: number | null;
}

/** A plain HTTP service with decrypted secrets. */
export interface Backend {
  /** `a-z0-9_-`, at most 32 characters: the path after `/infer/`. */
  readonly name: string;
  /** http(s), without credentials, query or trailing slash; a path is allowed. */
  readonly url: string;
  /** Added to every request; lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers of the caller to forward in addition to the usual ones, in lower case. */
  readonly forwardHeaders: readonly string[];
  readonly pricePerRequestNanoUsd: number;
  /** Until an answer's headers are there; of a short one that declares its length, all of it. */
  readonly timeoutMs: number;
  /** Further attempts of requests that may be repeated. */
  readonly retries: number;
  readonly cache: BackendCache;
  readonly isActive: boolean;
  /** Its headers were sealed with another ENCRYPTION_KEY. */
  readonly isUnreadable: boolean;
  /** Changes with every update; cache keys contain it. */
  readonly revision: string;
}

/** Name of a backend in logs, metrics and breakers. */
export const backendProvider = (name: string): string => `infer:${name}`;

export const BACKEND_NAME = /^[a-z0-9](?:[a-z0-9_-]{0,30}[a-z0-9])?$/;
/** `/healthz` lists these names as well. */
export const RESERVED_BACKEND_NAMES: ReadonlySet<string> = new Set(['hot_store', 'postgres']);

export const BACKEND_DEFAULTS = { timeoutMs: 30_000, retries: 1 } as const;
