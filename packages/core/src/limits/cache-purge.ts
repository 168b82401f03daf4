import type { CachePurge } from './hot-store';

export interface PurgeableEntry {
  readonly key: string;
  readonly projectId: string;
  readonly provider: string;
  readonly model: string;
  readonly storedAtMs: number;
}

/** True if the entry matches every condition. */
export function fitsPurge(entry: PurgeableEntry, filter: CachePurge, nowMs: number): boolean {
  return (
    (filter.projectId === undefined || filter.projectId === entry.projectId) &&
    (filter.provider === undefined || filter.provider === entry.provider) &&
    (filter.model === undefined || filter.model === entry.model) &&
    (filter.cacheKey === undefined || filter.cacheKey === entry.key) &&
    (filter.olderThanMs === undefined || entry.storedAtMs <= nowMs - filter.olderThanMs)
  );
}
