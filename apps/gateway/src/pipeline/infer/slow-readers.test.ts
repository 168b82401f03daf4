import { expect, test } from 'bun:test';
import { isAll } from '@llm0/testing/lane';
import { inferForEachTest } from './open-infer.fixture';

/** Longer than a busy machine leaves this process alone, as a rule. */
const IDLE_MS = 250;
/** An answer may pause for an idle time-out as often as it likes: sixty of them in all were a bound once. */
const LONG = isAll ? 70 : 8;
const LONG_MS = LONG * IDLE_MS;

const openAny = inferForEachTest();
const open = () => openAny({ idleTimeoutMs: IDLE_MS });

const piece = new TextEncoder().encode('x'.repeat(100));

/** Pieces without an end known before, each as soon as it is wanted or after a pause. */
const answerOf = (pieces: number, pauseMs = 0) => {
  let sent = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (pauseMs > 0) await Bun.sleep(pauseMs);
        if (sent++ < pieces) controller.enqueue(piece);
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { 'cache-control': 'no-store' } });
};

test('a reader that takes its time gets all of it, however long that is', async () => {
  const { ask, world, rows } = await open();
  world.origin = () => answerOf(100);
  const reader = (await ask('/x')).body?.getReader();
  const startMs = performance.now();
  let bytes = 0;
  for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
    bytes += read.value.byteLength;
    await Bun.sleep(LONG_MS / 100);
  }
  expect(performance.now() - startMs).toBeGreaterThan((LONG - 1) * IDLE_MS);
  expect(bytes).toBe(100 * piece.byteLength);
  expect(await rows()).toMatchObject([{ status: 'success', costNanoUsd: 1000 }]);
}, 60_000);

test('a backend that goes on sending is heard to its end, one that falls silent is not', async () => {
  const { ask, world, rows } = await open();
  world.origin = () => answerOf(LONG_MS / 5, 5);
  const whole = await ask('/x');
  expect((await whole.bytes()).byteLength).toBe((LONG_MS / 5) * piece.byteLength);
  world.origin = () => answerOf(3, 5 * IDLE_MS);
  const silent = await ask('/y');
  expect([silent.status, (await silent.json()).error.code]).toEqual([504, 'upstream_timeout']);
  expect(await rows()).toMatchObject([
    { status: 'success' },
    { status: 'error', errorCode: 'upstream_timeout', costNanoUsd: 1000 },
  ]);
}, 60_000);
