/** Cache settings of a backend. */
export interface BackendCache {
  readonly enabled: boolean;
  /** For answers that say nothing of it themselves; null = as CACHE_TTL says. */
  readonly ttlSeconds: number | null;
}

/** A plain HTTP service behind the gateway, its secrets opened. */
export interface Backend {
  /** `a-z0-9_-`, at most 32 characters: what stands behind `/infer/`. */
  readonly name: string;
  /** http(s), without credentials, query and trailing slash; it may have a path. */
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
  /** Another one whenever something of it changed: what is cached goes by it. */
  readonly revision: string;
}

/** Name of a backend in logs, metrics and breakers. */
export const backendProvider = (name: string): string => `infer:${name}`;

export const BACKEND_NAME = /^[a-z0-9](?:[a-z0-9_-]{0,30}[a-z0-9])?$/;
/** `/healthz` lists these beside backends. */
export const RESERVED_BACKEND_NAMES: ReadonlySet<string> = new Set(['hot_store', 'postgres']);

export const BACKEND_DEFAULTS = { timeoutMs: 30_000, retries: 1 } as const;
