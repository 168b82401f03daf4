import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import {
  ask,
  logRow,
  ON_ONE_KIND,
  postChat,
  settledLedger,
  shareEnvironment,
  type TestEnvironment,
} from './environment';

const SETUP_MS = 60_000;
const FRANCE = "What's the capital of France?";
const FRANCE_AGAIN = "Tell me France's capital city";
const SEMANTIC = { semantic_cache_enabled: true };

interface NearMiss {
  readonly request_id: string;
  readonly outcome: string;
  readonly guard: string | null;
  readonly prompt: string | null;
  readonly matched_prompt: string | null;
  readonly similarity: number;
}

for (const kind of ON_ONE_KIND) {
  describe(`the semantic cache on ${kind} stores`, () => {
    let world: TestEnvironment;
    beforeAll(async () => {
      world = await shareEnvironment({ kind, env: { LOG_BODIES: 'true' } });
      await loadModel();
    }, SETUP_MS);
    afterAll(() => world.close(), SETUP_MS);

    /** A purge of nothing: it waits until everything handed over is written. */
    const flush = () =>
      callAdmin(world.gateway, '/cache/purge', { body: { project_id: crypto.randomUUID(), cache_key: 'none' } });
    /** The first texts load the model; until then look-ups are late, and so misses. */
    const loadModel = async () => {
      const { apiKey } = await createTestKey(world.gateway, { project: SEMANTIC });
      for (let i = 0; i < 100; i++) {
        if ((await outcome(apiKey, ask(`Is ${i} a prime number?`))) === 'semantic') throw new Error('guards are off');
        const metrics = await (await fetch(`${world.gateway.url}/metrics`)).text();
        if (/lookup_ms_count\{outcome="(?:miss|refused)"\} [1-9]/.test(metrics)) return;
        await Bun.sleep(100);
      }
      throw new Error('the model was not loaded');
    };
    const text = async (answer: Response) =>
      ((await answer.json()) as { choices: { message: { content: string } }[] }).choices[0]?.message.content;
    /** Asks upstream and waits until the answer can be found by other wordings. */
    const teach = async (apiKey: string, body: object) => {
      const answer = await postChat(world.gateway, apiKey, body);
      expect(answer.headers.get('x-cache-hit')).toBe('miss');
      const said = await text(answer);
      await flush();
      return { said, cost: Number(answer.headers.get('x-cost-usd')) };
    };
    const outcome = async (apiKey: string, body: object, headers?: Record<string, string>) => {
      const answer = await postChat(world.gateway, apiKey, body, { headers });
      await answer.text();
      return answer.headers.get('x-cache-hit');
    };
    const nearMisses = (projectId: string, query = '') =>
      callAdmin<{ data: NearMiss[] }>(world.gateway, `/cache/near-misses?project_id=${projectId}${query}`);
    const firstNearMiss = async (projectId: string, query = '') => {
      await flush();
      return (await nearMisses(projectId, query)).data[0];
    };

    test('another wording gets the answer for nothing, and is an exact hit the next time', async () => {
      const { gateway, upstream } = world;
      const { apiKey, projectId } = await createTestKey(gateway, { project: { ...SEMANTIC, monthly_cap_usd: 1 } });
      const taught = await teach(apiKey, ask(FRANCE));
      const received = upstream.control.counters.received;
      const hit = await postChat(gateway, apiKey, ask(FRANCE_AGAIN));
      expect(hit.headers.get('x-cache-hit')).toBe('semantic');
      expect(Number(hit.headers.get('x-cache-similarity'))).toBeGreaterThan(0.85);
      expect(hit.headers.get('x-cost-usd')).toBe('0.000000000');
      expect(await text(hit)).toBe(taught.said as string);
      const again = await postChat(gateway, apiKey, ask(FRANCE_AGAIN));
      expect(again.headers.get('x-cache-hit')).toBe('exact');
      expect(await text(again)).toBe(taught.said as string);
      const stream = await postChat(gateway, apiKey, ask('capital of france', { stream: true }));
      expect(stream.headers.get('x-cache-hit')).toBe('semantic');
      const sse = await stream.text();
      expect(sse).toContain('"cache":"semantic"');
      expect(sse).toEndWith('data: [DONE]\n\n');
      expect(upstream.control.counters.received).toBe(received);
      const row = await logRow(gateway, hit.headers.get('x-request-id') ?? '');
      expect(row).toMatchObject({ cache_hit: false, semantic_cache_hit: true, cost_usd: 0, saved_usd: taught.cost });
      const ledger = await settledLedger(gateway);
      expect(ledger.open_holds).toBe(0);
      expect(ledger.projects.find((one) => one.project_id === projectId)?.diff_usd).toBe(0);
    });

    test('an answer that calls tools answers another wording only where the project says so', async () => {
      const tools = [{ type: 'function', function: { name: 'atlas', parameters: { type: 'object', properties: {} } } }];
      const fake = { toolCalls: [{ name: 'atlas', arguments: '{"of":"France"}' }] };
      const withTools = (question: string) => ask(question, { tools, x_fake: fake });
      const settings = { ...SEMANTIC, cache_tool_calls: true };
      const { apiKey, projectId } = await createTestKey(world.gateway, { project: settings });
      await teach(apiKey, withTools(FRANCE));
      expect(await outcome(apiKey, withTools(FRANCE_AGAIN))).toBe('semantic');
      const change = { method: 'PATCH', body: { cache_tool_calls: false } };
      await callAdmin(world.gateway, `/projects/${projectId}`, change);
      expect(await outcome(apiKey, withTools('capital of france'))).toBe('miss');
      const other = await createTestKey(world.gateway, { project: SEMANTIC });
      await teach(other.apiKey, withTools(FRANCE));
      await callAdmin(world.gateway, `/projects/${other.projectId}`, { ...change, body: { cache_tool_calls: true } });
      expect(await outcome(other.apiKey, withTools(FRANCE_AGAIN))).toBe('miss');
    });

    test('a question that only looks alike goes upstream, and is shown with its guard and both texts', async () => {
      const { apiKey, projectId } = await createTestKey(world.gateway, { project: SEMANTIC });
      await teach(apiKey, ask('flights from london to paris'));
      expect(await outcome(apiKey, ask('flights from paris to london'))).toBe('miss');
      expect(await firstNearMiss(projectId)).toMatchObject({
        outcome: 'refused',
        guard: 'order',
        prompt: 'flights from paris to london',
        matched_prompt: 'flights from london to paris',
      });
    });

    test('projects, models, system prompts and sampling never share answers', async () => {
      const one = await createTestKey(world.gateway, { project: SEMANTIC });
      const other = await createTestKey(world.gateway, { project: SEMANTIC });
      await teach(one.apiKey, ask(FRANCE));
      expect(await outcome(other.apiKey, ask(FRANCE_AGAIN))).toBe('miss');
      expect(await outcome(one.apiKey, ask(FRANCE_AGAIN, { model: 'gpt-4o' }))).toBe('miss');
      expect(await outcome(one.apiKey, ask(FRANCE_AGAIN, { temperature: 0.5 }))).toBe('miss');
      const pirate = { role: 'system', content: 'You are a pirate.' };
      const asked = { messages: [pirate, { role: 'user', content: FRANCE_AGAIN }] };
      expect(await outcome(one.apiKey, ask('', asked))).toBe('miss');
      expect(await outcome(one.apiKey, ask(FRANCE_AGAIN))).toBe('semantic');
    });

    test("an agent's loop never gets an earlier turn's answer", async () => {
      const { apiKey } = await createTestKey(world.gateway, { project: SEMANTIC });
      const messages: object[] = [{ role: 'user', content: 'Is the museum open on Mondays?' }];
      const { said } = await teach(apiKey, ask('', { messages }));
      messages.push({ role: 'assistant', content: said }, { role: 'user', content: 'On Mondays, is the museum open?' });
      expect(await outcome(apiKey, ask('', { messages }))).toBe('miss');
      const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } };
      messages.push(
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: 'Is the museum open on Mondays?' },
      );
      expect(await outcome(apiKey, ask('', { messages }))).toBe('miss');
    });

    test('shadow mode serves nothing and says what it would have served', async () => {
      const { apiKey, projectId } = await createTestKey(world.gateway, {
        project: { ...SEMANTIC, semantic_shadow: true },
      });
      await teach(apiKey, ask(FRANCE));
      expect(await outcome(apiKey, ask(FRANCE_AGAIN))).toBe('miss');
      expect(await firstNearMiss(projectId, '&outcome=shadow')).toMatchObject({
        outcome: 'shadow',
        guard: null,
        prompt: FRANCE_AGAIN,
        matched_prompt: FRANCE,
      });
    });

    test('the header raises the threshold and never lowers it', async () => {
      const { apiKey } = await createTestKey(world.gateway, { project: { ...SEMANTIC, semantic_threshold: 0.99 } });
      await teach(apiKey, ask(FRANCE));
      expect(await outcome(apiKey, ask(FRANCE_AGAIN), { 'X-LLM0-Cache-Threshold': '0.5' })).toBe('miss');
      const low = await createTestKey(world.gateway, { project: { ...SEMANTIC, semantic_threshold: 0.8 } });
      await teach(low.apiKey, ask(FRANCE));
      expect(await outcome(low.apiKey, ask(FRANCE_AGAIN), { 'X-LLM0-Cache-Threshold': '0.999' })).toBe('miss');
      expect(await outcome(low.apiKey, ask('capital of france'))).toBe('semantic');
    });

    test('off and no-store neither look nor keep; a project without it is untouched', async () => {
      const { apiKey } = await createTestKey(world.gateway, { project: SEMANTIC });
      await teach(apiKey, ask(FRANCE));
      expect(await outcome(apiKey, ask(FRANCE_AGAIN), { 'X-LLM0-Cache': 'off' })).toBe('miss');
      expect(await outcome(apiKey, ask(FRANCE_AGAIN), { 'Cache-Control': 'no-store' })).toBe('miss');
      const plain = await createTestKey(world.gateway);
      expect(await outcome(plain.apiKey, ask(FRANCE))).toBe('miss');
      expect(await outcome(plain.apiKey, ask(FRANCE_AGAIN))).toBe('miss');
    });

    test('a thumbs-down takes the answer away for good', async () => {
      const { apiKey, projectId } = await createTestKey(world.gateway, { project: SEMANTIC });
      await teach(apiKey, ask(FRANCE));
      const wrong = await postChat(world.gateway, apiKey, ask(FRANCE_AGAIN));
      expect(wrong.headers.get('x-cache-hit')).toBe('semantic');
      await wrong.text();
      expect(await firstNearMiss(projectId)).toBeUndefined();
      const rejected = await callAdmin<object>(world.gateway, '/cache/reject', {
        body: { request_id: wrong.headers.get('x-request-id') },
      });
      expect(rejected).toMatchObject({ semantic: 1, remembered: true });
      await teach(apiKey, ask(FRANCE));
      expect(await outcome(apiKey, ask(FRANCE_AGAIN))).toBe('miss');
      expect(await firstNearMiss(projectId, '&guard=rejected')).toMatchObject({
        outcome: 'refused',
        guard: 'rejected',
      });
    });

    test('a thumbs-down on a later exact hit finds where its answer came from', async () => {
      const { apiKey } = await createTestKey(world.gateway, { project: SEMANTIC });
      await teach(apiKey, ask(FRANCE));
      expect(await outcome(apiKey, ask(FRANCE_AGAIN))).toBe('semantic');
      const later = await postChat(world.gateway, apiKey, ask(FRANCE_AGAIN));
      expect(later.headers.get('x-cache-hit')).toBe('exact');
      await later.text();
      const requestId = later.headers.get('x-request-id') ?? '';
      await logRow(world.gateway, requestId);
      const rejected = await callAdmin<object>(world.gateway, '/cache/reject', { body: { request_id: requestId } });
      expect(rejected).toMatchObject({ semantic: 1, remembered: true });
      await teach(apiKey, ask(FRANCE));
      expect(await outcome(apiKey, ask(FRANCE_AGAIN))).toBe('miss');
    });

    test('purge forgets it in all tiers', async () => {
      const { apiKey, projectId } = await createTestKey(world.gateway, { project: SEMANTIC });
      await teach(apiKey, ask(FRANCE));
      expect(await outcome(apiKey, ask(FRANCE_AGAIN))).toBe('semantic');
      const purged = await callAdmin<{ semantic: number }>(world.gateway, '/cache/purge', {
        body: { project_id: projectId },
      });
      expect(purged.semantic).toBe(1);
      expect(await outcome(apiKey, ask(FRANCE_AGAIN))).toBe('miss');
    });

    test('other events are counted and forwarded upstream', async () => {
      const { apiKey } = await createTestKey(world.gateway, { project: SEMANTIC });
      const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
      const media = { messages: [{ role: 'user', content: [{ type: 'text', text: FRANCE }, image] }] };
      expect(await outcome(apiKey, ask('', media))).toBe('miss');
      expect(await outcome(apiKey, ask('¿Cuál es la capital de Francia y cuántos habitantes tiene?'))).toBe('miss');
      expect(await outcome(apiKey, ask(`${'word '.repeat(1000)}?`))).toBe('miss');
      const metrics = await (await fetch(`${world.gateway.url}/metrics`)).text();
      expect(metrics).toMatch(/llm0_semantic_cache_skips_total\{reason="media"\} [1-9]/);
      expect(metrics).toMatch(/llm0_semantic_cache_skips_total\{reason="too_long"\} [1-9]/);
      expect(metrics).toMatch(/llm0_semantic_cache_lookup_ms_count\{outcome="language"\} [1-9]/);
    });
  });
}
