// Postgres away or slow: a look-up is a miss after 100 ms, and writes wait within bounds; no request ever fails for it.
import { inTime } from '../async/in-time';
import { BatchWriter } from '../logs/batch-writer';
import { type CachedAnswer, type CacheRoom, decodeCachedAnswer } from './cached-answer';

/** One answer in the warm tier. */
export interface WarmEntry {
  readonly projectId: string;
  readonly cacheKey: string;
  /** Text of a `CachedAnswer`. */
  readonly value: string;
  readonly provider: string;
  readonly model: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

export type WarmHitEntry = Pick<WarmEntry, 'value' | 'provider' | 'model' | 'expiresAtMs'>;

export interface WarmHitCount {
  readonly projectId: string;
  readonly cacheKey: string;
  readonly hits: number;
}

/** Storage of warm entries. */
export interface WarmStore {
  /** Replaces older entries; keys may repeat. Throws `RecordsRejectedError` for permanently invalid entries. */
  write(entries: readonly WarmEntry[]): Promise<void>;
  find(projectId: string, cacheKey: string, nowMs: number): Promise<WarmHitEntry | null>;
  countHits(hits: readonly WarmHitCount[], nowMs: number): Promise<void>;
}

export type WarmOutcome = 'hit' | 'miss' | 'late' | 'error' | 'busy';

export interface WarmHit extends WarmHitEntry {
  readonly stored: CachedAnswer;
  /** Milliseconds the entry is still good for; > 0. */
  readonly remainingMs: number;
}

export interface StoredWarmCacheOptions {
  readonly store: WarmStore;
  /** The hot store's clock: entries expire in both tiers at once. */
  readonly nowMs: () => number;
  readonly onLookUp: (outcome: WarmOutcome, ms: number) => void;
  readonly onDrop: (entries: number) => void;
  readonly deadlineMs?: number;
  /** Look-ups under way at once; the next one is a miss. */
  readonly maxLookUps?: number;
  /** Delay of writes in milliseconds. */
  readonly everyMs?: number;
}

const DEADLINE_MS = 100;
const MAX_LOOK_UPS = 64;
const ENTRY_BYTES = 512;

/** The second tier of the exact cache. */
export type WarmCache = Pick<StoredWarmCache, 'find' | 'write' | 'flush' | 'stop'>;

/** The warm tier over a `WarmStore`. */
export class StoredWarmCache {
  private readonly entries: BatchWriter<WarmEntry>;
  private readonly hits: BatchWriter<WarmHitCount>;
  private lookUps = 0;

  constructor(private readonly options: StoredWarmCacheOptions) {
    const { store, onDrop, everyMs } = options;
    this.entries = new BatchWriter({
      write: (entries) => store.write(entries),
      bytesOf: (entry) => entry.value.length + ENTRY_BYTES,
      onDrop,
      everyMs,
    });
    this.hits = new BatchWriter({
      write: (hits) => store.countHits(sumHits(hits), options.nowMs()),
      bytesOf: () => ENTRY_BYTES,
      // Statistics only.
      onDrop: () => {},
      everyMs,
    });
  }

  /** An unexpired answer, or undefined after 100 ms at the latest. Throws only where memory is short for long. */
  async find(projectId: string, cacheKey: string, room?: CacheRoom): Promise<WarmHit | undefined> {
    const startMs = performance.now();
    const done = (outcome: WarmOutcome) => this.options.onLookUp(outcome, performance.now() - startMs);
    if (this.lookUps >= (this.options.maxLookUps ?? MAX_LOOK_UPS)) return void done('busy');
    const found = await this.lookUp(projectId, cacheKey);
    if (found === 'late' || found === 'error') return void done(found);
    const hit = found === null ? undefined : await this.asHit(found, room);
    done(hit === undefined ? 'miss' : 'hit');
    if (hit !== undefined) this.hits.add({ projectId, cacheKey, hits: 1 });
    return hit;
  }

  /** Writes the entry some time soon. */
  write(entry: Omit<WarmEntry, 'createdAtMs' | 'expiresAtMs'> & { readonly ttlMs: number }): void {
    const { projectId, cacheKey, value, provider, model, promptTokens, completionTokens, ttlMs } = entry;
    const createdAtMs = this.options.nowMs();
    this.entries.add({
      projectId,
      cacheKey,
      value,
      provider,
      model,
      promptTokens,
      completionTokens,
      createdAtMs,
      expiresAtMs: createdAtMs + ttlMs,
    });
  }

  /** Waits for pending writes, at most `timeoutMs`. */
  async flush(timeoutMs: number): Promise<void> {
    await Promise.all([this.entries.flush(timeoutMs), this.hits.flush(timeoutMs)]);
  }

  stop(): void {
    this.entries.stop();
    this.hits.stop();
  }

  private async asHit(entry: WarmHitEntry, room?: CacheRoom): Promise<WarmHit | undefined> {
    const remainingMs = Math.floor(entry.expiresAtMs - this.options.nowMs());
    const stored = await decodeCachedAnswer(entry.value, room);
    return stored === undefined || remainingMs <= 0 ? undefined : { ...entry, stored, remainingMs };
  }

  /** A late look-up continues and counts as running until it ends. */
  private lookUp(projectId: string, cacheKey: string): Promise<WarmHitEntry | null | 'late' | 'error'> {
    this.lookUps += 1;
    const search = this.options.store
      .find(projectId, cacheKey, this.options.nowMs())
      .catch((): 'error' => 'error')
      .finally(() => {
        this.lookUps -= 1;
      });
    return inTime(search, this.options.deadlineMs ?? DEADLINE_MS, () => 'late');
  }
}

function sumHits(hits: readonly WarmHitCount[]): readonly WarmHitCount[] {
  const sums = new Map<string, WarmHitCount>();
  for (const hit of hits) {
    const key = `${hit.projectId} ${hit.cacheKey}`;
    sums.set(key, { ...hit, hits: hit.hits + (sums.get(key)?.hits ?? 0) });
  }
  return [...sums.values()];
}
