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
