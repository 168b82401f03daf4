// Without Redis, `read` and `acknowledge` throw `store_unavailable`; entries stay queued.
import type { Redis } from 'ioredis';
import type { LogQueue, QueueDepth, QueuedRecord } from '../../logs/log-queue';
import type { ShardKeys } from './keys';
import { type RedisClient, runScript } from './scripts';

export const DRAIN_GROUP = 'drain';
/** A reader that has not acknowledged for this long counts as dead. */
export const REDELIVER_MS = 30_000;
/** A reader idle this long starts again and takes over its predecessor's entries. */
const NEW_READER_MS = 10_000;
const POLL_MS = 50;
/** Entries one script call looks at: a millisecond of the store's time. */
const ID_BATCH = 1000;

/** `[id, [field, value, …]]`, as XRANGE and its kin reply. */
type StreamEntry = readonly [id: string, fields: readonly string[] | null];

export interface StreamRecord {
  readonly id: string;
  readonly requestId: string;
  readonly record: string;
}

/** Entries of one shard's queue from an id on (`(id` = after it), without acknowledgement. */
export async function readQueue(
  client: RedisClient,
  keys: ShardKeys,
  { from, count }: { readonly from: string; readonly count: number },
): Promise<readonly StreamRecord[]> {
  return toRecords((await client.xrange(keys.log, from, '+', 'COUNT', count)) as readonly StreamEntry[]);
}

/** Entry ids, by request id, of those of `wanted` that are in the given queues now. Records stay where they are. */
export async function findQueued(
  client: RedisClient,
  shards: readonly ShardKeys[],
  wanted: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const keys of shards) {
    let from = '-';
    for (;;) {
      const ids = (await runScript(client, 'queueIds', [keys.log, from, ID_BATCH])) as readonly string[];
      for (let i = 0; i < ids.length; i += 2) {
        const requestId = ids[i + 1] ?? '';
        if (wanted.has(requestId)) found.set(requestId, ids[i] ?? '');
      }
      if (ids.length < 2 * ID_BATCH) break;
      from = `(${ids.at(-2)}`;
    }
  }
  return found;
}

function toRecords(entries: readonly StreamEntry[]): StreamRecord[] {
  return entries.flatMap(([id, fields]) =>
    fields === null || fields === undefined ? [] : [{ id, requestId: fields[1] ?? '', record: fields[3] ?? '' }],
  );
}

export interface RedisLogQueueOptions {
  /** Takes the short commands. */
  readonly client: RedisClient;
  /** A separate connection, because a blocking read delays everything after it. */
  readonly reader: RedisClient;
  readonly shards: readonly ShardKeys[];
  /** Unique to this process. */
  readonly consumer: string;
  /** After how long a reader counts as dead; other than `REDELIVER_MS` in tests only. */
  readonly redeliverMs?: number;
}

/** One stream a shard, read by one consumer group; an acknowledged entry is deleted. */
export class RedisLogQueue implements Omit<LogQueue, 'handBack'> {
  private nextClaimAtMs = 0;
  private lastReadMs = Number.NEGATIVE_INFINITY;
  private readonly redeliverMs: number;
  private claimIdleMs: number;
  /** Streams that are known to have their group. */
  private readonly ready = new Set<string>();

  constructor(private readonly options: RedisLogQueueOptions) {
    this.redeliverMs = options.redeliverMs ?? REDELIVER_MS;
    this.claimIdleMs = this.redeliverMs;
  }

  async read(max: number, waitMs: number): Promise<readonly QueuedRecord[]> {
    const startMs = performance.now();
    const deadline = startMs + waitMs;
    if (startMs - this.lastReadMs > NEW_READER_MS) {
      this.claimIdleMs = 0;
      this.nextClaimAtMs = 0;
    }
    this.lastReadMs = startMs;
    for (;;) {
      const abandoned = await this.claimAbandoned(max);
      if (abandoned.length > 0) return abandoned;
      const left = Math.max(0, Math.floor(deadline - performance.now()));
      const blockMs = this.options.shards.length === 1 ? left : 0;
      const found: QueuedRecord[] = [];
      for (const keys of this.options.shards) {
        if (found.length < max) found.push(...(await this.readShard(keys, max - found.length, blockMs)));
      }
      if (found.length > 0 || performance.now() >= deadline) return found;
      if (this.options.shards.length > 1) await Bun.sleep(Math.min(POLL_MS, left));
    }
  }

  async acknowledge(entryIds: readonly string[]): Promise<void> {
    const byShard = new Map<ShardKeys, string[]>();
    for (const entryId of entryIds) {
      const [shard, id] = entryId.split(':');
      const keys = this.options.shards[Number(shard)];
      if (keys === undefined || id === undefined) continue;
      const ids = byShard.get(keys);
      if (ids === undefined) byShard.set(keys, [id]);
      else ids.push(id);
    }
    for (const [keys, ids] of byShard) {
      for (let i = 0; i < ids.length; i += 1000) {
        await runScript(this.options.client, 'acknowledge', [keys.log, DRAIN_GROUP, ...ids.slice(i, i + 1000)]);
      }
    }
  }

  async depth(): Promise<QueueDepth> {
    let entries = 0;
    let oldestAgeMs = 0;
    for (const keys of this.options.shards) {
      const state = await readQueueState(this.options.client, keys, '');
      entries += state.length;
      if (state.firstId !== '')
        oldestAgeMs = Math.max(oldestAgeMs, state.serverMs - Number(state.firstId.split('-')[0]));
    }
    return { entries, oldestAgeMs };
  }

  private async readShard(keys: ShardKeys, max: number, blockMs: number): Promise<QueuedRecord[]> {
    const { reader, consumer } = this.options;
    const wait: ['BLOCK', number] | [] = blockMs > 0 ? ['BLOCK', blockMs] : [];
    const reply = await this.withGroup(keys, () =>
      (reader as Redis).call(
        'XREADGROUP',
        'GROUP',
        DRAIN_GROUP,
        consumer,
        'COUNT',
        max,
        ...wait,
        'STREAMS',
        keys.log,
        '>',
      ),
    );
    return toQueued(keys, readReply(reply));
  }

  /** Occasionally adopts a dead reader's entries. Two readers with the same batch write it once. */
  private async claimAbandoned(max: number): Promise<QueuedRecord[]> {
    if (performance.now() < this.nextClaimAtMs) return [];
    const found: QueuedRecord[] = [];
    for (const keys of this.options.shards) {
      if (found.length >= max) break;
      const reply = (await this.withGroup(keys, () =>
        (this.options.client as Redis).call(
          'XAUTOCLAIM',
          keys.log,
          DRAIN_GROUP,
          this.options.consumer,
          this.claimIdleMs,
          '0-0',
          'COUNT',
          max - found.length,
        ),
      )) as [string, StreamEntry[]];
      found.push(...toQueued(keys, toRecords(reply[1])));
    }
    if (found.length === 0) {
      this.nextClaimAtMs = performance.now() + this.redeliverMs / 6;
      this.claimIdleMs = this.redeliverMs;
    }
    return found;
  }

  /** The group is made on first use, and again after a flush. */
  private async withGroup(keys: ShardKeys, command: () => Promise<unknown>): Promise<unknown> {
    if (!this.ready.has(keys.log)) await this.createGroup(keys);
    try {
      return await command();
    } catch (error) {
      if (!(error instanceof Error) || !/NOGROUP|UNBLOCKED/.test(error.message)) throw error;
      await this.createGroup(keys);
      return await command();
    }
  }

  private async createGroup(keys: ShardKeys): Promise<void> {
    try {
      await this.options.client.xgroup('CREATE', keys.log, DRAIN_GROUP, '0', 'MKSTREAM');
    } catch (error) {
      if (!(error instanceof Error) || !error.message.includes('BUSYGROUP')) throw error;
    }
    this.ready.add(keys.log);
  }
}

function toQueued(keys: ShardKeys, records: readonly StreamRecord[]): QueuedRecord[] {
  return records.map(({ id, record }) => ({ entryId: `${keys.shard}:${id}`, record }));
}

/** XREADGROUP replies null, `[[stream, entries]]` or (RESP3) a flat `[stream, entries]`. */
function readReply(reply: unknown): readonly StreamRecord[] {
  if (!Array.isArray(reply) || reply.length === 0) return [];
  const entries = typeof reply[0] === 'string' ? reply[1] : reply[0][1];
  return toRecords(entries as readonly StreamEntry[]);
}

export interface QueueState {
  readonly sameEpoch: boolean;
  readonly length: number;
  /** '' = empty. */
  readonly firstId: string;
  readonly serverMs: number;
}

/** `epoch` '' = any. */
export async function readQueueState(client: RedisClient, keys: ShardKeys, epoch: string): Promise<QueueState> {
  const reply = (await runScript(client, 'queueState', [keys.epoch, keys.log, epoch])) as [
    number,
    number,
    string,
    number,
  ];
  return { sameEpoch: reply[0] === 1, length: reply[1], firstId: reply[2], serverMs: reply[3] };
}
