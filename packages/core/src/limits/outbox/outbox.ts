// If the store refuses a settlement, memory and a file hold it, and it retries until accepted.

import { LinkedSet } from '../../collections/linked-set';
import { DONE_MARKER_MS } from '../hold';
import type { RebuildSource, Settlement } from '../hot-store';
import { chooseModes, type QueuedIds } from './choose-modes';
import { Entry, KeptRecords } from './kept-records';
import type { OutboxPorts, SettlementSender } from './outbox-ports';
import { type SettleMode, type SettleOutcome, settlementOfRecord } from './settlement';

/** Memory limit for undrained records; more stay in the file. */
const KEPT_MAX_BYTES = 16 * 1024 * 1024;
const BATCH = 500;
const NOTHING_QUEUED: QueuedIds = new Map();
// Time without acknowledgement until a store counts as stalled. It may lose a dead process's writes (Redis reads
// 16 KiB, fails to reply, closes), so sent data goes to the file as well.
const STALLED_MS = 20;

/**
 * Everything that this process submitted and that isn't drained yet: unacknowledged (`sent`), refused (`waiting`), or
 * queued (`kept`, per shard in queue order).
 */
export class Outbox {
  private readonly sent = new LinkedSet<Entry>();
  /** Sent in this turn, and maybe not on the wire yet. */
  private readonly leaving: Entry[] = [];
  private waiting: Entry[] = [];
  private readonly kept = new Map<number, KeptRecords>();
  private keptBytes = 0;
  private inFile = 0;
  private failures = 0;
  private stallTimer: ReturnType<typeof setTimeout> | undefined;
  private closed = false;
  private open = false;
  private sender!: SettlementSender;

  constructor(private readonly ports: OutboxPorts) {}

  /** Call it before anything else: both know each other. */
  sendBy(sender: SettlementSender): void {
    this.sender = sender;
  }

  /** Stops sending until `resume`. */
  pause(): void {
    this.open = false;
  }

  /** Resolves (undefined: at once) when it is on the wire or in the file. */
  add(settlement: Settlement): Promise<void> | undefined {
    const entry = new Entry(settlement, this.ports.nowMs(), false);
    if (!this.open) {
      this.wait(entry);
      return undefined;
    }
    const written = this.sender.sendFirst(entry);
    this.begin(entry, written);
    return written;
  }

  /** The first attempt to send an entry took its record to the queue. */
  queued(entry: Entry, entryId: string): void {
    this.sent.remove(entry);
    this.keep(entry, entryId);
  }

  /** Another result of an attempt. */
  taken(entry: Entry, outcome: SettleOutcome): void {
    this.sent.remove(entry);
    if (outcome.type === 'released') {
      // Already in the queue, and maybe in the file.
      if (entry.queued === undefined) this.forget(entry);
      else this.keep(entry, entry.queued.entryId);
    } else if (outcome.type === 'queued') this.keep(entry, outcome.entryId);
    else if (outcome.type === 'refused') this.fail(entry);
    else {
      entry.doubtful = true;
      this.wait(entry);
      this.ports.onTrouble();
    }
  }

  failed(entry: Entry): void {
    this.sent.remove(entry);
    this.fail(entry);
  }

  /** Entries in the file of a dead process. */
  adopt(settlements: readonly Settlement[]): void {
    for (const settlement of settlements) this.wait(new Entry(settlement, this.ports.nowMs(), true));
  }

  /**
   * The store accepts writes again. In the same epoch, unacknowledged settlements are resent; in a new one, undrained
   * ones are looked up first. Throws if store or rows are unavailable; call again.
   */
  async resume(newEpoch: boolean, source: RebuildSource): Promise<void> {
    if (newEpoch) this.doubtAll();
    while (this.waiting.length > 0) {
      const failures = this.failures;
      const old = this.ports.nowMs() - DONE_MARKER_MS / 2;
      const batch = this.waiting;
      this.waiting = [];
      const doubtful = batch.filter((entry) => entry.doubtful || entry.sentAtMs < old);
      const clear = batch.filter((entry) => !entry.doubtful && entry.sentAtMs >= old);
      await this.sendAll(clear, ({ settlement }) => (settlement.held ? 'held' : 'unheld'));
      let decided = 0;
      try {
        // Queue first, rows second: records drained in between are in the rows.
        const queued = doubtful.length === 0 ? NOTHING_QUEUED : await this.findQueued(doubtful);
        for (; decided < doubtful.length; decided += BATCH) {
          await this.decide(doubtful.slice(decided, decided + BATCH), queued, source);
        }
      } catch (error) {
        for (const entry of doubtful.slice(decided)) this.waiting.push(entry);
        throw error;
      }
      if (this.failures > failures) throw new Error('the hot store does not take settlements');
    }
    this.open = true;
  }

  /** Queue entries before `firstEntryId` ('' = all) are drained; `known` is `keptCount` at query time. */
  dropDrained(shard: number, firstEntryId: string, known: number): void {
    const dropped = this.kept.get(shard)?.dropBefore(firstEntryId, known);
    if (dropped === undefined) return;
    this.keptBytes -= dropped.bytes;
    this.leaveFile(dropped.inFile);
  }

  keptCount(shard: number): number {
    return this.kept.get(shard)?.count ?? 0;
  }

  /** True when everything is acknowledged by the store or in the file. */
  get isSafe(): boolean {
    return this.waiting.every((entry) => entry.inFile) && [...this.sent].every((entry) => entry.inFile);
  }

  get hasWaiting(): boolean {
    return this.waiting.length > 0;
  }

  /** Undrained rows go to the file: the next process looks them up, in case the store loses them. */
  close(): void {
    this.closed = true;
    clearTimeout(this.stallTimer);
    for (const entry of this.sent) this.toFile(entry);
    let unsettled = this.sent.size + this.waiting.length;
    for (const records of this.kept.values()) {
      for (const kept of records.all())
        if ('record' in kept && !kept.inFile) this.ports.file.append(settlementOfRecord(kept.record));
      unsettled += records.count;
    }
    if (unsettled === 0) this.ports.file.clear();
    this.ports.file.close();
  }

  /** Counts as sent from here on; `written` resolves when it is on the wire. */
  private begin(entry: Entry, written: Promise<void>): void {
    entry.onWireMs = performance.now();
    this.sent.append(entry, entry);
    this.stallTimer ??= setTimeout(this.watchStall, STALLED_MS);
    this.leaving.push(entry);
    // Once a turn, for all that leave in it.
    if (this.leaving.length === 1) void written.then(this.checkLeaving);
  }

  /** Asked once the bytes were given to the socket, still before any answer can go out. */
  private readonly checkLeaving = (): void => {
    if (this.ports.isBackedUp() || this.isStalled(performance.now()))
      for (const entry of this.leaving) if (entry.value !== undefined) this.toFile(entry);
    this.leaving.length = 0;
  };

  private sendEntry(entry: Entry, mode: SettleMode): Promise<void> {
    this.begin(entry, this.ports.batch.open());
    return this.sender.settleAlone(entry.settlement, mode, entry.sentIn).then(
      (outcome) => this.taken(entry, outcome),
      () => this.failed(entry),
    );
  }

  private isStalled(nowMs: number): boolean {
    const { oldest } = this.sent;
    return oldest !== undefined && nowMs - oldest.onWireMs > STALLED_MS;
  }

  /** Runs after the event loop has read arrivals: the loop may be late, not the store. */
  private readonly watchStall = (): void => {
    setImmediate(() => {
      if (this.closed) return;
      if (this.isStalled(performance.now())) for (const entry of this.sent) this.toFile(entry);
      this.stallTimer = this.sent.size === 0 ? undefined : setTimeout(this.watchStall, STALLED_MS);
    });
  };

  private fail(entry: Entry): void {
    this.failures++;
    this.wait(entry);
    this.ports.onTrouble();
  }

  private keep(entry: Entry, entryId: string): void {
    const { projectId, record, requestId } = entry.settlement;
    const shard = entry.shard ?? this.ports.shardOf(projectId);
    let records = this.kept.get(shard);
    if (records === undefined) {
      records = new KeptRecords();
      this.kept.set(shard, records);
    }
    if (this.keptBytes + record.length > KEPT_MAX_BYTES && this.toFile(entry)) records.addFiled(entryId, requestId);
    else this.keptBytes += records.add(entryId, record, entry.inFile);
  }

  private wait(entry: Entry): void {
    this.toFile(entry);
    this.waiting.push(entry);
  }

  private toFile(entry: Entry): boolean {
    if (entry.inFile) return true;
    if (!this.ports.file.append(entry.settlement)) return false;
    entry.inFile = true;
    this.inFile++;
    return true;
  }

  private forget(entry: Entry): void {
    if (!entry.inFile) return;
    entry.inFile = false;
    this.leaveFile(1);
  }

  private leaveFile(entries: number): void {
    if (entries === 0) return;
    this.inFile -= entries;
    if (this.inFile === 0) this.ports.file.clear();
  }

  private doubtAll(): void {
    const fromFile = new Map<string, Settlement>();
    for (const records of this.kept.values()) {
      for (const kept of records.all()) {
        const filed = 'requestId' in kept;
        if (filed && fromFile.size === 0)
          for (const settlement of this.ports.file.read()) fromFile.set(settlement.requestId, settlement);
        const settlement = filed ? fromFile.get(kept.requestId) : settlementOfRecord(kept.record);
        if (settlement === undefined) continue;
        const entry = new Entry(settlement, this.ports.nowMs(), true);
        entry.inFile = filed || kept.inFile;
        this.waiting.push(entry);
      }
    }
    this.kept.clear();
    this.keptBytes = 0;
    for (const entry of this.waiting) entry.doubtful = true;
  }

  private async sendAll(entries: readonly Entry[], mode: (entry: Entry) => SettleMode): Promise<void> {
    for (let i = 0; i < entries.length; i += BATCH)
      await Promise.all(entries.slice(i, i + BATCH).map((entry) => this.sendEntry(entry, mode(entry))));
  }

  private findQueued(entries: readonly Entry[]): Promise<QueuedIds> {
    const shards = entries.map(({ settlement }) => this.ports.shardOf(settlement.projectId));
    return this.ports.queuedIds(new Set(shards), new Set(entries.map(({ settlement }) => settlement.requestId)));
  }

  private async decide(entries: readonly Entry[], queued: QueuedIds, source: RebuildSource): Promise<void> {
    for (const entry of entries) {
      const entryId = queued.get(entry.settlement.requestId);
      if (entryId === undefined) entry.queued = undefined;
      else entry.queued = { entryId };
    }
    const settlements = entries.map(({ settlement }) => settlement);
    const modeOf = await chooseModes(settlements, queued, source);
    await this.sendAll(entries, ({ settlement }) => modeOf(settlement));
  }
}
