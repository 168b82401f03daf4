import { describe, expect, test } from 'bun:test';
import { undisturbedMs } from '@llm0/testing/thread-time';
import { BatchWriter } from './batch-writer';
import { RecordsRejectedError } from './decode-log-record';

/** A sink that can be away, and refuses some items. */
function createSink(options: { refuses?: (item: string) => boolean } = {}) {
  const sink = {
    away: false,
    batches: [] as string[][],
    dropped: 0,
    write: async (items: readonly string[]) => {
      await Bun.sleep(1);
      if (sink.away) throw new Error('away');
      if (items.some((item) => options.refuses?.(item))) throw new RecordsRejectedError('bad data');
      sink.batches.push([...items]);
    },
    bytesOf: (item: string) => item.length,
    onDrop: (items: number) => {
      sink.dropped += items;
    },
  };
  return sink;
}

describe('BatchWriter', () => {
  test('writes collected rows together, in order, after a delay', async () => {
    const sink = createSink();
    const writer = new BatchWriter({ ...sink, everyMs: 10 });
    writer.add('a');
    writer.add('b');
    expect(sink.batches).toEqual([]);
    await Bun.sleep(40);
    writer.add('c');
    await writer.flush(1000);
    expect(sink.batches).toEqual([['a', 'b'], ['c']]);
    expect(writer.size).toBe(0);
  });

  test('too many or too large: dropped and counted, and room again after a write', async () => {
    const sink = createSink();
    const writer = new BatchWriter({ ...sink, maxEntries: 3, maxBytes: 5 });
    for (const item of ['12', '34', '56', '7', '8']) writer.add(item);
    expect(sink.dropped).toBe(2);
    await writer.flush(1000);
    writer.add('9');
    await writer.flush(1000);
    expect(sink.batches).toEqual([['12', '34', '7'], ['9']]);
    expect(sink.dropped).toBe(2);
  });

  test('while the sink is away everything waits, and is written once it is back', async () => {
    const sink = createSink();
    const writer = new BatchWriter({ ...sink, everyMs: 5, write: (items) => sink.write(items) });
    sink.away = true;
    writer.add('a');
    await Bun.sleep(30);
    writer.add('b');
    expect(writer.size).toBe(2);
    sink.away = false;
    while (writer.size > 0) await Bun.sleep(5);
    expect(sink.batches.flat()).toEqual(['a', 'b']);
    expect(sink.dropped).toBe(0);
    writer.stop();
  });

  test('an item the sink never takes goes alone', async () => {
    const sink = createSink({ refuses: (item) => item === 'x' });
    const writer = new BatchWriter(sink);
    for (const item of ['a', 'x', 'b', 'c', 'x']) writer.add(item);
    await writer.flush(1000);
    expect(sink.batches.flat()).toEqual(['a', 'b', 'c']);
    expect(sink.dropped).toBe(2);
    expect(writer.size).toBe(0);
  });

  test('a flush ends in time although the sink hangs', async () => {
    const writer = new BatchWriter({ write: () => new Promise(() => {}), bytesOf: () => 1, onDrop: () => {} });
    writer.add('a');
    const startMs = undisturbedMs();
    await writer.flush(50);
    expect(undisturbedMs() - startMs).toBeLessThan(500);
    writer.stop();
  });
});
