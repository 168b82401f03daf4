// If the disk refuses a turn, its admissions throw `store_unavailable` without effect. Settlements count in memory and
// their lines follow later. After a lost journal or a crash, the store rebuilds from the rows.
import type { BudgetPeriod } from '../../keys/api-key';
import type { QueueDepth, QueuedRecord } from '../../logs/log-queue';
import { BudgetCounts } from '../budget-counts';
import { CACHE_LOST_MS } from '../hold';
import type {
  AdmitDecision,
  AdmitRequest,
  CachePurge,
  CacheWrite,
  CustomerLimits,
  HotStore,
  HotStoreHealth,
  PrincipalVersions,
  ProjectCounter,
  RebuildSource,
  ReserveChange,
  Settlement,
  StalePart,
} from '../hot-store';
import { dayIndex, monthIndex, monthName } from '../periods';
import { storeUnavailable } from '../store-unavailable';
import { decideAdmit } from './admit';
import { beforeAdmit, undoAdmit } from './apply';
import { EmbeddedBook } from './book';
import { readBootId } from './boot-id';
import { EmbeddedCache } from './cache';
import { isPrincipalKnown, ONE_READER } from './known-versions';
import type { JournalTarget } from './lines';
import { EmbeddedLogQueue } from './log-queue';
import { changeReserve, reapHolds } from './reaper';
import { openCounts, rebuildState } from './rebuild';
import { EmbeddedState, readSum } from './state';
import { type Decided, EmbeddedTurn } from './turn';
import { UnknownSettlements } from './unknown-settlements';

export interface EmbeddedHotStoreOptions {
  /** Folder of the journals. One process at a time (the gateway locks its data folder). */
  readonly dataDir: string;
  readonly cacheMaxBytes?: number;
  /** Log entries the queue may hold before admissions are refused. */
  readonly queueMaxEntries?: number;
  /** Journal size that starts a compaction. */
  readonly compactBytes?: number;
  /** Epoch milliseconds. */
  readonly clock?: () => number;
  /** Identifies the machine's boot: after a crash, the journal's end may be missing. */
  readonly bootId?: string;
  /** Lease of a hold; another one is for tests only. */
  readonly leaseMs?: number;
}

/** The hot store in this process: the same decisions as on Redis, from memory, with one journal write per turn. */
export class EmbeddedHotStore implements HotStore {
  readonly kind = 'embedded';
  readonly holdsLevels = true;
  readonly tables = ONE_READER;
  private readonly state: EmbeddedState;
  private readonly queue = new EmbeddedLogQueue();
  private readonly target: JournalTarget;
  private readonly cache: EmbeddedCache;
  private readonly book: EmbeddedBook;
  private readonly turn: EmbeddedTurn;
  private readonly unknown: UnknownSettlements;
  private readonly counts: BudgetCounts;
  private readonly nowMs: () => number;
  private readonly listeners = new Set<(topic: string) => void>();
  private readonly queueMaxEntries: number;
  private source: RebuildSource | undefined;

  constructor(private readonly options: EmbeddedHotStoreOptions) {
    this.nowMs = options.clock ?? Date.now;
    this.state = new EmbeddedState(options.leaseMs);
    this.target = { state: this.state, queue: this.queue };
    this.queueMaxEntries = options.queueMaxEntries ?? 100_000;
    this.cache = new EmbeddedCache({ dir: options.dataDir, maxBytes: options.cacheMaxBytes ?? 32 * 1024 * 1024 });
    const book = new EmbeddedBook(this.target, { ...options, nowMs: this.nowMs });
    this.book = book;
    this.turn = new EmbeddedTurn({
      decide: (request) => this.decide(request),
      write: () => book.write(),
      has: (line) => book.has(line),
      takeBack: (line) => book.takeBack(line),
      onEnd: () => {
        this.cache.write();
        book.compactIfLarge();
      },
    });
    this.unknown = new UnknownSettlements({ ...this.target, book, turn: this.turn, nowMs: this.nowMs });
    this.counts = new BudgetCounts(openCounts({ ...this.target, book, nowMs: this.nowMs }));
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
      this.cache.write();
      this.book.compact();
    }
    this.source = source;
    this.counts.source = source;
    this.unknown.decide(source);
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
    for (;;) {
      if (this.source === undefined) throw storeUnavailable('the store is not started');
      const decision = await this.turn.ask(request);
      if (decision.type !== 'uncounted') return decision;
      await this.counts.count(request);
    }
  }

  settle(settlement: Settlement): Promise<void> | undefined {
    const { cache, ...rest } = settlement;
    if (this.isRepeated(settlement)) return;
    const atMs = this.nowMs();
    if (this.unknown.isOne(rest)) {
      this.book.recordLater({ t: 'unknown', settlement: rest });
      this.unknown.decide(this.source);
    } else this.book.recordLater({ t: 'settle', atMs, force: false, id: this.queue.nextId, settlement: rest });
    if (cache !== undefined) this.cache.put(settlement.projectId, cache, atMs);
    return this.turn.open();
  }

  async renew(holds: readonly { readonly projectId: string; readonly requestId: string }[]): Promise<void> {
    // Not journalled: their holder is this process, and a restart ends it.
    const leaseUntilMs = this.nowMs() + this.state.leaseMs;
    for (const { requestId } of holds) Object.assign(this.state.holds.get(requestId) ?? {}, { leaseUntilMs });
  }

  async reserve(change: ReserveChange): Promise<number | undefined> {
    return changeReserve(this.state, this.book, change);
  }

  async reap(): Promise<number> {
    if (this.source === undefined) throw storeUnavailable('the store is not started');
    return reapHolds({ ...this.target, book: this.book, nowMs: this.nowMs }, this.source);
  }

  async flush(timeoutMs: number): Promise<void> {
    this.turn.end();
    this.book.write();
    if (this.unknown.deciding !== undefined) await Promise.race([this.unknown.deciding, Bun.sleep(timeoutMs)]);
  }

  async setVersions(...[projectId, project, keys]: Parameters<HotStore['setVersions']>): Promise<void> {
    this.book.record({
      t: 'versions',
      projectId,
      project,
      keys: keys.map(({ keyId, version }) => [keyId, version]),
    });
  }

  async findStale(known: PrincipalVersions): Promise<readonly StalePart[]> {
    return isPrincipalKnown(this.state, known) ? [] : ['principal'];
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

  async openHolds(of?: 'money'): Promise<number> {
    return this.state.holds.values().reduce((sum, one) => sum + (of === undefined || one.holdNanoUsd > 0 ? 1 : 0), 0);
  }

  async keySpend(_projectId: string, keyId: string, period: BudgetPeriod): Promise<number> {
    const key = this.state.keys.get(keyId);
    if (key === undefined) return 0;
    return period === 'total' ? key.total.spent : readSum(key.months, monthIndex(this.nowMs())).spent;
  }

  async forgetBudget(projectId: string, id: string): Promise<void> {
    // Not journalled, since earlier releases know no such line: the next compaction leaves it out.
    this.state.projects.get(projectId)?.budgets.delete(id);
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
    this.cache.write();
  }

  async cacheRead(_projectId: string, keys: readonly string[]): Promise<readonly (string | undefined)[]> {
    return keys.map((key) => this.cache.find(key, this.nowMs())?.value);
  }

  async cachePurge(filter: CachePurge): Promise<number> {
    const purged = this.cache.purge(filter, this.nowMs());
    this.cache.write();
    return purged;
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
    this.unknown.stop();
    this.book.close();
    this.cache.close();
  }

  private decide(request: AdmitRequest): Decided {
    const { state, book } = this;
    const nowMs = this.nowMs();
    const { decision, effect, raiseVersions } = decideAdmit(state, request, nowMs, {
      find: (cacheKey, atMs) => this.cache.find(cacheKey, atMs),
      isIncomplete: (...asked) => this.cache.isIncomplete(...asked),
      queueFull: this.queue.size >= this.queueMaxEntries,
    });
    if (raiseVersions) {
      const { projectId, keyId, keyVersion, projectVersion } = request;
      book.recordLater({ t: 'versions', projectId, project: projectVersion, keys: [[keyId, keyVersion]] });
    }
    if (effect === undefined) return { decision };
    const before = beforeAdmit(state, effect);
    return {
      decision,
      line: book.recordLater({ t: 'admit', effect }),
      undo: () => undoAdmit(state, effect, before),
    };
  }

  private isRepeated({ requestId }: Settlement): boolean {
    const { holds, done, unknown } = this.state;
    return !holds.has(requestId) && (done.has(requestId) || unknown.has(requestId));
  }
}
