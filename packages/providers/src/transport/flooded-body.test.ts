import { expect, test } from 'bun:test';
import { Held, Room } from '@llm0/core/async/room';
import { UpstreamBody } from './read-body';

const KIB = 1024;

function bodyOf(held: Held, chunks: readonly number[]): UpstreamBody {
  const left = [...chunks];
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      const bytes = left.shift();
      if (bytes === undefined) controller.close();
      else controller.enqueue(new Uint8Array(bytes));
    },
  });
  const { signal } = new AbortController();
  return new UpstreamBody(stream, { provider: 'p', idleTimeoutMs: 1000, room: held, signal });
}

test('few answers of a key may come faster than they are passed on; one that comes calmly again counts no more', async () => {
  const room = new Room({ maxFloodsOfKey: 1 });
  const [first, second] = [new Held(room), new Held(room)];
  const flooding = bodyOf(first, [200 * KIB, 50 * KIB, 8 * KIB]);
  await flooding.readChunk();
  await flooding.readChunk();
  expect(first.isFlooded).toBe(true);
  await expect(bodyOf(second, [200 * KIB]).readChunk()).rejects.toMatchObject({ kind: 'overloaded' });
  await flooding.readChunk();
  expect(first.isFlooded).toBe(false);
  await bodyOf(second, [200 * KIB]).readChunk();
  expect(second.isFlooded).toBe(true);
});

test('answers below 100 kB never count, however many there are', async () => {
  const room = new Room({ maxFloodsOfKey: 1 });
  const bodies = Array.from({ length: 500 }, () => bodyOf(new Held(room), [99_999]));
  const chunks = await Promise.all(bodies.map((body) => body.readChunk()));
  expect(chunks.every((chunk) => chunk?.byteLength === 99_999)).toBe(true);
});
