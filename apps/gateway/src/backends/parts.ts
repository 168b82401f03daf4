import type { Backend } from '@llm0/core/backends/backend';
import type { CacheAsk, HttpCache } from '@llm0/core/http-cache/http-cache';
import type { HttpFlights } from '@llm0/core/http-cache/http-flights';

/** A backend together with how to reach it. */
export interface ConnectedBackend extends Backend {
  /** Bodies come as they are sent, compressed ones too; guarded and pinned for addresses that an operator gave at run time. */
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
  /** As the table is right now; those that are off as well. */
  find(name: string): ConnectedBackend | undefined;
  list(): readonly ConnectedBackend[];
  /** Probes each active backend; caches the results by name for some seconds. */
  probeAll(): Promise<ReadonlyMap<string, BackendProbe>>;
  readonly cache: HttpCache;
  /** An unsafe request may have changed what is asked for: every process forgets what it keeps of it. */
  forget(ask: CacheAsk): void;
  readonly flights: HttpFlights;
}
