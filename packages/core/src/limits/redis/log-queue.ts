// Without Redis, `read` and `acknowledge` throw `store_unavailable`; entries stay queued.
import type { Redis } from 'ioredis';
import type { LogQueue, QueueDepth, QueuedRecord } from '../../logs/log-queue';
import type { ShardKeys } from './keys';
import { type RedisClient, runScript } from './scripts';

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

/** Entries of one shard's queue from an id on (`(id` = after it), up to one if given, without acknowledgement. */
export async function readQueue(
  client: RedisClient,
  keys: ShardKeys,
  { from, to = '+', count }: { readonly from: string; readonly to?: string; readonly count: number },
): Promise<readonly StreamRecord[]> {
  return toRecords((await client.xrange(keys.log, from, to, 'COUNT', count)) as readonly StreamEntry[]);
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
}

/** Before the first entry. */
const START = '0-0';

/** One stream a shard; an acknowledged entry is deleted. Readers share nothing: each has whatever is still there. */
export class RedisLogQueue implements Omit<LogQueue, 'handBack'> {
  /** The last entries given out, by shard: an acknowledgement or the end of a stream begins at its start again. */
  private readonly given = new Map<ShardKeys, string>();

  constructor(private readonly options: RedisLogQueueOptions) {}

  async read(max: number, waitMs: number): Promise<readonly QueuedRecord[]> {
    const deadline = performance.now() + waitMs;
    for (;;) {
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
      this.given.delete(keys);
      const ids = byShard.get(keys);
      if (ids === undefined) byShard.set(keys, [id]);
      else ids.push(id);
    }
    for (const [keys, ids] of byShard) {
      for (let i = 0; i < ids.length; i += 1000) {
        await this.options.client.xdel(keys.log, ...ids.slice(i, i + 1000));
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
    const wait: ['BLOCK', number] | [] = blockMs > 0 ? ['BLOCK', blockMs] : [];
    const after = this.given.get(keys) ?? START;
    const reply = await (this.options.reader as Redis).call('XREAD', 'COUNT', max, ...wait, 'STREAMS', keys.log, after);
    const records = readReply(reply);
    this.given.set(keys, records.at(-1)?.id ?? START);
    return toQueued(keys, records);
  }
}

function toQueued(keys: ShardKeys, records: readonly StreamRecord[]): QueuedRecord[] {
  return records.map(({ id, record }) => ({ entryId: `${keys.shard}:${id}`, record }));
}

/** XREAD replies null, `[[stream, entries]]` or (RESP3) a flat `[stream, entries]`. */
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
