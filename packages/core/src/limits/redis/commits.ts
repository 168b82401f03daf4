import type { Settlement } from '../hot-store';
import type { Entry } from '../outbox/kept-records';
import type { Outbox } from '../outbox/outbox';
import type { SettleMode, SettleOutcome } from '../outbox/settlement';
import type { RedisAdmissions } from './admit';
import { type Account, type CommitId, cacheOwner, commitKey, type ShardKeys } from './keys';
import type { RedisLink } from './link';
import { runScript, type ScriptArg } from './scripts';
import { decodeSettle, encodeSettle } from './settle-args';
import type { Sender, WriteBatch } from './write-batch';
// Redis does not answer: each settlement's reply fails by itself, and its owner hands it in again, naming the commit.

export interface RedisCommitsOptions {
  readonly batch: WriteBatch;
  /** Of all shards. */
  readonly cacheMaxBytes: number;
  readonly newId: () => string;
  /** Tells of a request that was refused, and may have a hold all the same. */
  readonly admissions: Pick<RedisAdmissions, 'isUncertain'>;
  /** Hears of each first attempt exactly once, and never synchronously. */
  readonly owner: Pick<Outbox, 'queued' | 'taken' | 'failed'>;
}

/** Settlements of one turn and shard form one commit. */
export class RedisCommits implements Sender {
  /** By shard, in this turn. */
  private readonly gathering: (CommitGroup<Entry> | undefined)[] = [];
  private readonly process: string;
  private sent = 0;

  constructor(
    private readonly link: RedisLink,
    private readonly options: RedisCommitsOptions,
  ) {
    this.process = options.newId();
  }

  /**
   * Sends in the turn's batch, and tells the entry its commit, which a retry after a lost reply names. Resolves after the
   * write to the socket.
   */
  sendFirst(entry: Entry): Promise<void> {
    const { settlement } = entry;
    const written = this.options.batch.open(this.gathering.length === 0 ? this : undefined);
    const { held, costNanoUsd, requestId, projectId, keyId, customerId } = settlement;
    const account = this.link.accounts.of(projectId, keyId, customerId);
    // A request without a hold may settle twice.
    if (!held && (costNanoUsd > 0 || this.options.admissions.isUncertain(requestId))) {
      this.tellAlone(entry, 'unheld');
      return written;
    }
    const group = this.groupOf(account.keys);
    group.add(settlement, account, entry);
    entry.sentIn = group.id;
    entry.shard = account.keys.shard;
    return written;
  }

  /** Applies all rules. `sentIn`: the commit that may contain it. */
  async settleAlone(settlement: Settlement, mode: SettleMode, sentIn?: CommitId): Promise<SettleOutcome> {
    const keys = this.link.keysOf(settlement.projectId);
    const cacheMaxBytes = Math.floor(this.options.cacheMaxBytes / this.link.shards.length);
    const context = { keys, epoch: keys.known.epoch, clock: this.link.clock, cacheMaxBytes, sentIn };
    return decodeSettle(await runScript(this.link.client, 'settle', encodeSettle(settlement, mode, context)));
  }

  send(): void {
    try {
      for (const group of this.gathering) if (group !== undefined) void this.sendGroup(group);
    } finally {
      this.gathering.length = 0;
    }
  }

  private tellAlone(entry: Entry, mode: SettleMode): void {
    const { owner } = this.options;
    this.settleAlone(entry.settlement, mode).then(
      (outcome) => owner.taken(entry, outcome),
      () => owner.failed(entry),
    );
  }

  private groupOf(keys: ShardKeys): CommitGroup<Entry> {
    const gathering = this.gathering[keys.shard];
    if (gathering !== undefined && !gathering.isFull) return gathering;
    if (gathering !== undefined) void this.sendGroup(gathering);
    const { given, shards } = this.link;
    const cacheMaxBytes = Math.floor(this.options.cacheMaxBytes / shards.length);
    const context = { epoch: keys.known.epoch, clock: given?.() ?? '', cacheMaxBytes };
    const group = new CommitGroup<Entry>({ process: this.process, number: ++this.sent }, keys, context);
    this.gathering[keys.shard] = group;
    return group;
  }

  private async sendGroup(group: CommitGroup<Entry>): Promise<void> {
    if (group.isRecordsOnly) return this.append(group);
    const { handles } = group;
    const { owner } = this.options;
    let reply: unknown;
    try {
      reply = await runScript(this.link.client, 'commit', group.encode());
    } catch {
      for (const entry of handles) owner.failed(entry);
      return;
    }
    for (const [index, entry] of handles.entries()) {
      const row = reply === 0 ? 0 : (reply as readonly unknown[])[index];
      if (typeof row === 'string') owner.queued(entry, row);
      else if (row === 2) this.tellAlone(entry, entry.settlement.held ? 'held' : 'unheld');
      else owner.taken(entry, decodeSettle(row));
    }
  }

  /** Hits and denials change no counter: the bare appends, in one write, cost both sides a third of a script. */
  private append({ keys, handles }: CommitGroup<Entry>): void {
    const { owner } = this.options;
    for (const entry of handles) {
      const { requestId, record } = entry.settlement;
      this.link.client.xadd(keys.log, '*', 'i', requestId, 'r', record).then(
        (entryId) => (entryId === null ? owner.failed(entry) : owner.queued(entry, entryId)),
        () => owner.failed(entry),
      );
    }
  }
}

const MAX_ROWS = 48;
const MAX_CHARACTERS = 256 * 1024;

export interface CommitContext {
  readonly epoch: string;
  readonly clock: ScriptArg;
  readonly cacheMaxBytes: number;
}

/** Settlements of one turn and shard: keys and arguments of `lua/commit.lua`, in its order. */
export class CommitGroup<Handle> {
  /** Their owners, in order. */
  readonly handles: Handle[] = [];
  isFull = false;
  private readonly accounts: Account[] = [];
  private readonly rows: ScriptArg[] = [];
  private characters = 0;
  /** Nothing to release, book or cache. Such a record may arrive twice: the drain is idempotent by id. */
  isRecordsOnly = true;

  constructor(
    readonly id: CommitId,
    readonly keys: ShardKeys,
    readonly context: CommitContext,
  ) {}

  add(settlement: Settlement, account: Account, handle: Handle): void {
    const { held, requestId, costNanoUsd, tokens, record, cache } = settlement;
    if (held || cache !== undefined) this.isRecordsOnly = false;
    let place = this.accounts.indexOf(account);
    if (place < 0) place = this.accounts.push(account) - 1;
    this.rows.push(place, held ? 'held' : 'unheld', requestId, costNanoUsd, tokens, record, cache?.key ?? '');
    this.characters += record.length;
    if (cache !== undefined) {
      this.rows.push(cache.value, cache.ttlMs, cacheOwner(settlement.projectId, cache));
      this.characters += cache.value.length;
    }
    this.isFull = this.handles.push(handle) >= MAX_ROWS || this.characters >= MAX_CHARACTERS;
  }

  encode(): ScriptArg[] {
    const { keys, accounts, context } = this;
    const { epoch, log, holds, leases, cache } = keys;
    const args: ScriptArg[] = [10 + 3 * accounts.length, epoch, log, holds, leases, commitKey(keys, this.id), ...cache];
    for (const { names } of accounts) args.push(names[0], names[1], names[2]);
    args.push(context.epoch, context.clock, context.cacheMaxBytes, this.id.number, accounts.length);
    for (const { customer } of accounts) args.push(customer);
    args.push(...this.rows);
    return args;
  }
}
