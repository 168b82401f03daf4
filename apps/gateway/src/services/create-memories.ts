import { LRUCache } from 'lru-cache';
import type { DowngradeModels, StoreClock } from './contract';

const CUSTOMERS_REMEMBERED = 50_000;
const NONE = '';

export function createDowngradeModels(): DowngradeModels {
  const models = new LRUCache<string, string>({ max: CUSTOMERS_REMEMBERED });
  const key = (projectId: string, customerId: string) => `${projectId} ${customerId}`;
  return {
    get: (projectId, customerId) => models.get(key(projectId, customerId)) || null,
    set: (projectId, customerId, model) => void models.set(key(projectId, customerId), model ?? NONE),
  };
}

/** Guesses the store's clock by how far it was from this process's at the last decision. */
export function createStoreClock(nowMs: () => number): StoreClock {
  let offsetMs = 0;
  return {
    observe: (storeNowMs) => {
      offsetMs = storeNowMs - nowMs();
    },
    nowMs: () => nowMs() + offsetMs,
  };
}
