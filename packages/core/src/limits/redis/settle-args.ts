import { coveringBudgets } from '../budgets';
import { encodeId } from '../hold';
import type { Settlement } from '../hot-store';
import type { SettleMode, SettleOutcome } from '../outbox/settlement';
import {
  apiKeyKey,
  type CommitId,
  cacheOwner,
  commitKey,
  customerKey,
  doneKey,
  projectKey,
  type ShardKeys,
} from './keys';
import type { ScriptArg } from './scripts';

export interface SettleContext {
  readonly keys: ShardKeys;
  readonly epoch: string;
  readonly clock: ScriptArg;
  readonly cacheMaxBytes: number;
  /** The commit that may have carried it already. */
  readonly sentIn?: CommitId | undefined;
}

/** Keys and arguments of `lua/settle.lua`, in its order. */
export function encodeSettle(settlement: Settlement, mode: SettleMode, context: SettleContext): ScriptArg[] {
  const { keys, epoch, clock, cacheMaxBytes, sentIn } = context;
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
    sentIn === undefined ? doneKey(keys, requestId) : commitKey(keys, sentIn),
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
    sentIn?.number ?? '',
    mode === 'release' ? '' : idsOf(settlement),
  ];
  if (cache !== undefined) args.push(cache.key, cache.value, cache.ttlMs, cacheOwner(projectId, cache), cacheMaxBytes);
  return args;
}

/** Of all budgets that may cover it. */
const idsOf = (settlement: Settlement): string =>
  coveringBudgets(settlement)
    .map(({ id }) => id)
    .join(' ');

export function decodeSettle(reply: unknown): SettleOutcome {
  if (typeof reply === 'string') return { type: 'queued', entryId: reply };
  if (reply === 1) return { type: 'released' };
  return { type: reply === 2 ? 'unknown' : 'refused' };
}
