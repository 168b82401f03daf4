import { encodeId } from '../hold';
import type { Settlement } from '../hot-store';
import { apiKeyKey, commitKey, customerKey, projectKey, type ShardKeys } from './keys';
import type { ScriptArg } from './scripts';
import { cacheOwner } from './settle-args';

const MAX_ROWS = 48;
const MAX_CHARACTERS = 256 * 1024;

export interface CommitContext {
  readonly epoch: string;
  readonly clock: ScriptArg;
  readonly cacheMaxBytes: number;
}

/** Settlements of one turn and shard: keys and arguments of `lua/commit.lua`, in its order. */
export class CommitGroup<Handle> {
  readonly settlements: Settlement[] = [];
  /** Their owners, in the same order. */
  readonly handles: Handle[] = [];
  private readonly accounts = new Map<string, number>();
  private readonly accountKeys: string[] = [];
  private readonly accountArgs: ScriptArg[] = [];
  private readonly rows: ScriptArg[] = [];
  private characters = 0;
  /** Nothing to release, book or cache. Such a record may arrive twice: the drain is idempotent by id. */
  isRecordsOnly = true;

  constructor(
    /** Unique among all commits of all processes. */
    readonly id: string,
    readonly keys: ShardKeys,
    readonly context: CommitContext,
  ) {}

  get isFull(): boolean {
    return this.handles.length >= MAX_ROWS || this.characters >= MAX_CHARACTERS;
  }

  add(settlement: Settlement, handle: Handle): void {
    const { requestId, costNanoUsd, tokens, record, cache } = settlement;
    const mode = settlement.held ? 'held' : 'unheld';
    if (settlement.held || cache !== undefined) this.isRecordsOnly = false;
    const account = this.accountOf(settlement);
    this.rows.push(account, mode, requestId, costNanoUsd, tokens, record, cache?.key ?? '');
    this.characters += record.length;
    if (cache !== undefined) {
      this.rows.push(cache.value, cache.ttlMs, cacheOwner(settlement.projectId, cache));
      this.characters += cache.value.length;
    }
    this.settlements.push(settlement);
    this.handles.push(handle);
  }

  encode(): ScriptArg[] {
    const { keys, accountKeys } = this;
    const { epoch, clock, cacheMaxBytes } = this.context;
    return [
      10 + accountKeys.length,
      keys.epoch,
      keys.log,
      keys.holds,
      keys.leases,
      commitKey(keys, this.id),
      ...keys.cache,
      ...accountKeys,
      epoch,
      clock,
      cacheMaxBytes,
      this.accounts.size,
      ...this.accountArgs,
      ...this.rows,
    ];
  }

  private accountOf({ projectId, keyId, customerId }: Settlement): number {
    const customer = customerId === undefined ? '' : encodeId(customerId);
    const identity = `${projectId}\t${keyId}\t${customer}`;
    const known = this.accounts.get(identity);
    if (known !== undefined) return known;
    const account = this.accounts.size;
    this.accounts.set(identity, account);
    const { keys } = this;
    this.accountKeys.push(projectKey(keys, projectId), apiKeyKey(keys, keyId), customerKey(keys, projectId, customer));
    this.accountArgs.push(customer);
    return account;
  }
}
