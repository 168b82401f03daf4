import type { LogRecord } from '../../logs/log-record';
import { encodeId } from '../hold';
import type { CacheWrite, Settlement } from '../hot-store';
import { apiKeyKey, customerKey, doneKey, projectKey, type ShardKeys } from './keys';
import type { ScriptArg } from './scripts';

/**
 * `held`: a hold must be there. `unheld`: none is expected. `force`: known to be nowhere, booked without a hold.
 * `known`: in queue or rows; only a hold goes, or what the reaper booked is corrected (what and
 * when, where the store may have forgotten it). `release`: only the hold goes.
 */
export type SettleMode = 'held' | 'unheld' | 'force' | 'known' | `known r${number} ${number}` | 'release';

export type SettleOutcome =
  /** In the queue; also when it had been taken before. */
  | { readonly type: 'queued'; readonly entryId: string }
  /** Only a hold was released, if there was one. */
  | { readonly type: 'released' }
  /** No hold and no marker: whether it was booked has to be looked up. */
  | { readonly type: 'unknown' }
  /** The store is in another epoch and changed nothing. */
  | { readonly type: 'refused' };

export interface SettleContext {
  readonly keys: ShardKeys;
  readonly epoch: string;
  readonly clock: ScriptArg;
  readonly cacheMaxBytes: number;
}

export const cacheOwner = (projectId: string, entry: CacheWrite): string =>
  `${projectId}\t${entry.provider}\t${entry.model}`;

/** Keys and arguments of `lua/settle.lua`, in its order. */
export function encodeSettle(settlement: Settlement, mode: SettleMode, context: SettleContext): ScriptArg[] {
  const { keys, epoch, clock, cacheMaxBytes } = context;
  const { projectId, requestId, cache } = settlement;
  const customer = settlement.customerId === undefined ? '' : encodeId(settlement.customerId);
  const args: ScriptArg[] = [
    keys.epoch,
    projectKey(keys, projectId),
    apiKeyKey(keys, settlement.keyId),
    keys.log,
    keys.holds,
    keys.leases,
    customerKey(keys, projectId, customer),
    doneKey(keys, requestId),
    keys.projects,
    ...keys.cache,
    epoch,
    clock,
    requestId,
    mode,
    settlement.costNanoUsd,
    settlement.tokens,
    settlement.admittedAtMs,
    projectId,
    customer,
    settlement.record,
  ];
  if (cache !== undefined) args.push(cache.key, cache.value, cache.ttlMs, cacheOwner(projectId, cache), cacheMaxBytes);
  return args;
}

export function decodeSettle(reply: unknown): SettleOutcome {
  if (typeof reply === 'string') return { type: 'queued', entryId: reply };
  if (reply === 1) return { type: 'released' };
  return { type: reply === 2 ? 'unknown' : 'refused' };
}

/** Nothing to release, to book or to cache. Such a record may come twice: the drain is idempotent by id. */
export function isRecordOnly(settlement: Settlement): boolean {
  return !settlement.held && settlement.costNanoUsd === 0 && settlement.cache === undefined;
}

/** The settlement that queued this record, for handing it in again. */
export function settlementOfRecord(record: string): Settlement {
  const { id, projectId, apiKeyId, customerId, createdAtMs, costNanoUsd, tokensIn, tokensOut } = JSON.parse(
    record,
  ) as LogRecord;
  return {
    requestId: id,
    projectId,
    keyId: apiKeyId,
    ...(customerId === undefined ? {} : { customerId }),
    admittedAtMs: createdAtMs,
    held: false,
    costNanoUsd,
    tokens: tokensIn + tokensOut,
    record,
  };
}

/** Cached values are not money: they are not handed in again. */
export function withoutCache(settlement: Settlement): Settlement {
  const { cache: _, ...rest } = settlement;
  return rest;
}
