import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import type { FakeBehaviour } from '../fake-upstream/behaviour';
import { createTestKey } from '../stores/start-gateway';
import {
  allLogs,
  type LogRow,
  STORE_KINDS,
  settledLedger,
  shareEnvironment,
  type TestEnvironment,
  waitUntil,
} from './environment';

const SETUP_MS = 60_000;
const NATIVE = ['openai', 'anthropic'];
const LARGE = 'forty thousand bytes '.repeat(2000);
/** Pico-USD a token, as the price book has them, of those that are asked and those that stand in for them. */
const PRICES: Readonly<Record<string, readonly [input: number, output: number]>> = {
  'gpt-4o-mini': [150_000, 600_000],
  'claude-haiku-4-5': [1_000_000, 5_000_000],
  'claude-haiku-4-5-20251001': [1_000_000, 5_000_000],
  'gemini-2.5-flash': [300_000, 2_500_000],
  'text-embedding-3-small': [20_000, 0],
};

const messages = [{ role: 'user', content: LARGE }];
const openai = { model: 'gpt-4o-mini', messages, max_tokens: 100 };
const gemini = { contents: [{ role: 'user', parts: [{ text: LARGE }] }], generationConfig: { maxOutputTokens: 100 } };
const claude = { model: 'claude-haiku-4-5', messages, max_tokens: 100 };

/** Every way to a vendor. */
const WAYS: readonly (readonly [path: string, body: Record<string, unknown>])[] = [
  ['/v1/chat/completions', openai],
  ['/v1/chat/completions', { ...openai, stream: true }],
  ['/v1/completions', { model: 'gpt-4o-mini', prompt: LARGE, max_tokens: 100 }],
  ['/v1/messages', claude],
  ['/v1/messages', { ...claude, stream: true }],
  ['/v1/responses', { model: 'gpt-4o-mini', input: LARGE, max_output_tokens: 100 }],
  ['/v1/embeddings', { model: 'text-embedding-3-small', input: LARGE }],
  ['/v1beta/models/gemini-2.5-flash:generateContent', gemini],
  ['/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse', gemini],
  ['/passthrough/openai/v1/chat/completions', openai],
  ['/passthrough/openai/v1/chat/completions', { ...openai, stream: true, stream_options: { include_usage: true } }],
  ['/passthrough/anthropic/v1/messages', claude],
];

interface Row extends LogRow {
  readonly cost_detail: Record<string, number | string> | null;
  readonly attempts: readonly { readonly outcome: string }[] | null;
}

for (const kind of STORE_KINDS) {
  describe(`nothing that a vendor bills is free (${kind} stores)`, () => {
    let world: TestEnvironment;
    beforeAll(async () => {
      world = await shareEnvironment({ kind, env: { REQUEST_TIMEOUT: '1s', ANSWER_TIMEOUT: '1s' } });
    }, SETUP_MS);
    afterAll(() => world.close(), SETUP_MS);
    afterEach(() => world.upstream.control.reset());

    const send = (path: string, apiKey: string, body: unknown, more: RequestInit = {}) =>
      fetch(`${world.gateway.url}${path}`, {
        ...{ method: 'POST', body: JSON.stringify(body) },
        ...more,
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json', ...(more.headers as object) },
      });
    /** Sends, and leaves once the vendor has it. */
    const leave = async (path: string, apiKey: string, body: unknown, headers: Record<string, string> = {}) => {
      const { counters } = world.upstream.control;
      const before = counters.received;
      const leaving = new AbortController();
      const asked = send(path, apiKey, body, { signal: leaving.signal, headers }).catch(() => undefined);
      await waitUntil(() => counters.received > before);
      leaving.abort();
      await asked;
    };
    const rowsOf = async (projectId: string, count: number) => {
      for (let round = 0; round < 100; round++) {
        const rows = (await allLogs(world.gateway, `project_id=${projectId}`)) as Row[];
        if (rows.length >= count) return rows;
        await Bun.sleep(50);
      }
      throw new Error(`not ${count} rows of ${projectId}`);
    };
    const billedNanoUsd = () =>
      world.upstream.control.billed().reduce((sum, { model, inputTokens, outputTokens }) => {
        const price = PRICES[model];
        if (price === undefined) throw new Error(`no price of ${model} here`);
        const [input, output] = price;
        return sum + Math.ceil((inputTokens * input + outputTokens * output) / 1000);
      }, 0);
    const nano = (rows: readonly Row[]) => rows.reduce((sum, row) => sum + Math.round(row.cost_usd * 1e9), 0);

    test('a caller that leaves before the first output pays the input, under strict caps at least the bill', async () => {
      for (const strict of [false, true]) {
        world.upstream.control.reset();
        world.upstream.control.setDefault({ hang: true, chunks: 100 });
        const { apiKey, projectId } = await createTestKey(world.gateway, {
          project: { strict_caps: strict, monthly_cap_usd: 100, cache_enabled: false, passthrough: NATIVE },
        });
        for (const [path, body] of WAYS) await leave(path, apiKey, body);
        const rows = await rowsOf(projectId, WAYS.length);
        expect(rows.filter((row) => row.status !== 'aborted' || !row.cost_estimated)).toEqual([]);
        // 10,500 tokens by our count: four bytes each.
        expect(rows.filter((row) => row.tokens_in < 10_000)).toEqual([]);
        expect(world.upstream.control.billed().reduce((sum, { requests }) => sum + requests, 0)).toBe(WAYS.length);
        if (strict) expect(nano(rows)).toBeGreaterThanOrEqual(billedNanoUsd());
        else expect(nano(rows)).toBeGreaterThan(0);
      }
      expect(await settledLedger(world.gateway)).toMatchObject({ ok: true, open_holds: 0 });
    }, 30_000);

    test.each<[string, FakeBehaviour, boolean]>([
      ['a time-out', { hang: true, chunks: 100 }, true],
      ['a 2xx of garbage', { body: '{"nonsense":tr', chunks: 100 }, true],
      ['a 500', { status: 500 }, false],
      ['a 429', { status: 429 }, false],
    ])('%s: booked where it may be billed', async (_name, behaviour, isBilled) => {
      const { apiKey, projectId } = await createTestKey(world.gateway, {
        project: { strict_caps: true, monthly_cap_usd: 100, cache_enabled: false, passthrough: NATIVE },
      });
      // The fake's embeddings are never garbage.
      const kinds = ['/v1/chat/completions', ...(behaviour.body === undefined ? ['/v1/embeddings'] : [])];
      const ways = WAYS.filter(([path, body]) => kinds.some((one) => path.endsWith(one)) && body.stream !== true);
      world.upstream.control.setDefault(behaviour);
      const answers = await Promise.all(ways.map(([path, body]) => send(path, apiKey, body)));
      for (const answer of answers) await answer.text();
      const rows = await rowsOf(projectId, ways.length);
      expect(rows.map((row) => [row.cost_usd > 0, row.cost_estimated])).toEqual(ways.map(() => [isBilled, isBilled]));
      expect(nano(rows)).toBeGreaterThanOrEqual(billedNanoUsd());
    });

    test('an abandoned stream is booked up to its last chunk, under strict caps with its maximum', async () => {
      for (const strict of [false, true]) {
        world.upstream.control.reset();
        world.upstream.control.setDefault({ chunks: 100, gapMs: 20 });
        const { apiKey, projectId } = await createTestKey(world.gateway, {
          project: { strict_caps: strict, monthly_cap_usd: 100, cache_enabled: false, passthrough: NATIVE },
        });
        const streams = WAYS.filter(([path, body]) => body.stream === true || path.includes('stream'));
        for (const [path, body] of streams) {
          const leaving = new AbortController();
          const answer = await send(path, apiKey, body, { signal: leaving.signal });
          await answer.body?.getReader().read();
          leaving.abort();
        }
        const rows = await rowsOf(projectId, streams.length);
        expect(rows.filter((row) => row.status !== 'aborted' || row.cost_usd === 0)).toEqual([]);
        if (strict) expect(nano(rows)).toBeGreaterThanOrEqual(billedNanoUsd());
      }
    });

    test('one of several leaving followers pays, also with an Idempotency-Key', async () => {
      world.upstream.control.setDefault({ hang: true, chunks: 100 });
      const { apiKey, projectId } = await createTestKey(world.gateway, {
        project: { strict_caps: true, monthly_cap_usd: 100 },
      });
      const leaving = [1, 2, 3].map(() => new AbortController());
      const asked = leaving.map(({ signal }) =>
        send('/v1/chat/completions', apiKey, openai, { signal }).catch(() => undefined),
      );
      await waitUntil(() => world.upstream.control.counters.received === 1);
      await Bun.sleep(100);
      for (const one of leaving) one.abort();
      await Promise.all(asked);
      const rows = await rowsOf(projectId, 3);
      expect(rows.map((row) => row.cost_usd > 0).sort()).toEqual([false, false, true]);
      const headers = { 'idempotency-key': 'once' };
      for (let i = 0; i < 2; i++) await leave('/v1/chat/completions', apiKey, { ...openai, seed: i + 1 }, headers);
      expect((await rowsOf(projectId, 5)).filter((row) => row.cost_usd > 0)).toHaveLength(3);
      expect(nano(await rowsOf(projectId, 5))).toBeGreaterThanOrEqual(billedNanoUsd());
    });
  });
}
