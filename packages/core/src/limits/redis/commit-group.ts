import type { Settlement } from '../hot-store';
import type { Account } from './accounts';
import { type CommitId, commitKey, type ShardKeys } from './keys';
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
