import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { callAdmin } from '../stores/start-gateway';
import { undisturbedMs } from '../thread-time';
import {
  ask,
  ON_ONE_KIND,
  postChat,
  settledLedger,
  shareEnvironment,
  type TestEnvironment,
  waitUntil,
} from './environment';
import { type ErrorBody, FIRST, openCaller, SECOND, THIRD, textOf } from './failover.fixture';

const SETUP_MS = 60_000;
const REQUEST_TIMEOUT_MS = 1000;
const TIMEOUT = `${REQUEST_TIMEOUT_MS}ms`;
/** Too little for a second attempt at the same target. */
const HASTY = { REQUEST_TIMEOUT: TIMEOUT, ANSWER_TIMEOUT: TIMEOUT, STREAM_IDLE_TIMEOUT: '700ms' };

for (const kind of ON_ONE_KIND) {
  describe(`failover from vendors that hang (${kind} stores)`, () => {
    let world: TestEnvironment;
    let caller: Awaited<ReturnType<typeof openCaller>>;
    let first = FIRST;
    beforeAll(async () => {
      world = await shareEnvironment({ kind, env: HASTY });
      caller = await openCaller(world);
    }, SETUP_MS);
    afterAll(() => world.close(), SETUP_MS);
    beforeEach(async () => {
      world.upstream.control.reset();
      first = await caller.newFirst();
    });
    const post = (text: string, stream: boolean, more: Record<string, unknown> = {}) =>
      caller.post(text, first, { stream, ...more });

    test('a plain answer that hangs is asked for elsewhere only by an alias that wants it', async () => {
      world.upstream.control.setModel(first, { hang: true });
      world.upstream.control.setModel(SECOND, { text: 'second' });
      const plain = await post('hangs', false);
      const { error } = (await plain.json()) as ErrorBody;
      expect([plain.status, error.code, world.upstream.requests.length]).toEqual([504, 'upstream_timeout', 1]);
      expect(error.message).toBe(`openai/${first} did not answer within ${REQUEST_TIMEOUT_MS} ms.`);
      const targets = [
        { provider: 'openai', model: first, answer_timeout_ms: 300 },
        { provider: 'anthropic', model: SECOND },
      ];
      await callAdmin(world.gateway, '/aliases', {
        method: 'POST',
        body: { alias: 'patient', targets, retry_timeouts: true },
      });
      const answer = await postChat(world.gateway, caller.apiKey, ask('hangs', { model: 'patient' }));
      expect([answer.status, answer.headers.get('x-provider')]).toEqual([200, 'anthropic']);
    }, 15_000);

    test('two hang: the third answers within twice the time-out', async () => {
      for (const model of [first, SECOND]) world.upstream.control.setModel(model, { hang: true });
      world.upstream.control.setModel(THIRD, { text: 'third' });
      const startMs = undisturbedMs(world.gateway.pid);
      const answer = await post('two hang', true);
      expect(await textOf(answer, true)).toBe('third');
      expect(answer.headers.get('x-provider')).toBe('gemini');
      expect(undisturbedMs(world.gateway.pid) - startMs).toBeLessThan(2 * REQUEST_TIMEOUT_MS + 500);
      await waitUntil(() => world.upstream.control.counters.cancelled === 2);
    }, 15_000);

    test('signs of life without any output: the next one answers, and nothing of the first is seen', async () => {
      // OpenAI's first chunk has the role only.
      world.upstream.control.setModel(first, { hangAfter: 0, reasoning: undefined });
      world.upstream.control.setModel(SECOND, { text: 'whole' });
      const answer = await post('role only', true);
      expect(await textOf(answer, true)).toBe('whole');
      expect(answer.headers.get('x-provider')).toBe('anthropic');
    }, 15_000);

    test('a caller who leaves while targets are tried cancels everything within a second', async () => {
      world.upstream.control.setModel(first, { status: 500 });
      world.upstream.control.setModel(SECOND, { hang: true });
      const controller = new AbortController();
      const asking = post('leaves', false).catch(() => undefined);
      const answer = postChat(world.gateway, caller.apiKey, ask('leaves too', { model: first }), {
        signal: controller.signal,
      });
      await waitUntil(() => world.upstream.requests.filter(({ path }) => path === '/v1/messages').length === 2);
      controller.abort();
      await expect(answer).rejects.toThrow();
      await waitUntil(() => world.upstream.control.counters.cancelled === 1, 1000);
      await asking;
    }, 15_000);

    test('the books are even, and no hold is left', async () => {
      const ledger = await settledLedger(world.gateway);
      expect(ledger).toMatchObject({ ok: true, open_holds: 0, queue_depth: 0 });
    }, 40_000);
  });
}
