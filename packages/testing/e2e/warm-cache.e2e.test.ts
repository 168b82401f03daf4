import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import {
  ask,
  logRow,
  postChat,
  STORE_KINDS,
  settledLedger,
  shareEnvironment,
  type TestEnvironment,
} from './environment';

const SETUP_MS = 60_000;
/** Room for two or three answers of `LONG` characters. */
const CACHE_MAX_BYTES = 10_000;
const LONG = 'x'.repeat(3000);

for (const kind of STORE_KINDS) {
  describe(`the warm cache tier on ${kind} stores`, () => {
    let world: TestEnvironment;
    beforeAll(async () => {
      world = await shareEnvironment({ kind, env: { CACHE_MAX_BYTES: String(CACHE_MAX_BYTES) } });
    }, SETUP_MS);
    afterAll(() => world.close(), SETUP_MS);

    const question = (text: string, more = {}) => ask(text, { x_fake: { text: `${LONG}${text}` }, ...more });
    const answerOf = async (answer: Response) =>
      ((await answer.json()) as { choices: { message: { content: string } }[] }).choices[0]?.message.content;
    const cachez = async () => (await (await fetch(`${world.gateway.url}/cachez`)).json()) as Record<string, number>;
    /** Asks `n` other things, so that earlier answers leave the hot tier; waits until all of them are in the warm one. */
    const pushOut = async (apiKey: string, n: number) => {
      const before = (await callAdmin<{ warm_entries: number }>(world.gateway, '/cache/stats')).warm_entries;
      for (let i = 0; i < n; i++)
        await (await postChat(world.gateway, apiKey, question(`${crypto.randomUUID()}`))).text();
      for (let i = 0; i < 100; i++) {
        const { warm_entries: now } = await callAdmin<{ warm_entries: number }>(world.gateway, '/cache/stats');
        if (now >= before + n) return;
        await Bun.sleep(50);
      }
      throw new Error('the warm tier was not written');
    };

    test('an answer that left the hot tier comes from the warm one, for nothing, and is hot again', async () => {
      const { gateway, upstream } = world;
      const { apiKey, projectId } = await createTestKey(gateway, {
        project: { monthly_cap_usd: 1 },
        key: { tokens_per_minute: 1_000_000 },
      });
      const first = await postChat(gateway, apiKey, question('keep me \u0000 \ud83d'));
      const text = await answerOf(first);
      const hits = (await cachez()).warm_hits ?? 0;
      await pushOut(apiKey, 5);
      const received = upstream.control.counters.received;
      const second = await postChat(gateway, apiKey, question('keep me \u0000 \ud83d'));
      expect(second.headers.get('x-cache-hit')).toBe('exact');
      expect(second.headers.get('x-cost-usd')).toBe('0.000000000');
      expect(await answerOf(second)).toBe(text as string);
      expect((await cachez()).warm_hits).toBe(hits + 1);
      const third = await postChat(gateway, apiKey, question('keep me \u0000 \ud83d', { stream: true }));
      expect(third.headers.get('x-cache-hit')).toBe('exact');
      expect(await third.text()).toEndWith('data: [DONE]\n\n');
      expect((await cachez()).warm_hits).toBe(hits + 1);
      expect(upstream.control.counters.received).toBe(received);
      const row = await logRow(gateway, second.headers.get('x-request-id') ?? '');
      expect(row).toMatchObject({ cache_hit: true, cost_usd: 0, status: 'success' });
      expect(row.saved_usd).toBe(Number(first.headers.get('x-cost-usd')));
      const ledger = await settledLedger(gateway);
      expect(ledger.open_holds).toBe(0);
      expect(ledger.projects.find((one) => one.project_id === projectId)?.diff_usd).toBe(0);
    });

    test('it keeps its time to live, and another project never sees it', async () => {
      const { gateway, upstream } = world;
      const one = await createTestKey(gateway);
      const other = await createTestKey(gateway);
      const ttl = { headers: { 'X-LLM0-Cache-TTL': '1' } };
      await (await postChat(gateway, one.apiKey, question('short-lived'), ttl)).text();
      await pushOut(one.apiKey, 5);
      const received = upstream.control.counters.received;
      await (await postChat(gateway, other.apiKey, question('short-lived'))).text();
      expect(upstream.control.counters.received).toBe(received + 1);
      await Bun.sleep(1000);
      const late = await postChat(gateway, one.apiKey, question('short-lived'));
      expect(late.headers.get('x-cache-hit')).toBe('miss');
    });

    test('purged is gone from both tiers', async () => {
      const { gateway } = world;
      const { apiKey, projectId } = await createTestKey(gateway);
      await (await postChat(gateway, apiKey, question('purge me'))).text();
      await pushOut(apiKey, 5);
      await (await postChat(gateway, apiKey, question('purge me too'))).text();
      await callAdmin(gateway, '/cache/purge', { body: { project_id: projectId } });
      for (const text of ['purge me', 'purge me too']) {
        expect((await postChat(gateway, apiKey, question(text))).headers.get('x-cache-hit')).toBe('miss');
      }
    });
  });
}
