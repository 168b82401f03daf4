import { HttpCache } from '@llm0/core/http-cache/http-cache';
import { HttpFlights } from '@llm0/core/http-cache/http-flights';
import type { HotStore } from '@llm0/core/limits/hot-store';
import type { Config } from '../config/config';
import type { BackendTable } from './backend-table';
import { createForgetting } from './change-news';
import type { BackendParts } from './parts';
import { ProbedBackends } from './probe-backends';
import { onPurge } from './purge-news';

export interface BackendOptions {
  readonly table: Pick<BackendTable, 'current'>;
  readonly config: Pick<Config, 'httpCache' | 'cacheMaxBodyBytes'>;
  readonly hotStore: Pick<HotStore, 'cacheWrite' | 'notify' | 'onNotify'>;
  readonly monotonicMs: () => number;
}

/** Memory of one process, in addition to the hot store. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Everything behind `/infer`. */
export function createBackends({ table, config, hotStore, monotonicMs }: BackendOptions): BackendParts {
  const { enabled, kind, maxEntries } = config.httpCache;
  const list = () => [...table.current().values()];
  const probes = new ProbedBackends({ list, monotonicMs });
  const cache = new HttpCache({
    ...{ enabled, maxEntries, isShared: kind === 'redis', nowMs: Date.now },
    maxBytes: MAX_BYTES,
    maxEntryBytes: Math.min(config.cacheMaxBodyBytes, MAX_BYTES),
  });
  onPurge(hotStore, (filter) => cache.purge(filter));
  return {
    list,
    find: (name) => table.current().get(name),
    probeAll: () => probes.probeAll(),
    cache,
    forget: createForgetting(cache, hotStore),
    flights: new HttpFlights(),
  };
}
