import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { CohereClientV2 } from 'cohere-ai';
import OpenAI from 'openai';
import type { FakeBehaviour } from '../fake-upstream/behaviour';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { logRow, ON_ONE_KIND, settledLedger, shareEnvironment, type TestEnvironment, waitUntil } from './environment';

const SETUP_MS = 60_000;
const DOCUMENTS = ['red apples', 'blue sky', 'the red sky at night'];

interface Priced {
  readonly provider: string;
  readonly model: string;
  readonly [price: string]: string | number;
}

/** A price of each shape, at a vendor of each format. */
const PRICES: readonly Priced[] = [
  { provider: 'openai', model: 'omni-moderation-test', input_usd_per_million: 0, output_usd_per_million: 0 },
  { provider: 'mistral', model: 'mistral-moderation-test', input_usd_per_million: 0.1, output_usd_per_million: 0 },
  {
    ...{ provider: 'openai', model: 'gpt-decides', input_usd_per_million: 1, output_usd_per_million: 2 },
    cache_read_usd_per_million: 0.1,
  },
  { provider: 'cohere', model: 'rerank-v9.9', mode: 'rerank', search_usd: 0.002 },
  { provider: 'cohere', model: 'rerank-v9.9-tokens', mode: 'rerank', input_usd_per_million: 0.5 },
  { provider: 'bedrock', model: 'cohere.rerank-v9:0', mode: 'rerank', search_usd: 0.002 },
  { provider: 'jina', model: 'jina-reranker-test', mode: 'rerank', input_usd_per_million: 0.02 },
  { provider: 'voyage', model: 'rerank-9', mode: 'rerank', input_usd_per_million: 0.05 },
  { provider: 'together', model: 'mixedbread/rerank', mode: 'rerank', input_usd_per_million: 0.06 },
  { provider: 'cohere', model: 'rerank-v9.9-odd', mode: 'rerank', output_usd_per_million: 1 },
];

describe.each(ON_ONE_KIND)('moderation and reranking on %s stores', (kind) => {
  let world: TestEnvironment;
  let apiKey: string;
  let projectId: string;
  beforeAll(async () => {
    world = await shareEnvironment({
      kind,
      env: ({ baseUrl, url }) => ({
        ...{ MISTRAL_API_KEY: 'mistral-fake-key', MISTRAL_BASE_URL: baseUrl },
        ...{ TOGETHER_API_KEY: 'together-fake-key', TOGETHER_BASE_URL: baseUrl },
        ...{ COHERE_API_KEY: 'cohere-fake-key', COHERE_BASE_URL: url },
        ...{ VOYAGE_API_KEY: 'voyage-fake-key', VOYAGE_BASE_URL: `${url}/voyage/v1` },
        ...{ JINA_API_KEY: 'jina-fake-key', JINA_BASE_URL: baseUrl },
      }),
    });
    for (const { provider, model, ...body } of PRICES) {
      await callAdmin(world.gateway, `/models?provider=${provider}&model=${encodeURIComponent(model)}`, {
        method: 'PUT',
        body,
      });
    }
  }, SETUP_MS);
  beforeEach(async () => {
    world.upstream.control.reset();
    ({ apiKey, projectId } = await createTestKey(world.gateway));
  });
  afterAll(() => world.close(), SETUP_MS);

  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${world.gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const json = (await response.json()) as Record<string, unknown> & {
      results?: { index: number; relevance_score: number; flagged: boolean }[];
      error?: { code: string; message: string; param: string | null };
    };
    return { response, json, row: () => logRow(world.gateway, response.headers.get('x-request-id') ?? '') };
  };
  const rerank = (body: Record<string, unknown>, headers?: Record<string, string>) =>
    post('/v1/rerank', { query: 'red sky', documents: DOCUMENTS, ...body }, headers);
  const received = () => world.upstream.control.counters.received;
  const update = (fields: Record<string, unknown>) =>
    callAdmin(world.gateway, `/projects/${projectId}`, { method: 'PATCH', body: fields });

  /** Model, what the vendor reports, and the whole bill in nano-USD. */
  const BILLS: readonly [
    model: string,
    usage: FakeBehaviour['usage'],
    nanoUsd: number,
    row: Record<string, unknown>,
  ][] = [
    ['cohere/rerank-v9.9', { prompt: 3 }, 6_000_000, { units: { searches: 3 }, tokens_in: 0, cost_estimated: false }],
    ['cohere/rerank-v9.9', null, 2_000_000, { units: { searches: 1 }, cost_estimated: true }],
    ['cohere/rerank-v9.9-tokens', { prompt: 1 }, 17_500, { cost_estimated: true, tokens_in: 35 }],
    ['jina-reranker-test', { prompt: 50 }, 1000, { tokens_in: 50, cost_estimated: false }],
    ['jina-reranker-test', null, 700, { tokens_in: 35, cost_estimated: true }],
    ['rerank-9', { prompt: 50 }, 2500, { tokens_in: 50, cost_estimated: false, provider: 'voyage' }],
    ['bedrock/cohere.rerank-v9:0', undefined, 2_000_000, { units: { searches: 1 }, cost_estimated: true }],
    ['together/mixedbread/rerank', { prompt: 50 }, 3000, { tokens_in: 50, cost_estimated: false }],
  ];

  test.each(BILLS)('%s that reports %j costs %d nano-USD', async (model, usage, nanoUsd, expected) => {
    world.upstream.control.setDefault({ usage });
    const { response, json, row } = await rerank({ model, top_n: 2 });
    expect(response.status).toBe(200);
    expect(json.results).toEqual([
      { index: 2, relevance_score: 1 },
      { index: 0, relevance_score: 0.5 },
    ] as never);
    expect(json.cost_usd).toBe(nanoUsd / 1e9);
    expect(await row()).toMatchObject({
      ...{ status: 'success', cost_usd: nanoUsd / 1e9, dialect: 'cohere-rerank', modality: 'rerank' },
      ...expected,
    });
  });

  test('the official SDKs read both answers', async () => {
    const cohere = new CohereClientV2({ token: apiKey, environment: world.gateway.url });
    const ranked = await cohere.rerank({ model: 'rerank-v9.9', query: 'sky', documents: DOCUMENTS, topN: 1 });
    expect(ranked.results).toMatchObject([{ index: 1, relevanceScore: 1 }]);
    expect(ranked.meta?.billedUnits?.searchUnits).toBe(1);
    const client = new OpenAI({ apiKey, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
    const { data, response } = await client.moderations
      .create({ model: 'omni-moderation-test', input: ['hello', 'I kill you'] })
      .withResponse();
    expect(data.results.map(({ flagged }) => flagged)).toEqual([false, true]);
    expect(response.headers.get('x-cost-usd')).toBe('0.000000000');
    const row = await logRow(world.gateway, response.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({ modality: 'moderation', cost_usd: 0, cost_estimated: false, status: 'success' });
  });

  test('a verdict may be about a picture, and may have a price', async () => {
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const input = [{ type: 'text', text: 'look' }, picture];
    const { json } = await post('/v1/moderations', { model: 'omni-moderation-test', input });
    expect(json.results).toHaveLength(1);
    expect(world.upstream.requests.at(-1)?.body).toEqual({ model: 'omni-moderation-test', input });
    world.upstream.control.setDefault({ usage: { prompt: 20 } });
    const priced = await post('/v1/moderations', { model: 'mistral-moderation-test', input: 'hello' });
    expect([priced.json.cost_usd, priced.json.usage]).toEqual([2e-6, { prompt_tokens: 20, total_tokens: 20 }]);
  });

  /** Model, what the vendor reports, and the whole bill in nano-USD. */
  const DECISIONS: readonly [usage: FakeBehaviour['usage'], nanoUsd: number, row: Record<string, unknown>][] = [
    // Input 60 × 1000, cached 40 × 100, output 30 × 2000, reasoning as output 10 × 2000.
    [
      { prompt: 100, cached: 40, completion: 40, reasoning: 10 },
      144_000,
      { tokens_reasoning: 10, tokens_cache_read: 40 },
    ],
    // Guessed: 60 bytes of input, and 200 tokens for each question.
    [null, 820_000, { tokens_in: 20, tokens_out: 400, cost_estimated: true }],
  ];

  test.each(DECISIONS)(
    'decisions with usage %j cost %d nano-USD, and the official SDK reads them',
    async (usage, nanoUsd, expected) => {
      world.upstream.control.setDefault({ usage });
      const client = new OpenAI({ apiKey, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
      const questions = [
        { type: 'predicate' as const, name: 'spam', text: 'Is it?' },
        { type: 'predicate' as const, name: 'rude' },
      ];
      const request = { model: 'gpt-decides', input: 'Buy now!', questions } as never;
      const { data, response } = await client.decisions.create(request).withResponse();
      expect(data.answers).toMatchObject([{ name: 'spam', probability: 0.75 }, { name: 'rude' }]);
      const row = await logRow(world.gateway, response.headers.get('x-request-id') ?? '');
      expect(row).toMatchObject({
        dialect: 'openai-decisions',
        status: 'success',
        cost_usd: nanoUsd / 1e9,
        ...expected,
      });
      const { json } = await post('/v1/decisions', {
        model: 'gpt-decides',
        input: 'a',
        questions: [{ type: 'guess' }],
      });
      expect(json.error?.param).toBe('questions.0.type');
    },
  );

  test.each(['/v1/rerank', '/v1/moderations', '/v1/images/generations', '/v1/decisions'])(
    'a model that nobody knows is 404 at %s',
    async (path) => {
      const asked = {
        query: 'x',
        documents: ['a'],
        input: 'x',
        prompt: 'x',
        questions: [{ type: 'predicate', name: 'a', text: 'b' }],
      };
      for (const model of ['no-such-model', 'cohere/no-such-model']) {
        const { response, json } = await post(path, { ...asked, model });
        const isUnpriced = path === '/v1/rerank' && model.startsWith('cohere');
        const expected = isUnpriced ? [400, 'model_not_priced'] : [404, 'model_not_found'];
        expect([response.status, json.error?.code, json.error?.param]).toEqual([...expected, 'model']);
      }
    },
  );

  test('the built-in model ranks without any provider', async () => {
    const { json, row } = await rerank({ model: 'local/all-MiniLM-L6-v2', query: 'What colour is the sky?' });
    expect(json.results?.map(({ index }) => index)).toEqual([1, 2, 0]);
    expect(received()).toBe(0);
    expect(await row()).toMatchObject({ provider: 'local', cost_usd: 0, status: 'success' });
    const long = 'word '.repeat(600);
    const documents = await rerank({ model: 'local/all-MiniLM-L6-v2', documents: ['a', long] });
    expect(documents.json.error).toMatchObject({ code: 'invalid_request', param: 'documents.1' });
    const query = await rerank({ model: 'local/all-MiniLM-L6-v2', query: long });
    expect(query.json.error?.param).toBe('query');
  });

  test('an answer is cached, and served for nothing', async () => {
    const first = await rerank({ model: 'rerank-9' });
    const again = await rerank({ model: 'rerank-9', user: 'another' });
    expect([first, again].map(({ response }) => response.headers.get('x-cache-hit'))).toEqual(['miss', 'exact']);
    expect([again.json.results, again.json.cost_usd, received()]).toEqual([first.json.results, 0, 1]);
    const { saved_usd, cost_usd } = await again.row();
    expect([saved_usd, cost_usd]).toEqual([Number(first.json.cost_usd), 0]);
    await rerank({ model: 'rerank-9', documents: [...DOCUMENTS].reverse() });
    expect(received()).toBe(2);
  });

  const openHolds = async () => (await callAdmin<{ open_holds: number }>(world.gateway, '/reconcile')).open_holds;

  test('identical requests at once reach the vendor once, and one of them pays', async () => {
    world.upstream.control.hold();
    const asked = Array.from({ length: 5 }, () => rerank({ model: 'rerank-v9.9' }));
    while ((await openHolds()) < asked.length) await Bun.sleep(20);
    await waitUntil(() => world.upstream.control.counters.waiting === 1);
    world.upstream.control.release();
    const answers = await Promise.all(asked);
    expect(received()).toBe(1);
    expect(answers.map(({ json }) => json.cost_usd).sort()).toEqual([0, 0, 0, 0, 0.002]);
    expect(answers.filter(({ response }) => response.headers.get('x-cache-hit') === 'exact')).toHaveLength(4);
    const rows = await Promise.all(answers.map(({ row }) => row()));
    expect(rows.map(({ saved_usd }) => saved_usd).sort()).toEqual([0, 0.002, 0.002, 0.002, 0.002]);
    expect((await settledLedger(world.gateway)).ok).toBe(true);
  });

  test('where the first of them leaves, the next one pays; a failure goes to all', async () => {
    const { control } = world.upstream;
    control.hold();
    const leaving = new AbortController();
    const body = JSON.stringify({ model: 'rerank-v9.9', query: 'red sky', documents: DOCUMENTS });
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const left = fetch(`${world.gateway.url}/v1/rerank`, { method: 'POST', headers, body, signal: leaving.signal });
    left.catch(() => undefined);
    await waitUntil(() => control.counters.waiting === 1);
    const staying = rerank({ model: 'rerank-v9.9' });
    while ((await openHolds()) < 2) await Bun.sleep(20);
    leaving.abort();
    while ((await openHolds()) > 1) await Bun.sleep(20);
    control.release();
    expect([(await staying).json.cost_usd, received(), control.counters.cancelled]).toEqual([0.002, 1, 0]);
    control.hold();
    control.enqueue({ status: 400 });
    const failing = Array.from({ length: 3 }, () => rerank({ model: 'rerank-v9.9', query: 'none' }));
    while ((await openHolds()) < failing.length) await Bun.sleep(20);
    await waitUntil(() => control.counters.waiting === 1);
    control.release();
    expect((await Promise.all(failing)).map(({ response }) => response.status)).toEqual([400, 400, 400]);
    expect(received()).toBe(2);
    expect((await settledLedger(world.gateway)).ok).toBe(true);
  });

  test('an Idempotency-Key replays it', async () => {
    await update({ cache_enabled: false });
    const key = { 'Idempotency-Key': 'one' };
    const first = await rerank({ model: 'rerank-9' }, key);
    const again = await rerank({ model: 'rerank-9' }, key);
    expect(again.response.headers.get('x-idempotent-replay')).toBe('true');
    expect([again.json.results, again.json.cost_usd, received()]).toEqual([first.json.results, 0, 1]);
    expect((await rerank({ model: 'rerank-9', top_n: 1 }, key)).response.status).toBe(409);
    // The key alone makes no cache.
    const another = await rerank({ model: 'rerank-9' }, { 'Idempotency-Key': 'two' });
    expect([another.response.headers.get('x-cache-hit'), received()]).toEqual(['miss', 2]);
  });

  test('the next target answers after a failure', async () => {
    const targets = [
      { provider: 'voyage', model: 'rerank-9' },
      { provider: 'cohere', model: 'rerank-v9.9' },
    ];
    await callAdmin(world.gateway, '/aliases', { body: { alias: 'ranker', project_id: projectId, targets } });
    world.upstream.control.setModel('rerank-9', { status: 503 });
    const { response, json } = await rerank({ model: 'ranker' });
    expect([response.status, response.headers.get('x-provider'), json.cost_usd]).toEqual([200, 'cohere', 0.002]);
  });

  test('a caller that leaves pays for what the vendor may bill', async () => {
    world.upstream.control.enqueue({ hang: true });
    const leaving = new AbortController();
    const body = JSON.stringify({ model: 'rerank-v9.9', query: 'q', documents: ['d'] });
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'x-llm0-left': 'yes' };
    const left = fetch(`${world.gateway.url}/v1/rerank`, { method: 'POST', headers, body, signal: leaving.signal });
    left.catch(() => undefined);
    await waitUntil(() => received() === 1);
    leaving.abort();
    await waitUntil(() => world.upstream.control.counters.cancelled === 1);
    const { data } = await callAdmin<{ data: object[] }>(world.gateway, `/logs?project_id=${projectId}`);
    for (let tries = 0; tries < 100 && data.length === 0; tries++) {
      await Bun.sleep(50);
      data.push(...(await callAdmin<{ data: object[] }>(world.gateway, `/logs?project_id=${projectId}`)).data);
    }
    expect(data[0]).toMatchObject({ status: 'aborted', cost_usd: 0.002, cost_estimated: true, modality: 'rerank' });
    expect((await settledLedger(world.gateway)).ok).toBe(true);
  });

  test('a cap holds the bound of a request, and refuses one beyond it', async () => {
    await update({ monthly_cap_usd: 0.0021, cache_enabled: false });
    expect((await rerank({ model: 'rerank-v9.9' })).response.status).toBe(200);
    const { response, json } = await rerank({ model: 'rerank-v9.9' });
    expect([response.status, json.error?.code, received()]).toEqual([402, 'spend_cap_exceeded', 1]);
  });

  test('a missing price is a refusal', async () => {
    // The vendor states no price of its newest model.
    const stated = 'cohere/rerank-v4.0-pro';
    const refused = async (model: string) => {
      const { response, json } = await rerank({ model });
      expect([model, response.status, json.error?.code]).toEqual([model, 400, 'model_not_priced']);
    };
    for (const model of ['cohere/rerank-v9.9-odd', 'cohere/rerank-never-priced', stated]) await refused(model);
    await update({ monthly_cap_usd: 5 });
    await refused(stated);
    await update({ unknown_model_policy: 'allow_unpriced' });
    const allowed = await rerank({ model: stated });
    expect([allowed.response.status, allowed.json.cost_usd]).toEqual([200, 0]);
    expect(await allowed.row()).toMatchObject({ cost_usd: 0, units: { searches: 1 } });
    const { data } = await callAdmin<{ data: object[] }>(world.gateway, '/models/unpriced');
    expect(data).toContainEqual(expect.objectContaining({ provider: 'cohere', model: 'rerank-v4.0-pro', requests: 1 }));
    await update({ strict_caps: true });
    await refused(stated);
    expect(received()).toBe(1);
  });

  test('what cannot be asked is refused by name, and nothing is sent', async () => {
    const cases: [unknown, number, string][] = [
      [{ model: 'rerank-9', documents: ['a'] }, 400, 'query'],
      [{ model: 'rerank-9', query: 'q', documents: [] }, 400, 'documents'],
      [{ model: 'rerank-9', query: 'q', documents: ['a', 7] }, 400, 'documents.1'],
      [{ model: 'rerank-9', query: 'q', documents: ['a'], top_n: 0 }, 400, 'top_n'],
      [{ model: 'gpt-4o-mini', query: 'q', documents: ['a'] }, 400, 'model'],
      [{ model: 'rerank-9', query: 'q', documents: ['a'], max_tokens_per_doc: 5 }, 400, 'max_tokens_per_doc'],
    ];
    for (const [body, status, param] of cases) {
      const { response, json } = await post('/v1/rerank', body);
      expect([response.status, json.error?.param, body]).toEqual([status, param, body]);
    }
    const wrong = await post('/v1/rerank', 'a=b', { 'content-type': 'application/x-www-form-urlencoded' });
    expect([wrong.response.status, wrong.json.error?.param]).toEqual([415, 'Content-Type']);
    expect(received()).toBe(0);
    expect(
      (await settledLedger(world.gateway)).projects.find(({ project_id }) => project_id === projectId)?.logs_usd ?? 0,
    ).toBe(0);
  });

  test('guardrails judge each text, and refuse what they cannot read', async () => {
    const rules = [
      { name: 'no-secret', on: 'input', check: { type: 'words', words: ['hush'] }, action: 'block' },
      { name: 'mails', on: 'input', check: { type: 'pii', kinds: ['email'] }, action: 'redact' },
    ];
    await callAdmin(world.gateway, `/projects/${projectId}/guardrails`, {
      method: 'PUT',
      body: { mode: 'enforce', rules },
    });
    const blocked = await rerank({ model: 'rerank-9', documents: ['fine', 'hush now'] });
    expect([blocked.response.status, blocked.json.error?.param]).toEqual([400, 'no-secret']);
    await rerank({ model: 'rerank-9', documents: ['write to jane@example.org'] });
    expect(JSON.stringify(world.upstream.requests.at(-1)?.body)).not.toContain('jane@');
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const { response, json } = await post('/v1/moderations', { model: 'omni-moderation-test', input: [picture] });
    expect([response.status, json.error?.param, received()]).toEqual([400, 'input', 1]);
  });
});
