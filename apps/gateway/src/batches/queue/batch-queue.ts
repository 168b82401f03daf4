// Postgres unreachable: the queue polls on; a chunk under way goes on in memory and is taken again by whoever comes back.
import { createHash } from 'node:crypto';
import { connectDatabase, type Database } from '@llm0/drizzle/client';
import { toArrayText } from '@llm0/drizzle/queries/array-text';
import type { PgBoss } from 'pg-boss';

/** Schema of pg-boss's own tables. */
export const QUEUE_SCHEMA = 'llm0_jobs';
const QUEUE = 'batch-chunks';
/** A process that doesn't report for so long is dead: another one takes its chunks. */
const HEARTBEAT_SECONDS = 10;
const DAY_SECONDS = 86_400;
/** Chunks of later than that are found by polling alone. */
const LONGEST_TIMER_MS = 60_000;
/** Chunks at a time in one process: a batch that waits for a limit doesn't hold up the others. */
export const CHUNKS_AT_ONCE = 4;

/** Lines [from, to) of a batch; none: only look whether the batch is at its end, or (below 0) whether its vendor's is. */
export interface Chunk {
  readonly batchId: string;
  readonly from: number;
  readonly to: number;
  /** Not before; epoch milliseconds. */
  readonly atMs?: number;
  /** Only lines that run here while a vendor has the others. */
  readonly isOwn?: true;
  /** Lines for which an earlier run has lowered the batch's hold. */
  readonly drawn?: readonly number[];
}

export interface QueueOptions {
  readonly database: Pick<Database, 'client' | 'kind'>;
  /** Absent with the embedded database, which has one connection for all. */
  readonly databaseUrl: string | undefined;
  /** Absent: this process adds chunks, and runs none. */
  readonly run: ((chunk: Chunk) => Promise<void>) | undefined;
  readonly onError: (error: unknown) => void;
}

/** The durable queue of chunks, on one connection: a transaction of it must not be another one's. */
export class BatchQueue {
  /** Until workers look for chunks of later. */
  private readonly timers = new Set<ReturnType<typeof setTimeout>>();

  private constructor(
    private readonly boss: PgBoss,
    private readonly workers: readonly string[],
    private readonly closeConnection: () => Promise<void>,
  ) {}

  /** Loads and starts pg-boss, which makes its tables once. */
  static async open({ database, databaseUrl, run, onError }: QueueOptions): Promise<BatchQueue> {
    const { PgBoss } = await import('pg-boss');
    const isEmbedded = database.kind === 'embedded';
    const own = databaseUrl === undefined ? undefined : connectDatabase({ url: databaseUrl }, { maxConnections: 1 });
    const { client } = own ?? database;
    const boss = new PgBoss({
      db: { executeSql: (text: string, values?: unknown[]) => executeSql(client, text, values) },
      ...{ schema: QUEUE_SCHEMA, backend: isEmbedded ? 'pglite' : 'postgres', schedule: false },
      ...{ superviseIntervalSeconds: 5, monitorIntervalSeconds: 5, reindex: false, monitorVacuum: false },
    });
    boss.on('error', onError);
    await boss.start();
    await boss.createQueue(QUEUE, {
      ...{ retryLimit: 10_000, retryDelay: 1, heartbeatSeconds: HEARTBEAT_SECONDS },
      ...{ expireInSeconds: DAY_SECONDS - 1, retentionSeconds: 3 * DAY_SECONDS, deleteAfterSeconds: 3 * DAY_SECONDS },
    });
    // The process that had them is gone: there is only one with an embedded database.
    if (isEmbedded) await boss.deleteAllJobs(QUEUE);
    const options = { batchSize: 1, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true };
    const workers: string[] = [];
    // Several workers of one call can't be woken.
    while (run !== undefined && workers.length < CHUNKS_AT_ONCE) {
      const id = await boss.work<Chunk>(QUEUE, options, async ([job]) => {
        if (job !== undefined) await run(job.data);
      });
      workers.push(id);
    }
    return new BatchQueue(boss, workers, async () => own?.close());
  }

  /** Adds chunks; one that was added before isn't added again. */
  async add(chunks: readonly Chunk[]): Promise<void> {
    const jobs = chunks.map(({ atMs, ...data }) => ({
      ...{ id: jobId(data), data },
      ...(atMs === undefined ? {} : { startAfter: new Date(atMs).toISOString() }),
    }));
    await this.boss.insert(QUEUE, jobs);
    this.wake();
  }

  /** Has a chunk run once more. */
  async addAgain(chunk: Chunk): Promise<void> {
    const { atMs, ...data } = chunk;
    const startAfter = atMs === undefined ? {} : { startAfter: new Date(atMs).toISOString() };
    await this.boss.insert(QUEUE, [{ data, ...startAfter }]);
    const waitMs = atMs === undefined ? 0 : atMs - Date.now();
    if (waitMs <= 0) return this.wake();
    if (waitMs > LONGEST_TIMER_MS) return;
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      this.wake();
    }, waitMs);
    this.timers.add(timer);
  }

  /** Has this process's workers look now: they look twice a second by themselves. */
  wake(): void {
    for (const id of this.workers) this.boss.notifyWorker(id);
  }

  /** Waits for chunks under way, which end early by themselves. */
  async close(timeoutMs: number): Promise<void> {
    for (const timer of this.timers) clearTimeout(timer);
    await this.boss.stop({ graceful: true, timeout: timeoutMs });
    await this.closeConnection();
  }
}

/** The same for the same lines, as a UUID. */
function jobId({ batchId, from, to, isOwn }: Chunk): string {
  const hash = createHash('sha256')
    .update(`${batchId} ${from} ${to}${isOwn === true ? ' own' : ''}`)
    .digest('hex');
  const cuts = [0, 8, 12, 16, 20, 32];
  return cuts
    .slice(1)
    .map((end, index) => hash.slice(cuts[index], end))
    .join('-');
}

/**
 * Without values there may be several statements, with their own transaction. pg-boss's values are texts, numbers, dates,
 * lists and JSON.
 */
export async function executeSql(client: Database['client'], text: string, values: unknown[] = []) {
  if (values.length > 0) return { rows: withLists(await client.unsafe(text, values.map(asParameter) as never)) };
  try {
    const results = (await client.unsafe(text).simple()) as unknown as unknown[];
    return { rows: results.flat() };
  } catch (error) {
    await client.unsafe('rollback').catch(() => {});
    throw error;
  }
}

interface Result extends Iterable<Record<string, unknown>> {
  readonly columns?: readonly { readonly name: string; readonly type: number }[];
}

/** Types of lists of numbers, texts and UUIDs. The client knows no lists, and pg-boss counts by them which jobs live. */
const LISTS: ReadonlySet<number> = new Set([1005, 1007, 1009, 1015, 1016, 2951]);

function withLists(result: Result): Record<string, unknown>[] {
  const lists = (result.columns ?? []).filter(({ type }) => LISTS.has(type)).map(({ name }) => name);
  return [...result].map((row) => {
    const read = lists.flatMap((name) => (typeof row[name] === 'string' ? [[name, listOf(row[name])] as const] : []));
    return read.length === 0 ? row : { ...row, ...Object.fromEntries(read) };
  });
}

const listOf = (text: string): string[] => (text === '{}' ? [] : text.slice(1, -1).split(','));

function asParameter(value: unknown): unknown {
  if (Array.isArray(value)) return toArrayText(value);
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value;
}
