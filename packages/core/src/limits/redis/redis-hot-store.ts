// Without Redis or its data, `admit` fails within 100 ms and is never repeated. Settlements wait in memory and a file.
// Recovery runs in the background until decisions are possible again.
import type { BudgetPeriod } from '../../keys/api-key';
import type { QueueDepth, QueuedRecord } from '../../logs/log-queue';
import { BudgetCounts } from '../budget-counts';
import { LEASE_MS } from '../hold';
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
import { HoldJournal } from '../outbox/hold-journal';
import { Outbox } from '../outbox/outbox';
import { settlementOfRecord } from '../outbox/settlement';
import { SettlementFile } from '../outbox/settlement-file';
import { storeUnavailable } from '../store-unavailable';
import { ADMIT_DEADLINE_MS, RedisAdmissions } from './admit';
import { countCache, purgeCache, readCache, writeCache } from './cache';
import { RedisCommits } from './commits';
import { connectRedis, type RedisHotStoreOptions, waitForReady } from './connection';
import { shardOf } from './keys';
import { RedisLink } from './link';
import { findQueued, RedisLogQueue } from './log-queue';
import { changeReserve, reapHolds, renewLeases } from './reaper';
import { openCounts } from './rebuild';
import { RedisRecovery } from './recovery';
import type { RedisClient } from './scripts';
import { RedisSpend } from './spend';
import { RedisVersions } from './versions';
import { backedUpOf, WriteBatch } from './write-batch';

/** The hot store on Redis or Valkey ≥ 7: every decision is one Lua script on one shard. */
export class RedisHotStore implements HotStore {
  readonly kind = 'redis';
  get holdsLevels(): boolean {
    return this.link.shards.length === 1;
  }
  private readonly namespace: string;
  private readonly client: RedisClient;
  private readonly reader: RedisClient;
  private readonly subscriber: RedisClient;
  private readonly link: RedisLink;
  private readonly admissions: RedisAdmissions;
  private readonly counts: BudgetCounts;
  private readonly outbox: Outbox;
  private readonly batch: WriteBatch;
  readonly tables: RedisVersions;
  private readonly spend: RedisSpend;
  private readonly file: SettlementFile;
  private readonly holds: HoldJournal;
  private readonly listeners = new Set<(topic: string) => void>();
  private readonly newId: () => string;
  private recovery: RedisRecovery | undefined;
  private queue: RedisLogQueue | undefined;
  private source: RebuildSource | undefined;

  constructor(private readonly options: RedisHotStoreOptions) {
    this.namespace = options.namespace ?? 'llm0';
    this.newId = options.newId ?? (() => crypto.randomUUID());
    this.client = connectRedis(options, 'llm0');
    this.reader = connectRedis(options, 'llm0-reader');
    this.subscriber = connectRedis(options, 'llm0-notify');
    this.link = new RedisLink(this.client, {
      namespace: this.namespace,
      cluster: options.cluster === true,
      clock: options.clock,
    });
    this.batch = new WriteBatch(this.client);
    this.holds = new HoldJournal(options.dataDir, this.newId().slice(0, 8));
    this.counts = new BudgetCounts(openCounts(this.link, this.newId));
    const onTrouble = () => this.recovery?.trigger();
    const deadlineMs = options.admitDeadlineMs ?? ADMIT_DEADLINE_MS;
    this.admissions = new RedisAdmissions(this.link, {
      deadlineMs,
      queueMaxEntries: options.queueMaxEntries ?? 1_000_000,
      onTrouble,
      batch: this.batch,
      count: (request) => this.counts.count(request),
      onOpened: (holds) => this.holds.begin(holds),
    });
    this.tables = new RedisVersions(this.link, deadlineMs);
    this.spend = new RedisSpend(this.link);
    this.file = new SettlementFile(options.dataDir, this.newId().slice(0, 8));
    this.outbox = new Outbox({
      batch: this.batch,
      isBackedUp: backedUpOf(this.client),
      shardOf: (projectId) => shardOf(projectId, this.link.shards.length),
      queuedIds: (shards, requestIds) =>
        findQueued(
          this.client,
          this.link.shards.filter(({ shard }) => shards.has(shard)),
          requestIds,
        ),
      onTrouble,
      file: this.file,
      nowMs: Date.now,
    });
    const ends = { batch: this.batch, cacheMaxBytes: this.cacheMaxBytes, newId: this.newId };
    this.outbox.sendBy(new RedisCommits(this.link, { ...ends, admissions: this.admissions, owner: this.outbox }));
  }

  async start(source: RebuildSource): Promise<void> {
    const timeoutMs = this.options.startTimeoutMs ?? 10_000;
    this.source = source;
    this.counts.source = source;
    await Promise.all([this.client, this.reader, this.subscriber].map((client) => waitForReady(client, timeoutMs)));
    await this.link.learnShards();
    this.queue = new RedisLogQueue({ client: this.client, reader: this.reader, shards: this.link.shards });
    this.subscriber.on('message', (_channel: string, topic: string) => {
      for (const listener of this.listeners) listener(topic);
    });
    await this.subscriber.subscribe(this.channel);
    const orphans = this.file.adoptOrphans(Date.now());
    this.outbox.adopt(orphans.settlements);
    orphans.done();
    this.recovery = new RedisRecovery({
      link: this.link,
      outbox: this.outbox,
      source,
      rebuild: {
        newId: this.newId,
        openHolds: () => this.holds.readAll(),
        leaseMs: this.options.leaseMs ?? LEASE_MS,
        onLost: (lost) => this.options.onDataLost?.(lost),
      },
      onOpen: () => this.admissions.releaseUncertain(),
      onWatch: () => {
        this.file.touch(Date.now());
        this.holds.tick(Date.now());
      },
    });
    await this.recovery.start(timeoutMs);
    this.client.on('close', () => this.recovery?.close());
    this.client.on('ready', () => this.recovery?.trigger());
  }

  async recount(): Promise<void> {
    if (this.recovery === undefined) throw storeUnavailable('the store is not started');
    // Without the server's epoch, the first process to notice rebuilds the shard.
    for (const keys of this.link.shards) await this.client.set(keys.epoch, 'recount');
    await this.recovery.reopen();
  }

  admit(request: AdmitRequest): Promise<AdmitDecision> {
    return this.admissions.admit(request);
  }

  settle(settlement: Settlement): Promise<void> | undefined {
    const written = this.outbox.add(settlement);
    if (this.holds.open.size > 0) this.holds.end(settlement.requestId);
    return written;
  }

  renew(holds: readonly { readonly projectId: string; readonly requestId: string }[]): Promise<void> {
    return renewLeases(this.link, holds);
  }

  reserve(change: ReserveChange): Promise<number | undefined> {
    return changeReserve(this.link, change);
  }

  async reap(): Promise<number> {
    if (this.source === undefined || !this.link.isOpen) throw storeUnavailable('the store is not ready');
    return reapHolds(this.link, this.source);
  }

  async flush(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (!this.outbox.isSafe && performance.now() < deadline) await Bun.sleep(2);
  }

  setVersions(...given: Parameters<HotStore['setVersions']>): Promise<void> {
    return this.tables.setVersions(...given);
  }

  findStale(known: PrincipalVersions): Promise<readonly StalePart[]> {
    return this.tables.findStale(known);
  }

  setCustomerLimits(projectId: string, customerId: string, limits: CustomerLimits | null): Promise<void> {
    return this.spend.setCustomerLimits(projectId, customerId, limits);
  }

  async counters(): Promise<readonly ProjectCounter[]> {
    return this.spend.counters(await this.link.nowMs());
  }

  openHolds(of?: 'money'): Promise<number> {
    return this.spend.openHolds(of);
  }

  async keySpend(projectId: string, keyId: string, period: BudgetPeriod): Promise<number> {
    return this.spend.keySpend(keyId, projectId, { period, nowMs: await this.link.nowMs() });
  }

  forgetBudget(projectId: string, id: string): Promise<void> {
    return this.spend.forgetBudget(projectId, id);
  }

  async customerSpend(projectId: string, customerId: string): Promise<{ dayNanoUsd: number; monthNanoUsd: number }> {
    return this.spend.customerSpend(projectId, customerId, await this.link.nowMs());
  }

  cacheWrite(projectId: string, entry: CacheWrite): void {
    if (!this.link.isOpen) return;
    // A lost entry is a later miss, nothing more.
    const maxBytes = Math.floor(this.cacheMaxBytes / this.link.shards.length);
    writeCache(this.client, this.link, { projectId, entry, maxBytes }).catch(() => undefined);
  }

  cacheRead(projectId: string, keys: readonly string[]): Promise<readonly (string | undefined)[]> {
    return readCache(this.client, this.link, { projectId, keys });
  }

  async cachePurge(filter: CachePurge): Promise<number> {
    return purgeCache({ client: this.client, shards: this.link.shards, nowMs: await this.link.nowMs() }, filter);
  }

  cacheStats(): Promise<{ readonly entries: number; readonly bytes: number }> {
    return countCache(this.client, this.link.shards, this.link.clock);
  }

  read(max: number, waitMs: number): Promise<readonly QueuedRecord[]> {
    return this.withQueue((queue) => queue.read(max, waitMs));
  }

  acknowledge(entryIds: readonly string[]): Promise<void> {
    return this.withQueue((queue) => queue.acknowledge(entryIds));
  }

  handBack(records: readonly string[]): void {
    this.outbox.adopt(records.map(settlementOfRecord));
    this.recovery?.trigger();
  }

  depth(): Promise<QueueDepth> {
    return this.withQueue((queue) => queue.depth());
  }

  async notify(topic: string): Promise<void> {
    await this.client.publish(this.channel, topic);
  }

  onNotify(listener: (topic: string) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  async health(): Promise<HotStoreHealth> {
    const startMs = performance.now();
    if (!this.link.isOpen) return { ok: false, detail: this.recovery?.lastError ?? 'not reachable' };
    try {
      await this.client.ping();
      return { ok: true, latencyMs: performance.now() - startMs };
    } catch (error) {
      return { ok: false, detail: error instanceof Error ? error.message : String(error) };
    }
  }

  async close(): Promise<void> {
    await this.flush(1_000);
    await this.recovery?.lookOnce(500);
    this.recovery?.stop();
    this.link.close();
    this.outbox.pause();
    this.outbox.close();
    this.holds.close();
    for (const client of [this.client, this.reader, this.subscriber]) client.disconnect();
  }

  private get channel(): string {
    return `${this.namespace}:notify`;
  }

  private get cacheMaxBytes(): number {
    return this.options.cacheMaxBytes ?? 256 * 1024 * 1024;
  }

  private async withQueue<T>(use: (queue: RedisLogQueue) => Promise<T>): Promise<T> {
    if (this.queue === undefined) throw storeUnavailable('the store is not started');
    try {
      return await use(this.queue);
    } catch (error) {
      throw storeUnavailable('the log queue is not reachable', error);
    }
  }
}
