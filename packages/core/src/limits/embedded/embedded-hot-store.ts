// The disk refuses a journal line: `admit` throws `store_unavailable`; `settle` counts in memory and its line is written
// before the next one. A store whose journal is gone or damaged, or whose machine crashed, rebuilds from the rows.
import type { BudgetPeriod } from '../../keys/api-key';
import type { QueueDepth, QueuedRecord } from '../../logs/log-queue';
import { CACHE_LOST_MS } from '../hold';
import type {
  AdmitDecision,
  AdmitRequest,
  CachePurge,
  CacheWrite,
  CustomerLimits,
  HotStore,
  HotStoreHealth,
  ProjectCounter,
  RebuildSource,
  Settlement,
} from '../hot-store';
import { dayIndex, monthIndex, monthName } from '../periods';
import { storeUnavailable } from '../store-unavailable';
import { decideAdmit } from './admit';
import { EmbeddedBook } from './book';
import { readBootId } from './boot-id';
import { EmbeddedCache } from './cache';
import type { JournalTarget } from './lines';
import { EmbeddedLogQueue } from './log-queue';
import { rebuildState } from './rebuild';
import { EmbeddedState, readSum } from './state';

const REAP_BATCH = 100;

export interface EmbeddedHotStoreOptions {
  /** Where the journals are. One process at a time (the gateway locks its data folder). */
  readonly dataDir: string;
  readonly cacheMaxBytes?: number;
  /** Log entries the queue may hold before admissions are refused. */
  readonly queueMaxEntries?: number;
  /** Journal size that starts a compaction. */
  readonly compactBytes?: number;
  /** Epoch milliseconds. */
  readonly clock?: () => number;
  /** Tells one boot of the machine from another: after a crash the journal's end may be missing. */
  readonly bootId?: string;
  /** Lease of a hold; another one is for tests only. */
  readonly leaseMs?: number;
}

/** The hot store in this process: the same decisions as on Redis, from memory, every change in a journal first. */
export class EmbeddedHotStore implements HotStore {
  readonly kind = 'embedded';
  private readonly state: EmbeddedState;
  private readonly queue = new EmbeddedLogQueue();
  private readonly target: JournalTarget;
  private readonly cache: EmbeddedCache;
  private readonly book: EmbeddedBook;
  private readonly nowMs: () => number;
  private readonly listeners = new Set<(topic: string) => void>();
  private readonly queueMaxEntries: number;
  private source: RebuildSource | undefined;
  private deciding: Promise<void> | undefined;

  constructor(private readonly options: EmbeddedHotStoreOptions) {
    this.nowMs = options.clock ?? Date.now;
    this.state = new EmbeddedState(options.leaseMs);
    this.target = { state: this.state, queue: this.queue };
    this.queueMaxEntries = options.queueMaxEntries ?? 100_000;
    this.cache = new EmbeddedCache({ dir: options.dataDir, maxBytes: options.cacheMaxBytes ?? 32 * 1024 * 1024 });
    this.book = new EmbeddedBook(this.target, { ...options, nowMs: this.nowMs });
  }

  async start(source: RebuildSource): Promise<void> {
    const bootId = this.options.bootId ?? readBootId();
    const { lines, skipped } = this.book.open();
    this.cache.open(this.nowMs());
    const isWhole = lines > 0 && skipped === 0 && this.state.bootId === bootId;
    this.state.bootId = bootId;
    if (!isWhole) {
      const { warmCacheUntilMs } = await rebuildState(this.target, source, this.nowMs());
      this.cache.markLost('', warmCacheUntilMs ?? this.nowMs() + CACHE_LOST_MS);
      this.book.compact();
    }
    this.source = source;
    this.decideUnknown();
  }

  async recount(): Promise<void> {
    const { source } = this;
    if (source === undefined) throw storeUnavailable('the store is not started');
    this.source = undefined;
    try {
      await rebuildState(this.target, source, this.nowMs());
      this.book.compact();
    } finally {
      this.source = source;
    }
  }

  async admit(request: AdmitRequest): Promise<AdmitDecision> {
    if (this.source === undefined) throw storeUnavailable('the store is not started');
    const nowMs = this.nowMs();
    const { decision, effect, raiseVersions } = decideAdmit(this.state, request, nowMs, {
      find: (cacheKey, atMs) => this.cache.find(cacheKey, atMs),
      isIncomplete: (projectId, atMs) => this.cache.isIncomplete(projectId, atMs),
      queueFull: this.queue.size >= this.queueMaxEntries,
    });
    if (raiseVersions) {
      const { projectId, keyId, keyVersion, projectVersion } = request;
      this.book.record({ t: 'versions', projectId, project: projectVersion, keys: [[keyId, keyVersion]] });
    }
    if (effect !== undefined) this.book.record({ t: 'admit', effect });
    return decision;
  }

  settle(settlement: Settlement): undefined {
    const { cache, ...rest } = settlement;
    if (this.isRepeated(settlement)) return;
    const atMs = this.nowMs();
    if (this.isUnknown(rest)) {
      this.book.recordAnyway({ t: 'unknown', settlement: rest });
      this.decideUnknown();
    } else this.book.recordAnyway({ t: 'settle', atMs, force: false, id: this.queue.nextId, settlement: rest });
    if (cache !== undefined) this.cache.put(settlement.projectId, cache, atMs);
    this.book.compactIfLarge();
  }

  async renew(holds: readonly { readonly projectId: string; readonly requestId: string }[]): Promise<void> {
    // Not journalled: whoever held them is this process, and after a restart nobody does.
    for (const { requestId } of holds) {
      const hold = this.state.holds.get(requestId);
      if (hold !== undefined) hold.leaseUntilMs = this.nowMs() + this.state.leaseMs;
    }
  }

  async reap(): Promise<number> {
    if (this.source === undefined) throw storeUnavailable('the store is not started');
    let reaped = 0;
    for (;;) {
      const atMs = this.nowMs();
      const expired = [...this.state.holds].filter(([, hold]) => hold.leaseUntilMs <= atMs).slice(0, REAP_BATCH);
      if (expired.length === 0) return reaped;
      const stored = await this.source.findStored(
        expired.map(([id, hold]) => ({ id, createdAtMs: hold.admittedAtMs })),
      );
      for (const [requestId, hold] of expired) {
        if (hold.leaseUntilMs > this.nowMs() || !this.state.holds.has(requestId)) continue;
        if (stored.has(requestId)) this.book.record({ t: 'release', requestId });
        else {
          this.book.record({ t: 'reap', atMs: this.nowMs(), id: this.queue.nextId, requestId });
          reaped++;
        }
      }
    }
  }

  async flush(timeoutMs: number): Promise<void> {
    this.book.writeUnwritten();
    if (this.deciding !== undefined) await Promise.race([this.deciding, Bun.sleep(timeoutMs)]);
  }

  async setVersions(
    projectId: string,
    projectVersion: number | null,
    keys: readonly { keyId: string; version: number }[],
  ): Promise<void> {
    this.book.record({
      t: 'versions',
      projectId,
      project: projectVersion,
      keys: keys.map(({ keyId, version }) => [keyId, version]),
    });
  }

  async setCustomerLimits(projectId: string, customerId: string, limits: CustomerLimits | null): Promise<void> {
    this.book.record({ t: 'limits', projectId, customerId, limits });
  }

  async counters(): Promise<readonly ProjectCounter[]> {
    return [...this.state.projects].flatMap(([projectId, { months }]) =>
      [...months].map(([month, { spent, held }]) => ({
        projectId,
        month: monthName(month),
        spentNanoUsd: spent,
        heldNanoUsd: held,
      })),
    );
  }

  async openHolds(): Promise<number> {
    return this.state.holds.size;
  }

  async keySpend(_projectId: string, keyId: string, period: BudgetPeriod): Promise<number> {
    const key = this.state.keys.get(keyId);
    if (key === undefined) return 0;
    return period === 'total' ? key.total.spent : readSum(key.months, monthIndex(this.nowMs())).spent;
  }

  async customerSpend(projectId: string, customerId: string): Promise<{ dayNanoUsd: number; monthNanoUsd: number }> {
    const customer = this.state.peekCustomer(projectId, customerId);
    return {
      dayNanoUsd: readSum(customer.days, dayIndex(this.nowMs())).spent,
      monthNanoUsd: readSum(customer.months, monthIndex(this.nowMs())).spent,
    };
  }

  cacheWrite(projectId: string, entry: CacheWrite): void {
    this.cache.put(projectId, entry, this.nowMs());
  }

  async cacheRead(_projectId: string, keys: readonly string[]): Promise<readonly (string | undefined)[]> {
    return keys.map((key) => this.cache.find(key, this.nowMs())?.value);
  }

  async cachePurge(filter: CachePurge): Promise<number> {
    return this.cache.purge(filter, this.nowMs());
  }

  async cacheStats(): Promise<{ readonly entries: number; readonly bytes: number }> {
    return this.cache.stats(this.nowMs());
  }

  read(max: number, waitMs: number): Promise<readonly QueuedRecord[]> {
    return this.queue.read(max, waitMs, this.nowMs);
  }

  async acknowledge(entryIds: readonly string[]): Promise<void> {
    this.book.record({ t: 'ack', ids: entryIds.map(Number) });
    this.book.compactIfLarge();
  }

  handBack(): void {
    // Counters are rebuilt at the start only, before anything is read.
  }

  async depth(): Promise<QueueDepth> {
    return { entries: this.queue.size, oldestAgeMs: this.queue.oldestAgeMs(this.nowMs()) };
  }

  async notify(topic: string): Promise<void> {
    for (const listener of this.listeners) listener(topic);
  }

  onNotify(listener: (topic: string) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  async health(): Promise<HotStoreHealth> {
    if (this.source === undefined) return { ok: false, detail: 'not started' };
    if (this.book.isBehind) return { ok: false, detail: 'the journal can not be written' };
    return { ok: true, latencyMs: 0 };
  }

  async close(): Promise<void> {
    await this.flush(1_000);
    this.source = undefined;
    this.book.close();
    this.cache.close();
  }

  private isRepeated({ requestId }: Settlement): boolean {
    const { holds, done, unknown } = this.state;
    return !holds.has(requestId) && (done.has(requestId) || unknown.has(requestId));
  }

  /** A held settlement of which the store knows nothing: only the rows can tell whether it was booked. */
  private isUnknown({ held, requestId }: Settlement): boolean {
    const { holds, done, reaped } = this.state;
    return held && !holds.has(requestId) && !done.has(requestId) && !reaped.has(requestId);
  }

  private decideUnknown(): void {
    if (this.state.unknown.size === 0 || this.deciding !== undefined || this.source === undefined) return;
    this.deciding = this.lookUpUnknown(this.source).finally(() => {
      this.deciding = undefined;
    });
  }

  private async lookUpUnknown(source: RebuildSource): Promise<void> {
    while (this.state.unknown.size > 0 && this.source !== undefined) {
      const some = [...this.state.unknown.values()].slice(0, REAP_BATCH);
      const queued = new Set([...this.queue.all()].map(({ record }) => (JSON.parse(record) as { id?: string }).id));
      try {
        const stored = await source.findStored(
          some.map(({ requestId, admittedAtMs }) => ({ id: requestId, createdAtMs: admittedAtMs })),
        );
        for (const settlement of some) {
          const { requestId } = settlement;
          if (stored.has(requestId) || queued.has(requestId)) this.book.recordAnyway({ t: 'known', requestId });
          else
            this.book.recordAnyway({ t: 'settle', atMs: this.nowMs(), force: true, id: this.queue.nextId, settlement });
        }
      } catch {
        await Bun.sleep(1_000);
      }
    }
  }
}
