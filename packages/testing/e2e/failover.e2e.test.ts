import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { FakeBehaviour } from '../fake-upstream/behaviour';
import { hostGateway } from '../stores/host-gateway';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { undisturbedMs } from '../thread-time';
import {
  ask,
  logRow,
  ON_ONE_KIND,
  postChat,
  settledLedger,
  shareEnvironment,
  type TestEnvironment,
  waitUntil,
} from './environment';

const SETUP_MS = 60_000;
/** The preset chain of `gpt-4o-mini`. */
const FIRST = 'gpt-4o-mini';
const SECOND = 'claude-haiku-4-5-20251001';
const THIRD = 'gemini-2.5-flash';
const REQUEST_TIMEOUT_MS = 2000;

interface Attempt {
  readonly provider: string;
  readonly model: string;
  readonly outcome: string;
  readonly status?: number | null;
}

interface Row {
  readonly status: string;
  readonly cost_usd: number;
  readonly attempts: readonly Attempt[];
  readonly final_provider: string;
  readonly failover_count: number;
  readonly cost_estimated: boolean;
  readonly cost_detail: Record<string, number> | null;
}

interface ErrorBody {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly attempts: readonly { provider: string; failure: string }[];
  };
}

/** Text of an answer, plain or streamed. */
async function textOf(answer: Response, stream: boolean): Promise<string> {
  const body = await answer.text();
  if (!stream)
    return (JSON.parse(body) as { choices: { message: { content: string } }[] }).choices[0]?.message.content ?? '';
  return body
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)) as { choices: { delta: { content?: string } }[] })
    .map((chunk) => chunk.choices[0]?.delta.content ?? '')
    .join('');
}

for (const kind of ON_ONE_KIND) {
  describe(`failover over three vendors (${kind} stores)`, () => {
    let world: TestEnvironment;
    let apiKey: string;
    beforeAll(async () => {
      const timeout = `${REQUEST_TIMEOUT_MS}ms`;
      const env = { REQUEST_TIMEOUT: timeout, ANSWER_TIMEOUT: timeout, STREAM_IDLE_TIMEOUT: '1s' };
      world = await shareEnvironment({ kind, env });
      apiKey = (await createTestKey(world.gateway)).apiKey;
    }, SETUP_MS);
    afterAll(() => world.close(), SETUP_MS);
    // Each test has models of its own as first target, so that breakers do not meet: dated versions use their family's chain.
    let serial = 0;
    let first = FIRST;
    beforeEach(async () => {
      world.upstream.control.reset();
      serial += 1;
      first = `gpt-4o-mini-2024-${String(1 + (serial % 12)).padStart(2, '0')}-${String(1 + (serial % 28)).padStart(2, '0')}`;
      await callAdmin(world.gateway, `/models?provider=openai&model=${first}`, {
        method: 'PUT',
        body: { input_usd_per_million: 0.15, output_usd_per_million: 0.6 },
      });
    });
    const rowOf = async (answer: Response) =>
      (await logRow(world.gateway, answer.headers.get('x-request-id') ?? '')) as unknown as Row;
    const post = (text: string, stream: boolean, more: Record<string, unknown> = {}) =>
      postChat(world.gateway, apiKey, ask(text, { model: first, stream, ...more }));

    test.each<[string, FakeBehaviour, { outcome: string; tries: number; status?: number }]>([
      ['hangs before its first byte', { hang: true }, { outcome: 'timeout', tries: 1 }],
      ['answers 429', { status: 429 }, { outcome: 'rate_limited', tries: 1, status: 429 }],
      [
        'answers 429 with Retry-After',
        { status: 429, retryAfter: '30' },
        { outcome: 'rate_limited', tries: 1, status: 429 },
      ],
      ['answers 401', { status: 401 }, { outcome: 'auth', tries: 1, status: 401 }],
      ['answers 403', { status: 403 }, { outcome: 'auth', tries: 1, status: 403 }],
      ['answers 404', { status: 404 }, { outcome: 'not_found', tries: 1, status: 404 }],
      ['answers 500', { status: 500 }, { outcome: 'server_error', tries: 2, status: 500 }],
      ['answers 529', { status: 529 }, { outcome: 'server_error', tries: 2, status: 529 }],
      ['answers 200 with garbage', { body: '{"nonsense":tr' }, { outcome: 'malformed', tries: 1 }],
      ['answers 200 with a page', { html: true }, { outcome: 'malformed', tries: 1 }],
    ])(
      'the first target %s: the next one answers, and what the first may bill is paid too',
      async (name, fake, expected) => {
        // A plain answer that timed out is not asked for elsewhere.
        for (const stream of fake.hang === true ? [true] : [false, true]) {
          world.upstream.control.setModel(first, fake);
          world.upstream.control.setModel(SECOND, { text: `saved ${name}` });
          const startMs = undisturbedMs(world.gateway.pid);
          const answer = await post(`${name} ${stream}`, stream);
          expect([name, stream, answer.status]).toEqual([name, stream, 200]);
          expect(await textOf(answer, stream)).toBe(`saved ${name}`);
          expect(undisturbedMs(world.gateway.pid) - startMs).toBeLessThan(2 * REQUEST_TIMEOUT_MS + 500);
          expect(answer.headers.get('x-provider')).toBe('anthropic');
          expect(answer.headers.get('x-model')).toBe(SECOND);
          expect(answer.headers.get('x-failover')).toBe('true');
          expect(answer.headers.get('x-original-provider')).toBe('openai');
          const row = await rowOf(answer);
          expect(row).toMatchObject({ status: 'success', final_provider: 'anthropic', failover_count: 1 });
          const failed = row.attempts.slice(0, -1);
          const outcomes = failed.map(({ outcome }) => outcome);
          const isCooling = stream && expected.outcome === 'rate_limited' && outcomes[0] === 'cooling_down';
          if (stream && fake.retryAfter !== undefined) expect(isCooling).toBe(true);
          if (isCooling) expect(outcomes).toEqual(['cooling_down']);
          else expect(outcomes).toEqual(Array.from({ length: expected.tries }, () => expected.outcome));
          if (!isCooling && expected.status !== undefined) expect(failed[0]?.status).toBe(expected.status);
          // 10 tokens in at $1, the words out at $5 a million: Anthropic's own price; of OpenAI's only what was not refused.
          expect(row.cost_usd).toBeGreaterThan(0);
          const isBilled = expected.status === undefined;
          expect([row.cost_detail?.other_attempts !== undefined, row.cost_estimated]).toEqual([isBilled, isBilled]);
          expect(Number(answer.headers.get('x-cost-usd') ?? row.cost_usd)).toBe(row.cost_usd);
        }
      },
      20_000,
    );

    test.each([400, 402, 409, 413, 422])('its own %i goes to the caller, and nobody else is asked', async (status) => {
      world.upstream.control.setModel(first, { status });
      const answer = await post(`own ${status}`, false);
      expect(answer.status).toBe([400, 413, 422].includes(status) ? status : 502);
      expect(((await answer.json()) as ErrorBody).error.code).toBe('upstream_rejected');
      expect(world.upstream.requests).toHaveLength(1);
    });

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
      const answer = await postChat(world.gateway, apiKey, ask('hangs', { model: 'patient' }));
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

    test('all fail: one clear error that lists every attempt, nothing charged', async () => {
      for (const model of [first, SECOND]) world.upstream.control.setModel(model, { status: 500 });
      world.upstream.control.setModel(THIRD, { status: 429, retryAfter: '11' });
      const answer = await post('all fail', false);
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toBe('11');
      const { error } = (await answer.json()) as ErrorBody;
      expect(error.code).toBe('upstream_unavailable');
      expect(error.attempts.map(({ provider, failure }) => `${provider} ${failure}`)).toEqual([
        'openai server_error',
        'openai server_error',
        'anthropic server_error',
        'anthropic server_error',
        'gemini rate_limited',
      ]);
      expect(await rowOf(answer)).toMatchObject({ status: 'error', cost_usd: 0, failover_count: 2 });
    });

    test('a break after the first output is an error frame, never another target; nothing is cached', async () => {
      world.upstream.control.setModel(first, { resetAfter: 3, chunks: 20, gapMs: 1 });
      for (const _again of [1, 2]) {
        const answer = await post('breaks', true);
        expect(answer.headers.get('x-cache-hit')).toBe('miss');
        const body = await answer.text();
        expect(body).toContain('"error":{');
        expect(body).not.toContain('[DONE]');
        expect((await rowOf(answer)).cost_usd).toBeGreaterThan(0);
      }
      expect(world.upstream.requests.every(({ body }) => body.model === first)).toBe(true);
    });

    test('a pinned fallback is not cached; that of a family is found again by the same request', async () => {
      world.upstream.control.setModel(FIRST, { status: 404 });
      const again = async (model: string) => {
        const answers = [];
        for (let i = 0; i < 2; i++) answers.push(await postChat(world.gateway, apiKey, ask('again', { model })));
        return answers.map((answer) => `${answer.headers.get('x-cache-hit')} ${answer.headers.get('x-provider')}`);
      };
      expect(await again(FIRST)).toEqual(['miss anthropic', 'exact anthropic']);
      world.upstream.control.setModel('gpt-4o-mini-2024-07-18', { status: 404 });
      expect(await again('gpt-4o-mini-2024-07-18')).toEqual(['miss anthropic', 'miss anthropic']);
    });

    test('a breaker opens, is shown, is passed over, and closes by itself after a probe', async () => {
      world.upstream.control.setModel(first, { status: 500 });
      for (let i = 0; i < 3; i++) await (await post(`open ${i}`, false)).text();
      const health = (await (await fetch(`${world.gateway.url}/healthz`)).json()) as {
        targets: { model: string; breaker: string }[];
      };
      expect(health.targets.find(({ model }) => model === first)?.breaker).toBe('open');
      const metrics = await (await fetch(`${world.gateway.url}/metrics`)).text();
      expect(metrics).toContain(`llm0_breaker_state{provider="openai",model="${first}"} 2`);
      const asked = () => world.upstream.requests.filter(({ body }) => body.model === first).length;
      const before = asked();
      const passed = await post('passed over', false);
      expect(passed.headers.get('x-failover')).toBe('true');
      expect((await rowOf(passed)).attempts.map(({ outcome }) => outcome)).toEqual(['breaker_open', 'ok']);
      expect(asked()).toBe(before);
      world.upstream.control.setModel(first, { text: 'back' });
      const endMs = performance.now() + 12_000;
      for (;;) {
        const answer = await post(`probe ${performance.now()}`, false);
        if (answer.headers.get('x-provider') === 'openai') break;
        expect(performance.now()).toBeLessThan(endMs);
        await Bun.sleep(200);
      }
      expect(await (await fetch(`${world.gateway.url}/metrics`)).text()).toContain(
        `llm0_breaker_state{provider="openai",model="${first}"} 0`,
      );
    }, 30_000);

    test('a caller who leaves while targets are tried cancels everything within a second', async () => {
      world.upstream.control.setModel(first, { status: 500 });
      world.upstream.control.setModel(SECOND, { hang: true });
      const controller = new AbortController();
      const asking = post('leaves', false).catch(() => undefined);
      const answer = postChat(world.gateway, apiKey, ask('leaves too', { model: first }), {
        signal: controller.signal,
      });
      await waitUntil(() => world.upstream.requests.filter(({ path }) => path === '/v1/messages').length === 2);
      controller.abort();
      await expect(answer).rejects.toThrow();
      await waitUntil(() => world.upstream.control.counters.cancelled === 1, 1000);
      await asking;
    }, 15_000);

    test('hedging: the faster one answers, the slower one is cancelled and booked as an estimate', async () => {
      const alias = `hedged-${kind}`;
      const targets = [
        { provider: 'openai', model: first },
        { provider: 'anthropic', model: SECOND },
      ];
      await callAdmin(world.gateway, '/aliases', { body: { alias, targets, hedge_after_ms: 100 } });
      world.upstream.control.setModel(first, { hang: true });
      world.upstream.control.setModel(SECOND, { text: 'fast' });
      const startMs = undisturbedMs(world.gateway.pid);
      const answer = await post('hedged', true, { model: alias });
      expect(await textOf(answer, true)).toBe('fast');
      expect(undisturbedMs(world.gateway.pid) - startMs).toBeLessThan(1500);
      await waitUntil(() => world.upstream.control.counters.cancelled === 1, 1000);
      const row = await rowOf(answer);
      expect(row.attempts.map(({ provider, outcome }) => `${provider} ${outcome}`)).toEqual([
        'openai superseded',
        'anthropic ok',
      ]);
      expect(row.cost_estimated).toBe(true);
      expect(row.cost_detail?.other_attempts).toBeGreaterThan(0);

      world.upstream.control.setModel(first, { text: 'first after all', firstDelayMs: 300 });
      world.upstream.control.setModel(SECOND, { hang: true });
      const other = await post('hedged again', false, { model: alias });
      expect(await textOf(other, false)).toBe('first after all');
      expect(other.headers.get('x-failover')).toBeNull();
      const otherRow = await rowOf(other);
      expect(otherRow).toMatchObject({ failover_count: 0, final_provider: 'openai' });
      expect(otherRow.attempts.map(({ outcome }) => outcome)).toEqual(['ok', 'superseded']);

      // Longer than a busy machine takes for an answer that comes at once.
      await callAdmin(world.gateway, '/aliases', { body: { alias: `${alias}-late`, targets, hedge_after_ms: 10_000 } });
      world.upstream.control.setModel(first, { text: 'quick' });
      const quick = await post('no need', false, { model: `${alias}-late` });
      expect(await textOf(quick, false)).toBe('quick');
      expect((await rowOf(quick)).attempts).toHaveLength(1);
    }, 15_000);

    test('all are out of quota: 429, so that clients back off, with the soonest time', async () => {
      for (const model of [first, SECOND, THIRD]) {
        world.upstream.control.setModel(model, { status: 429, retryAfter: model === SECOND ? '7' : '11' });
      }
      const answer = await post('all out', false);
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '7']);
      const { error } = (await answer.json()) as ErrorBody;
      expect([error.code, error.attempts.map(({ failure }) => failure)]).toEqual([
        'upstream_rate_limited',
        ['rate_limited', 'rate_limited', 'rate_limited'],
      ]);
      expect(await rowOf(answer)).toMatchObject({ status: 'error', http_status: 429, cost_usd: 0 });
    });

    test('the books are even, and no hold is left', async () => {
      const ledger = await settledLedger(world.gateway);
      expect(ledger).toMatchObject({ ok: true, open_holds: 0, queue_depth: 0 });
    }, 40_000);
  });
}

describe('failover where servers are gone, or there are two gateways', () => {
  test(
    'a vendor that refuses connections: the next one answers at once',
    async () => {
      const env = { OPENAI_BASE_URL: 'http://127.0.0.1:1/v1' };
      const world = await shareEnvironment({ kind: 'real', env });
      try {
        const { apiKey } = await createTestKey(world.gateway);
        world.upstream.control.setModel(SECOND, { text: 'here' });
        for (const stream of [false, true]) {
          const startMs = undisturbedMs(world.gateway.pid);
          const answer = await postChat(world.gateway, apiKey, ask(`anybody? ${stream}`, { stream }));
          expect(await textOf(answer, stream)).toBe('here');
          expect(undisturbedMs(world.gateway.pid) - startMs).toBeLessThan(2000);
          const row = (await logRow(world.gateway, answer.headers.get('x-request-id') ?? '')) as unknown as Row;
          expect(row.attempts.map(({ outcome }) => outcome)).toEqual(['connection', 'connection', 'ok']);
        }
      } finally {
        await world.close();
      }
    },
    SETUP_MS,
  );

  test(
    'two gateways on one Redis: what one learns of a target the other knows within a second',
    async () => {
      const world = await shareEnvironment({ kind: 'real' });
      const other = await hostGateway({ env: world.env });
      try {
        const { apiKey } = await createTestKey(world.gateway);
        world.upstream.control.setModel(FIRST, { status: 500 });
        world.upstream.control.setModel(SECOND, { status: 429, retryAfter: '60' });
        for (let i = 0; i < 3; i++) await (await postChat(world.gateway, apiKey, ask(`down ${i}`))).text();
        await Bun.sleep(1000);
        const asked = world.upstream.requests.length;
        const answer = await postChat(other, apiKey, ask('and here?'));
        expect(answer.headers.get('x-provider')).toBe('gemini');
        expect(world.upstream.requests).toHaveLength(asked + 1);
        const row = (await logRow(other, answer.headers.get('x-request-id') ?? '')) as unknown as Row;
        expect(row.attempts.map(({ outcome }) => outcome)).toEqual(['breaker_open', 'cooling_down', 'ok']);
      } finally {
        await other.stop();
        await world.close();
      }
    },
    SETUP_MS,
  );
});
