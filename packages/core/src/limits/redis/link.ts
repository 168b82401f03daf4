import { storeUnavailable } from '../store-unavailable';
import { Accounts, createShardKeys, type ShardKeys, shardOf } from './keys';
import type { RedisClient, ScriptArg } from './scripts';

/** Shards of a new store: one server has one log stream to read, a cluster spreads projects over its nodes. */
const CLUSTER_SHARDS = 16;

/** A connection, its shards and their known epochs. Without an epoch, nothing is decided. */
export class RedisLink {
  shards: readonly ShardKeys[] = [];
  readonly accounts = new Accounts((projectId) => this.keysOf(projectId));
  /** True while decisions are possible. */
  isOpen = false;
  /** The clock of tests. */
  readonly given: (() => number) | undefined;

  constructor(
    readonly client: RedisClient,
    private readonly options: {
      readonly namespace: string;
      readonly cluster: boolean;
      readonly clock: (() => number) | undefined;
    },
  ) {
    this.given = options.clock;
  }

  /** The number of shards is fixed when a store is first used: projects must stay where they are. */
  async learnShards(): Promise<void> {
    const key = `${this.options.namespace}:shards`;
    await this.client.set(key, this.options.cluster ? CLUSTER_SHARDS : 1, 'NX');
    this.shards = createShardKeys(this.options.namespace, Number(await this.client.get(key)));
  }

  /** Settlements may be sent, decisions not yet. */
  prepare(epochs: readonly string[]): void {
    for (const { known, shard } of this.shards) known.epoch = epochs[shard] ?? 'none';
  }

  open(epochs: readonly string[]): void {
    this.prepare(epochs);
    this.isOpen = true;
  }

  close(): void {
    this.isOpen = false;
  }

  tablesRead(versions: readonly string[]): void {
    for (const { known, shard } of this.shards) known.tables = versions[shard] ?? '';
  }

  keysOf(projectId: string): ShardKeys {
    const keys = this.shards[shardOf(projectId, this.shards.length)];
    if (keys === undefined) throw storeUnavailable('the hot store is not started');
    return keys;
  }

  /** The store's clock in epoch milliseconds. */
  async nowMs(): Promise<number> {
    if (this.options.clock !== undefined) return this.options.clock();
    const [seconds, micros] = (await this.client.time()) as unknown as [string | number, string | number];
    return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
  }

  /** '' = the server's own clock. */
  get clock(): ScriptArg {
    return this.given?.() ?? '';
  }
}
