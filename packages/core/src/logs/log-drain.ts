// While the sink is away, the current batch retries with back-off and nothing new is read. A permanently invalid record
// is set aside and acknowledged, so that it blocks nothing.
import { DrainPace } from './drain-pace';
import { writeInHalves } from './in-halves';
import { Linger } from './linger';
import type { LogQueue, QueuedRecord } from './log-queue';

/** The counters were rebuilt after these records were read: the sums don't include them. */
export class RecordsOutdatedError extends Error {
  override readonly name = 'RecordsOutdatedError';
}

/** All but some records were stored: whether those are new, only a store knows that is away. */
export class RecordsWaitError extends Error {
  override readonly name = 'RecordsWaitError';

  /** `waiting`: their places among the records. */
  constructor(readonly waiting: ReadonlySet<number>) {
    super(`${waiting.size} records wait`);
  }
}

/** Destination of records. All calls throw without the store. */
export interface LogSink {
  /** Call before each read: later records may be stored. */
  prepare(): Promise<void>;
  /**
   * Idempotent by record id; all or nothing. Throws `RecordsRejectedError` when the records themselves are at fault,
   * `RecordsOutdatedError` when the counters were rebuilt since `prepare`, and `RecordsWaitError` when it stored the others.
   */
  store(records: readonly string[]): Promise<void>;
  /** Stores an invalid record where an operator finds it. */
  setAside(record: string, reason: string): Promise<void>;
}

export interface LogDrainOptions {
  readonly queue: LogQueue;
  readonly sink: LogSink;
  /** Waits, or returns early (false) when the drain is stopped. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** A failed attempt; `attempt` counts from 1 and starts over after a success. */
  readonly onFailure: (error: unknown, attempt: number) => void;
  /** Asked before each read; 1,000 by default. */
  readonly batchSize?: () => Promise<number>;
  /** Time that a read waits for the first entry. */
  readonly waitMs?: number;
  /** Pause after an incomplete batch; `Linger` by default. */
  readonly lingerMs?: number | undefined;
  readonly nowMs?: () => number;
}

const FIRST_BACK_OFF_MS = 100;
const BACK_OFF_CEILING_MS = 5_000;
/** Entries read or acknowledged by one command: more would hold up the store and this process for milliseconds. */
const ENTRIES_A_COMMAND = 250;
/** After a read of which nothing could be stored yet. */
const WAITING_MS = 1000;

/** Moves entries from the queue to the sink until stopped. One at a time per reader. */
export class LogDrain {
  private readonly controller = new AbortController();
  private readonly nowMs: () => number;
  private readonly pace: DrainPace;
  private readonly linger = new Linger();
  private running: Promise<void> | undefined;

  constructor(private readonly options: LogDrainOptions) {
    const { queue, nowMs = () => performance.now() } = options;
    this.nowMs = nowMs;
    this.pace = new DrainPace({ nowMs, depth: async () => (await queue.depth()).entries });
  }

  start(): void {
    this.running ??= this.run();
  }

  /** Finishes the current batch, or gives up while the sink is away; unacknowledged entries come back later. */
  async stop(): Promise<void> {
    this.controller.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { batchSize: sizeNow, waitMs = 500, lingerMs, sleep } = this.options;
    const { signal } = this.controller;
    while (!signal.aborted) {
      const { queue, sink } = this.options;
      if ((await this.persist(() => prepare(sink))) === undefined) continue;
      const batchSize = (await sizeNow?.()) ?? 1000;
      const startMs = this.nowMs();
      const entries = await this.persist(() => readBatch(queue, batchSize, waitMs));
      if (entries === undefined || entries.length === 0) continue;
      const stored = await this.persist(() => storeEntries({ queue, sink }, entries));
      // The rows are stored: if this fails, the entries return and are recognized.
      if (stored !== undefined) await this.persist(() => acknowledge(queue, stored));
      const isBacklog = entries.length === batchSize;
      if (!isBacklog) this.pace.reset();
      const isWaiting = stored?.length === 0;
      const pauseMs = isWaiting
        ? WAITING_MS
        : isBacklog
          ? await this.pace.pauseMs({ records: stored?.length ?? 0, tookMs: this.nowMs() - startMs })
          : (lingerMs ?? this.linger.after(entries.length));
      if (pauseMs > 0 && !signal.aborted) await sleep(pauseMs, signal);
    }
  }

  /** Tries until it works or the drain is stopped (undefined). */
  private async persist<T>(work: () => Promise<T>): Promise<T | undefined> {
    const { signal } = this.controller;
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        this.options.onFailure(error, attempt);
        if (signal.aborted) return undefined;
        await this.options.sleep(Math.min(FIRST_BACK_OFF_MS * 2 ** (attempt - 1), BACK_OFF_CEILING_MS), signal);
        if (signal.aborted) return undefined;
      }
    }
  }
}

/** Stores the current queue without waiting; returns the number of entries. Throws while the sink is away. */
export async function drainNow(queue: LogQueue, sink: LogSink, batchSize = 1000): Promise<number> {
  let total = 0;
  for (;;) {
    await sink.prepare();
    const entries = await queue.read(batchSize, 0);
    if (entries.length === 0) return total;
    const stored = await storeEntries({ queue, sink }, entries);
    if (stored.length === 0) return total;
    await acknowledge(queue, stored);
    total += entries.length;
  }
}

const prepare = async (sink: LogSink): Promise<true> => {
  await sink.prepare();
  return true;
};

const acknowledge = async (queue: LogQueue, entries: readonly QueuedRecord[]): Promise<true> => {
  for (let i = 0; i < entries.length; i += ENTRIES_A_COMMAND) {
    await queue.acknowledge(entries.slice(i, i + ENTRIES_A_COMMAND).map((entry) => entry.entryId));
  }
  return true;
};

/** Throws only for the first read: later failures keep the records read so far. */
async function readBatch(queue: LogQueue, batchSize: number, waitMs: number): Promise<readonly QueuedRecord[]> {
  const found = new Map<string, QueuedRecord>();
  let wanted = Math.min(batchSize, ENTRIES_A_COMMAND);
  let part = await queue.read(wanted, waitMs);
  for (;;) {
    const before = found.size;
    for (const entry of part) found.set(entry.entryId, entry);
    // A reader that takes over from a dead one may be given the same entries again.
    if (part.length < wanted || found.size < before + part.length || found.size >= batchSize) break;
    wanted = Math.min(batchSize - found.size, ENTRIES_A_COMMAND);
    part = await queue.read(wanted, 0).catch(() => []);
  }
  return [...found.values()];
}

interface Ends {
  readonly queue: LogQueue;
  readonly sink: LogSink;
}

/** Returns the entries that are done with; a record that is rejected by itself is set aside. */
async function storeEntries({ queue, sink }: Ends, entries: readonly QueuedRecord[]): Promise<readonly QueuedRecord[]> {
  const done: QueuedRecord[] = [];
  const store = async (some: readonly QueuedRecord[]) => {
    const records = some.map(({ record }) => record);
    try {
      await sink.store(records);
      done.push(...some);
    } catch (error) {
      // Those that wait are read again.
      if (error instanceof RecordsWaitError) done.push(...some.filter((_, at) => !error.waiting.has(at)));
      else if (error instanceof RecordsOutdatedError) queue.handBack(records);
      else throw error;
    }
  };
  await writeInHalves(entries, store, async (entry, { message }) => {
    await sink.setAside(entry.record, message);
    done.push(entry);
  });
  return done;
}
