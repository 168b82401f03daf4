import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { FakeBehaviour } from '../fake-upstream/behaviour';
import { callAdmin } from '../stores/start-gateway';
import { undisturbedMs } from '../thread-time';
import {
  ask,
  ON_ONE_KIND,
  postChat,
  settledLedger,
  startEnvironment,
  type TestEnvironment,
  waitUntil,
} from './environment';
import {
  type ErrorBody,
  FIRST,
  IMPATIENT,
  openCaller,
  REQUEST_TIMEOUT_MS,
  SECOND,
  THIRD,
  textOf,
} from './failover.fixture';

const SETUP_MS = 60_000;

for (const kind of ON_ONE_KIND) {
  describe(`failover over three vendors (${kind} stores)`, () => {
    let world: TestEnvironment;
    let caller: Awaited<ReturnType<typeof openCaller>>;
    let first = FIRST;
    beforeAll(async () => {
      // Its vendors cool down, which the next file would notice.
      world = await startEnvironment({ kind, apart: false, env: IMPATIENT });
      caller = await openCaller(world);
    }, SETUP_MS);
    afterAll(() => world.close(), SETUP_MS);
    beforeEach(async () => {
      world.upstream.control.reset();
      first = await caller.newFirst();
    });
    const rowOf = (answer: Response) => caller.rowOf(answer);
    const post = (text: string, stream: boolean, more: Record<string, unknown> = {}) =>
      caller.post(text, first, { stream, ...more });

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
        for (let i = 0; i < 2; i++) answers.push(await postChat(world.gateway, caller.apiKey, ask('again', { model })));
        return answers.map((answer) => `${answer.headers.get('x-cache-hit')} ${answer.headers.get('x-provider')}`);
      };
      expect(await again(FIRST)).toEqual(['miss anthropic', 'exact anthropic']);
      world.upstream.control.setModel('gpt-4o-mini-2024-07-18', { status: 404 });
      expect(await again('gpt-4o-mini-2024-07-18')).toEqual(['miss anthropic', 'miss anthropic']);
    });

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
