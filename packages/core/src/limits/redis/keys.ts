import { encodeId } from '../hold';
import type { AdmitRequest, CacheWrite } from '../hot-store';
import type { ScriptArg } from './scripts';
/** All keys of one shard share a slot: `<namespace>:{s<n>}:…`. */
export interface ShardKeys {
  readonly shard: number;
  readonly prefix: string;
  readonly epoch: string;
  /** Grows with every change of prices, aliases, chains and providers; equal in all shards unless data was lost. */
  readonly tables: string;
  readonly log: string;
  readonly holds: string;
  readonly leases: string;
  readonly projects: string;
  /** Values, facts, by age, by expiry, totals: the order `lua/cache/store.lua` takes them in. */
  readonly cache: readonly [values: string, facts: string, byAge: string, byExpiry: string, totals: string];
  /** Values that this process knows: of `epoch` (the server refuses any other one), and of `tables` ('' = never raised). */
  readonly known: { epoch: string; tables: string };
}

export function createShardKeys(namespace: string, shards: number): readonly ShardKeys[] {
  return Array.from({ length: shards }, (_, shard) => {
    const prefix = `${namespace}:{s${shard}}:`;
    return {
      shard,
      prefix,
      epoch: `${prefix}epoch`,
      tables: `${prefix}tables`,
      log: `${prefix}log`,
      holds: `${prefix}holds`,
      leases: `${prefix}leases`,
      projects: `${prefix}projects`,
      cache: [`${prefix}cv`, `${prefix}cf`, `${prefix}ca`, `${prefix}ce`, `${prefix}ct`],
      known: { epoch: 'none', tables: '' },
    };
  });
}

export const projectKey = (keys: ShardKeys, projectId: string): string => `${keys.prefix}p:${projectId}`;
export const apiKeyKey = (keys: ShardKeys, keyId: string): string => `${keys.prefix}k:${keyId}`;
export const limitsKey = (keys: ShardKeys, projectId: string): string => `${keys.prefix}l:${projectId}`;
export const doneKey = (keys: ShardKeys, requestId: string): string => `${keys.prefix}d:${requestId}`;
/** Marks a process has, in turn: more commits are hardly ever under way. */
const MARKS = 1024;

/** A commit of all commits of all processes. */
export interface CommitId {
  readonly process: string;
  readonly number: number;
}

/** Marks that a commit was taken, and which of its rows it left out; its number tells it from earlier ones. */
export const commitKey = (keys: ShardKeys, { process, number }: CommitId): string =>
  `${keys.prefix}g:${process}:${number % MARKS}`;
/** `customer` as `encodeId` gives it; '' (no customer) still names a key of the slot. */
export const customerKey = (keys: ShardKeys, projectId: string, customer: string): string =>
  `${keys.prefix}c:${projectId}:${customer}`;

/** FNV-1a: stable across processes and versions. */
export function shardOf(projectId: string, shards: number): number {
  if (shards === 1) return 0;
  let hash = 0x811c9dc5;
  for (let i = 0; i < projectId.length; i++) hash = Math.imul(hash ^ projectId.charCodeAt(i), 0x01000193) >>> 0;
  return hash % shards;
}

/** Prepared once for a key and customer: all that the scripts are told about them. */
export interface Account {
  readonly keys: ShardKeys;
  readonly projectId: string;
  readonly keyId: string;
  /** As `encodeId` gives it; '' = none. */
  readonly customer: string;
  /** Names for `lua/admit.lua`; `lua/commit.lua` takes the first three. */
  readonly names: readonly [project: string, key: string, customer: string, limits: string];
  /** Arguments for `lua/admit.lua` of the last request, by `argsOf`. */
  args: readonly ScriptArg[];
}

export function createAccount(
  keys: ShardKeys,
  { projectId, keyId, customer }: Pick<Account, 'projectId' | 'keyId' | 'customer'>,
): Account {
  const names = [projectKey(keys, projectId), apiKeyKey(keys, keyId)] as const;
  return {
    ...{ keys, projectId, keyId, customer, args: [] },
    names: [...names, customerKey(keys, projectId, customer), limitsKey(keys, projectId)],
  };
}

/** Place of the budgets among the arguments. A request with others names its own. */
export const BUDGETS = 15;

/** The same array while versions and limits stay: a group sends it once. */
export function argsOf(account: Account, request: AdmitRequest): readonly ScriptArg[] {
  const { args } = account;
  const { projectVersion, keyVersion, keyBucket, projectCapNanoUsd, keyBudgetNanoUsd, keyBudgetPeriod } = request;
  const { tokensPerMinute, maxConcurrency, maxCustomers, levelLimits } = request;
  const reloaded = request.reloaded ? '1' : '';
  const rate = keyBucket?.ratePerMinute ?? '';
  const burst = keyBucket?.burst ?? '';
  const cap = projectCapNanoUsd ?? '';
  const budget = keyBudgetNanoUsd ?? '';
  const tokens = tokensPerMinute ?? '';
  const open = maxConcurrency ?? '';
  const customers = maxCustomers ?? '';
  const levels = levelLimits?.text ?? '';
  const isVersion = args[2] === projectVersion && args[3] === keyVersion && args[4] === reloaded;
  const isRate = args[5] === rate && args[6] === burst && args[10] === tokens;
  const isSpend = args[7] === cap && args[8] === budget && args[9] === keyBudgetPeriod;
  if (isVersion && isRate && isSpend && args[11] === open && args[14] === customers && args[16] === levels) return args;
  const { projectId, keyId, customer } = account;
  const owner = `${projectId}\t${keyId}\t${customer}`;
  account.args = [
    ...[projectId, keyId, projectVersion, keyVersion, reloaded, rate, burst, cap, budget, keyBudgetPeriod],
    ...[tokens, open, customer, owner, customers, request.budgets?.text ?? '', levels],
  ];
  return account.args;
}

/** Accounts in use; the bound keeps a flood of customers from staying. */
const MOST = 2048;

/** Accounts by key and customer. */
export class Accounts {
  private readonly known = new Map<string, Account>();

  constructor(private readonly keysOf: (projectId: string) => ShardKeys) {}

  of(projectId: string, keyId: string, customerId: string | undefined): Account {
    const name = customerId === undefined ? keyId : `${keyId}\t${customerId}`;
    const known = this.known.get(name);
    if (known !== undefined && known.projectId === projectId) return known;
    if (this.known.size >= MOST) this.known.clear();
    const customer = customerId === undefined ? '' : encodeId(customerId);
    const account = createAccount(this.keysOf(projectId), { projectId, keyId, customer });
    this.known.set(name, account);
    return account;
  }
}

export const cacheOwner = (projectId: string, entry: CacheWrite): string =>
  `${projectId}\t${entry.provider}\t${entry.model}`;
