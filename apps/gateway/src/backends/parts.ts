import type { Backend } from '@llm0/core/backends/backend';
import type { CacheAsk, HttpCache } from '@llm0/core/http-cache/http-cache';
import type { HttpFlights } from '@llm0/core/http-cache/http-flights';

/** A backend together with how to reach it. */
export interface ConnectedBackend extends Backend {
  /** Returns bodies undecoded; applies the egress guard to operators' URLs. */
  readonly fetch: typeof globalThis.fetch;
}

/** A backend's answer to a probe. */
export interface BackendProbe {
  readonly ok: boolean;
  readonly latencyMs?: number;
  readonly detail?: string;
}

/** Services of `/infer` only. */
export interface BackendParts {
  /** Finds a backend, inactive ones included. */
  find(name: string): ConnectedBackend | undefined;
  list(): readonly ConnectedBackend[];
  /** Probes each active backend; caches the results by name for some seconds. */
  probeAll(): Promise<ReadonlyMap<string, BackendProbe>>;
  readonly cache: HttpCache;
  /** Every process drops its cached answers after an unsafe request. */
  forget(ask: CacheAsk): void;
  readonly flights: HttpFlights;
}
