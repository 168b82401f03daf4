import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { RecordsRejectedError } from './decode-log-record';
import { drainNow, LogDrain, type LogSink, RecordsOutdatedError, RecordsWaitError } from './log-drain';
import type { LogQueue } from './log-queue';

class MemoryQueue implements LogQueue {
  readonly entries: { entryId: string; record: string; taken: boolean }[] = [];
  readonly handedBack: string[] = [];
  readFailures = 0;

  push(...records: string[]): void {
    for (const record of records) this.entries.push({ entryId: String(this.entries.length), record, taken: false });
  }

  async read(max: number) {
    await Bun.sleep(0);
    if (this.readFailures-- > 0) throw new Error('queue away');
    const batch = this.entries.filter((entry) => !entry.taken).slice(0, max);
    for (const entry of batch) entry.taken = true;
    return batch.map(({ entryId, record }) => ({ entryId, record }));
  }

  async acknowledge(ids: readonly string[]) {
    for (const id of ids)
      this.entries.splice(
        this.entries.findIndex((entry) => entry.entryId === id),
        1,
      );
  }

  handBack(records: readonly string[]) {
    this.handedBack.push(...records);
  }

  async depth() {
    return { entries: this.entries.length, oldestAgeMs: 0 };
  }
}

/** Rejects batches with a record starting with `bad`; is away for the first `failures` calls. */
class MemorySink implements LogSink {
  readonly stored: string[] = [];
  readonly aside: string[] = [];
  calls = 0;
  fence = 0;
  private preparedFor = 0;
  constructor(private failures = 0) {}

  async prepare() {
    this.preparedFor = this.fence;
  }

  async store(records: readonly string[]) {
    this.calls++;
    if (this.preparedFor !== this.fence) throw new RecordsOutdatedError('rebuilt meanwhile');
    if (this.failures-- > 0) throw new Error('sink away');
    if (records.some((record) => record.startsWith('bad'))) throw new RecordsRejectedError('bad data');
    this.stored.push(...records);
  }

  async setAside(record: string) {
    this.aside.push(record);
  }
}

async function waitFor(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 500 && !condition(); turn++) await Bun.sleep(1);
  expect(condition()).toBe(true);
}

function drainOf(queue: LogQueue, sink: LogSink, failures: number[] = []) {
  const options = {
    queue,
    sink,
    sleep: async () => {},
    onFailure: (_: unknown, attempt: number) => failures.push(attempt),
  };
  return new LogDrain({ ...options, batchSize: async () => 3 });
}

describe('log drain', () => {
  test('stores in order, acknowledges, and goes on with what comes later', async () => {
    const [queue, sink] = [new MemoryQueue(), new MemorySink()];
    queue.push('a', 'b', 'c', 'd');
    const drain = drainOf(queue, sink);
    drain.start();
    await waitFor(() => queue.entries.length === 0);
    queue.push('e');
    await waitFor(() => queue.entries.length === 0);
    await drain.stop();
    expect(sink.stored).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  test('keeps the batch in hand while the sink is away', async () => {
    const [queue, sink, failures] = [new MemoryQueue(), new MemorySink(4), [] as number[]];
    queue.push('a', 'b');
    const drain = drainOf(queue, sink, failures);
    drain.start();
    await waitFor(() => queue.entries.length === 0);
    await drain.stop();
    expect(sink.stored).toEqual(['a', 'b']);
    expect(failures).toEqual([1, 2, 3, 4]);
  });

  test('survives a queue that is away', async () => {
    const [queue, sink] = [new MemoryQueue(), new MemorySink()];
    queue.readFailures = 3;
    queue.push('a');
    const drain = drainOf(queue, sink);
    drain.start();
    await waitFor(() => sink.stored.length === 1);
    await drain.stop();
  });

  test('entries read before a rebuild go back unacknowledged', async () => {
    const [queue, sink] = [new MemoryQueue(), new MemorySink()];
    const read = queue.read.bind(queue);
    queue.read = async (max) => {
      const batch = await read(max);
      if (batch.some(({ record }) => record === 'old')) sink.fence++;
      return batch;
    };
    queue.push('old');
    const drain = drainOf(queue, sink);
    drain.start();
    await waitFor(() => queue.handedBack.length > 0);
    queue.push('new');
    await waitFor(() => sink.stored.length > 0);
    await drain.stop();
    expect(queue.handedBack).toEqual(['old']);
    expect(sink.stored).toEqual(['new']);
    expect(queue.entries.map(({ record }) => record)).toEqual(['old']);
  });

  test('a batch is read and acknowledged in parts, and stored at once', async () => {
    const [queue, sink] = [new MemoryQueue(), new MemorySink()];
    const records = Array.from({ length: 1100 }, (_, index) => String(index));
    queue.push(...records);
    const [reads, acknowledged]: [number[], number[]] = [[], []];
    const [read, acknowledge] = [queue.read.bind(queue), queue.acknowledge.bind(queue)];
    queue.read = (max) => {
      reads.push(max);
      return read(max);
    };
    queue.acknowledge = (ids) => {
      acknowledged.push(ids.length);
      return acknowledge(ids);
    };
    const drain = new LogDrain({ queue, sink, sleep: async () => {}, onFailure: () => {} });
    drain.start();
    await waitFor(() => queue.entries.length === 0);
    await drain.stop();
    expect(sink.stored).toEqual(records);
    expect(sink.calls).toBe(2);
    expect(Math.max(...reads)).toBe(250);
    expect(acknowledged).toEqual([250, 250, 250, 250, 100]);
  });

  test('read entries are stored even if the queue disappears', async () => {
    const [queue, sink] = [new MemoryQueue(), new MemorySink()];
    queue.push(...Array.from({ length: 600 }, (_, index) => String(index)));
    const read = queue.read.bind(queue);
    let reads = 0;
    queue.read = async (max) => {
      if (++reads === 2) throw new Error('queue away');
      return await read(max);
    };
    const drain = new LogDrain({ queue, sink, sleep: async () => {}, onFailure: () => {} });
    drain.start();
    await waitFor(() => queue.entries.length === 0);
    await drain.stop();
    expect(sink.stored).toHaveLength(600);
    expect(sink.calls).toBe(2);
  });

  test('entries given twice before they are acknowledged are stored once', async () => {
    const [queue, sink] = [new MemoryQueue(), new MemorySink()];
    queue.push(...Array.from({ length: 300 }, (_, index) => String(index)));
    queue.read = async (max) => {
      await Bun.sleep(0);
      return queue.entries.slice(0, max).map(({ entryId, record }) => ({ entryId, record }));
    };
    const drain = new LogDrain({ queue, sink, sleep: async () => {}, onFailure: () => {} });
    drain.start();
    await waitFor(() => queue.entries.length === 0);
    await drain.stop();
    expect(sink.stored).toEqual(Array.from({ length: 300 }, (_, index) => String(index)));
  });

  test('while records keep coming in, a backlog is drained with pauses; with none, without', async () => {
    const pausesOf = async (incoming: number) => {
      const [queue, sink, pauses] = [new MemoryQueue(), new MemorySink(), [] as number[]];
      let nowMs = 0;
      const store = sink.store.bind(sink);
      sink.store = async (records) => {
        nowMs += 300;
        queue.push(...Array.from({ length: incoming }, () => 'new'));
        await store(records);
      };
      queue.push(...Array.from({ length: 8000 }, () => 'old'));
      const sleep = async (ms: number) => {
        pauses.push(ms);
        nowMs += ms;
      };
      const drain = new LogDrain({ queue, sink, sleep, onFailure: () => {}, nowMs: () => nowMs });
      drain.start();
      await waitFor(() => sink.stored.length >= 8000);
      await drain.stop();
      return pauses.filter((ms) => ms !== 250);
    };
    expect(await pausesOf(0)).toEqual([]);
    const pauses = await pausesOf(300);
    expect(pauses.length).toBeGreaterThan(3);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(1000);
  });

  test('records that wait stay in the queue, and others go on', async () => {
    const [queue, sink] = [new MemoryQueue(), new MemorySink()];
    const store = sink.store.bind(sink);
    let isAway = true;
    sink.store = async (records) => {
      const late = records.map((record) => isAway && record.startsWith('late'));
      await store(records.filter((_, at) => late[at] !== true));
      const waiting = new Set(late.flatMap((is, at) => (is ? [at] : [])));
      // Unacknowledged entries come back.
      for (const entry of queue.entries) entry.taken = false;
      if (waiting.size > 0) throw new RecordsWaitError(waiting);
    };
    queue.push('late1', 'a', 'b', 'c');
    const failures: number[] = [];
    const pauses: number[] = [];
    const sleep = async (ms: number) => {
      pauses.push(ms);
      await Bun.sleep(1);
    };
    const onFailure = (_: unknown, attempt: number) => failures.push(attempt);
    const drain = new LogDrain({ queue, sink, sleep, onFailure, batchSize: async () => 3 });
    drain.start();
    await waitFor(() => sink.stored.length === 3 && pauses.includes(1000));
    expect(queue.entries.map(({ record }) => record)).toEqual(['late1']);
    isAway = false;
    await waitFor(() => queue.entries.length === 0);
    await drain.stop();
    expect(sink.stored).toEqual(['a', 'b', 'c', 'late1']);
    expect(failures).toEqual([]);
  });

  test('stopped while the sink is away: nothing is acknowledged', async () => {
    const [queue, sink] = [new MemoryQueue(), new MemorySink(Number.POSITIVE_INFINITY)];
    queue.push('a');
    const drain = new LogDrain({ queue, sink, sleep: () => Bun.sleep(1), onFailure: () => {} });
    drain.start();
    await waitFor(() => sink.calls > 1);
    await drain.stop();
    expect(queue.entries).toHaveLength(1);
  });

  test('records at fault are set aside, all others stored, none twice', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { maxLength: 40 }),
        fc.integer({ min: 1, max: 50 }),
        async (kinds, batchSize) => {
          const [queue, sink] = [new MemoryQueue(), new MemorySink()];
          const records = kinds.map((bad, index) => `${bad ? 'bad' : 'good'}${index}`);
          queue.push(...records);
          expect(await drainNow(queue, sink, batchSize)).toBe(records.length);
          expect(sink.stored).toEqual(records.filter((record) => record.startsWith('good')));
          expect(sink.aside).toEqual(records.filter((record) => record.startsWith('bad')));
          expect(queue.entries).toEqual([]);
        },
      ),
    );
  });
});
