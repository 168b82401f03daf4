import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { encode } from 'gpt-tokenizer/encoding/cl100k_base';
import OpenAI from 'openai';
import { fakeVector } from '../fake-upstream/render-embeddings';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { logRow, ON_ONE_KIND, settledLedger, shareEnvironment, type TestEnvironment, waitUntil } from './environment';

const SETUP_MS = 60_000;
const MODEL = 'text-embedding-3-small';
/** Nano-USD a token of the model costs: $0.02 per million. */
const NANO_PER_TOKEN = 20;

describe.each(ON_ONE_KIND)('embeddings on %s stores', (kind) => {
  let world: TestEnvironment;
  let apiKey: string;
  let projectId: string;
  beforeAll(async () => {
    world = await shareEnvironment({
      ...{ kind, localModels: ['nomic-embed-text'] },
      env: ({ baseUrl, url }) => ({
        ...{ MISTRAL_API_KEY: 'mistral-fake-key', MISTRAL_BASE_URL: baseUrl },
        ...{ TOGETHER_API_KEY: 'together-fake-key', TOGETHER_BASE_URL: baseUrl },
        ...{ AZURE_OPENAI_API_KEY: 'azure-fake-key', AZURE_OPENAI_ENDPOINT: url },
        ...{ COHERE_API_KEY: 'cohere-fake-key', COHERE_BASE_URL: url },
        ...{ VOYAGE_API_KEY: 'voyage-fake-key', VOYAGE_BASE_URL: baseUrl },
      }),
    });
  }, SETUP_MS);
  beforeEach(async () => {
    world.upstream.control.reset();
    ({ apiKey, projectId } = await createTestKey(world.gateway));
  });
  afterAll(() => world.close(), SETUP_MS);

  const addAlias = (...targets: { provider: string; model: string }[]) =>
    callAdmin(world.gateway, '/aliases', { body: { alias: 'two-homes', project_id: projectId, targets } });

  const post = (body: unknown, headers: Record<string, string> = {}, key = apiKey) =>
    fetch(`${world.gateway.url}/v1/embeddings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const embed = async (body: Record<string, unknown>, headers?: Record<string, string>) => {
    const response = await post(body, headers);
    const json = (await response.json()) as {
      data: { index: number; embedding: number[] }[];
      model: string;
      usage: { prompt_tokens: number };
      cost_usd: number;
      error?: { code: string; message: string; param: string | null };
    };
    return { response, json, vectors: (json.data ?? []).map(({ embedding }) => embedding) };
  };
  const sent = () => world.upstream.requests.at(-1)?.body;

  test('the official SDK gets vectors, their order, usage and cost', async () => {
    const client = new OpenAI({ apiKey, baseURL: `${world.gateway.url}/v1`, maxRetries: 0 });
    const { data, response } = await client.embeddings
      .create({ model: MODEL, input: ['one two', 'three'], dimensions: 5, user: 'u' })
      .withResponse();
    expect(data.data.map(({ embedding, index }) => [index, [...embedding]])).toEqual([
      [0, fakeVector('one two', 5)],
      [1, fakeVector('three', 5)],
    ]);
    expect(data.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 });
    expect(sent()).toEqual({
      model: MODEL,
      input: ['one two', 'three'],
      dimensions: 5,
      user: 'u',
      encoding_format: 'base64',
    });
    expect(response.headers.get('x-cost-usd')).toBe('0.000000060');
    const row = await logRow(world.gateway, response.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({
      ...{ status: 'success', tokens_in: 3, tokens_out: 0, cache_hit: false, stream: false },
      ...{ dialect: 'openai-embeddings', modality: 'embedding', model: MODEL, cost_usd: (3 * NANO_PER_TOKEN) / 1e9 },
    });
  });

  test('plain numbers are the very floats, as short as they can be', async () => {
    const { vectors, json } = await embed({ model: MODEL, input: 'plain', vendor_extra: 1 });
    expect(vectors[0]?.map(Math.fround)).toEqual(fakeVector('plain'));
    expect(Math.max(...(vectors[0] ?? []).map((value) => String(value).length))).toBeLessThanOrEqual(14);
    expect(json.cost_usd).toBe(NANO_PER_TOKEN / 1e9);
    expect(sent()).toMatchObject({ vendor_extra: 1 });
  });

  describe('with an Idempotency-Key', () => {
    const key = (name: string) => ({ 'Idempotency-Key': name });
    const received = () => world.upstream.control.counters.received;
    const input = ['once', 'only', 'ever'];
    beforeEach(async () => {
      ({ apiKey, projectId } = await createTestKey(world.gateway, { project: { cache_enabled: false } }));
    });

    test('a completed answer is replayed for nothing, in its own encoding', async () => {
      for (const encoding_format of ['float', 'base64']) {
        const first = await embed({ model: MODEL, input, encoding_format }, key(encoding_format));
        expect(first.response.headers.get('x-idempotent-replay')).toBeNull();
        const before = received();
        const again = await embed({ model: MODEL, input, encoding_format }, key(encoding_format));
        expect(received()).toBe(before);
        const { headers } = again.response;
        expect([headers.get('x-idempotent-replay'), headers.get('x-cache-hit')]).toEqual(['true', 'miss']);
        expect([headers.get('x-cost-usd'), again.json.cost_usd]).toEqual(['0.000000000', 0]);
        expect(again.vectors).toEqual(first.vectors);
        expect([again.json.model, again.json.usage]).toEqual([first.json.model, first.json.usage]);
        const row = await logRow(world.gateway, headers.get('x-request-id') ?? '');
        expect(row).toMatchObject({ status: 'success', cost_usd: 0, cache_hit: false });
      }
      expect((await settledLedger(world.gateway)).ok).toBe(true);
    });

    test('another body is a conflict, in whatever API it comes', async () => {
      await embed({ model: MODEL, input }, key('one'));
      for (const body of [
        { model: MODEL, input: 'another' },
        { model: MODEL, input, user: 'u' },
      ]) {
        const { response, json } = await embed(body, key('one'));
        expect([response.status, json.error?.code]).toEqual([409, 'idempotency_conflict']);
      }
      const chat = await fetch(`${world.gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, ...key('one') },
        body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'x' }] }),
      });
      expect(chat.status).toBe(409);
      await chat.text();
    });

    test('a caller that leaves frees the key', async () => {
      world.upstream.control.enqueue({ hang: true });
      const leaving = new AbortController();
      const headers = { authorization: `Bearer ${apiKey}`, ...key('left') };
      const body = JSON.stringify({ model: MODEL, input });
      const url = `${world.gateway.url}/v1/embeddings`;
      const left = fetch(url, { method: 'POST', headers, body, signal: leaving.signal }).catch(() => undefined);
      await waitUntil(() => received() === 1);
      leaving.abort();
      await left;
      await waitUntil(() => world.upstream.control.counters.cancelled === 1);
      const { response, vectors } = await embed({ model: MODEL, input }, key('left'));
      expect([response.status, response.headers.get('x-idempotent-replay'), vectors.length]).toEqual([200, null, 3]);
    });

    test('one under way is joined; errors are never kept', async () => {
      world.upstream.control.hold();
      const both = [embed({ model: MODEL, input }, key('join')), embed({ model: MODEL, input }, key('join'))];
      await waitUntil(() => world.upstream.control.counters.waiting === 1);
      await Bun.sleep(50);
      world.upstream.control.release();
      const [first, second] = await Promise.all(both);
      expect(received()).toBe(1);
      expect(first?.vectors).toEqual(second?.vectors as number[][]);
      const replays = [first, second].map((one) => one?.response.headers.get('x-idempotent-replay'));
      expect(replays.toSorted()).toEqual([null, 'true'].toSorted());
      world.upstream.control.enqueue({ status: 400 });
      expect((await embed({ model: MODEL, input }, key('fails'))).response.status).toBe(400);
      expect((await embed({ model: MODEL, input }, key('fails'))).response.status).toBe(200);
      const bad = await embed({ model: MODEL, input }, key('x'.repeat(300)));
      expect([bad.response.status, bad.json.error?.param]).toEqual([400, 'Idempotency-Key']);
    });
  });

  test('tokens instead of text, one or several', async () => {
    expect((await embed({ model: MODEL, input: [1, 2, 3] })).vectors[0]?.map(Math.fround)).toEqual(fakeVector('1 2 3'));
    const several = await embed({ model: MODEL, input: [[1, 2], [7]] });
    expect(several.vectors.map((vector) => vector.map(Math.fround))).toEqual([fakeVector('1 2'), fakeVector('7')]);
  });

  test('an input is paid once: alone, in a batch, in either encoding', async () => {
    await embed({ model: MODEL, input: 'known' });
    const again = await embed({ model: MODEL, input: ['known'], user: 'somebody else' });
    expect(again.response.headers.get('x-cache-hit')).toBe('exact');
    expect([again.json.cost_usd, again.json.usage.prompt_tokens]).toEqual([0, 1]);
    const mixed = await embed({ model: MODEL, input: ['new one', 'known', 'other'] });
    expect(sent()).toMatchObject({ input: ['new one', 'other'] });
    expect(mixed.vectors.map((vector) => vector.map(Math.fround))).toEqual(
      ['new one', 'known', 'other'].map((t) => fakeVector(t)),
    );
    expect(mixed.json.cost_usd).toBe((3 * NANO_PER_TOKEN) / 1e9);
    const before = world.upstream.control.counters.received;
    const whole = await embed({ model: MODEL, input: ['other', 'new one', 'known'], encoding_format: 'base64' });
    expect(world.upstream.control.counters.received).toBe(before);
    expect(whole.response.headers.get('x-cache-hit')).toBe('exact');
    const row = await logRow(world.gateway, whole.response.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({
      cache_hit: true,
      cost_usd: 0,
      upstream_ms: null,
      saved_usd: (4 * NANO_PER_TOKEN) / 1e9,
    });
    await embed({ model: MODEL, input: 'known', dimensions: 4 });
    await embed({ model: MODEL, input: 'known' }, { 'x-llm0-cache': 'off' });
    await embed({ model: MODEL, input: 'known' }, { 'x-llm0-cache': 'refresh' });
    expect(world.upstream.control.counters.received).toBe(before + 3);
    expect((await settledLedger(world.gateway)).ok).toBe(true);
  });

  test.each([
    ['gemini-embedding-001', { task_type: 'RETRIEVAL_QUERY' }],
    ['mistral-embed', {}],
    ['azure/text-embedding-3-small', {}],
    ['ollama/nomic-embed-text', {}],
    ['amazon.titan-embed-text-v2:0', { normalize: true }],
    ['cohere.embed-v4:0', { input_type: 'search_query' }],
    ['embed-v4.0', { input_type: 'search_query' }],
    ['voyage-4-lite', { input_type: 'query' }],
    ['together/BAAI/bge-base-en-v1.5', {}],
  ])('%s', async (model, own) => {
    const { vectors, response, json } = await embed({ model, input: ['left', 'right side'], dimensions: 6, ...own });
    expect([response.status, json.error]).toEqual([200, undefined]);
    expect(vectors.map((vector) => vector.map(Math.fround))).toEqual([
      fakeVector('left', 6),
      fakeVector('right side', 6),
    ]);
    const row = await logRow(world.gateway, response.headers.get('x-request-id') ?? '');
    expect(row.tokens_in).toBeGreaterThan(0);
    if (model.startsWith('ollama')) expect(row.cost_usd).toBe(0);
    else expect(row.cost_usd).toBeGreaterThan(0);
    expect(JSON.stringify(sent())).toContain('right side');
  });

  test('unsupported parameters are refused by name, or dropped and named', async () => {
    const odd = { model: 'gemini-embedding-001', input: 'odd', odd_field: 1 };
    expect((await embed(odd)).json.error).toMatchObject({ code: 'unsupported_parameter', param: 'odd_field' });
    const dropped = await embed(odd, { 'x-llm0-drop-params': 'true' });
    expect([dropped.response.status, dropped.response.headers.get('x-llm0-dropped')]).toEqual([200, 'odd_field']);
    const row = await logRow(world.gateway, dropped.response.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({ dropped_params: ['odd_field'] });
  });

  test.each(['gemini-embedding-001', 'nomic-embed-text', 'amazon.titan-embed-text-v2:0'])(
    'tokens reach %s as the text they stand for, and are held as such',
    async (model) => {
      const text = 'Ein längerer Text, wie ihn LangChain in Tokens schickt.';
      const batch = await embed({ model, input: [encode(text), encode('kurz')] });
      expect([batch.response.status, batch.json.error]).toEqual([200, undefined]);
      expect(batch.vectors.map((vector) => vector.map(Math.fround))).toEqual([fakeVector(text), fakeVector('kurz')]);
      // The same text is the same question, however it came.
      const again = await embed({ model, input: text });
      expect([again.response.headers.get('x-cache-hit'), again.json.cost_usd]).toEqual(['exact', 0]);
      expect((await embed({ model, input: [[99_999_999]] })).json.error).toMatchObject({
        code: 'invalid_request',
        param: 'input.0',
      });
      expect((await settledLedger(world.gateway)).ok).toBe(true);
    },
  );

  test('the built-in model takes tokens too', async () => {
    const model = 'local/all-MiniLM-L6-v2';
    const byTokens = await embed({ model, input: [encode('A dog barks.')] }, { 'x-llm0-cache': 'off' });
    const byText = await embed({ model, input: 'A dog barks.' }, { 'x-llm0-cache': 'off' });
    expect(byTokens.response.status).toBe(200);
    expect(byTokens.vectors).toEqual(byText.vectors);
  });

  test('failover goes to the same model only', async () => {
    await addAlias(
      { provider: 'openai', model: MODEL },
      { provider: 'azure', model: MODEL },
      { provider: 'openai', model: 'text-embedding-3-large' },
    );
    world.upstream.control.enqueue({ status: 429 });
    const answered = await embed({ model: 'two-homes', input: 'where' });
    expect([answered.response.headers.get('x-provider'), answered.response.headers.get('x-failover')]).toEqual([
      'azure',
      'true',
    ]);
    world.upstream.control.setDefault({ status: 429, retryAfter: '0' });
    const failed = await embed({ model: 'two-homes', input: 'nowhere' });
    expect(failed.response.status).toBe(429);
    const row = await logRow(world.gateway, failed.response.headers.get('x-request-id') ?? '');
    const { attempts } = row as unknown as { attempts: { provider: string; model: string; outcome: string }[] };
    expect(new Set(attempts.map(({ model }) => model))).toEqual(new Set([MODEL]));
    // One that cooled down came last, and is named where it was skipped.
    const asked = attempts.filter(({ outcome }) => outcome !== 'cooling_down');
    expect(asked.map(({ provider }) => provider).sort()).toEqual(['azure', 'openai']);
  });

  test('the model in this repository, for nothing', async () => {
    const model = 'local/all-MiniLM-L6-v2';
    const { vectors, response, json } = await embed({ model, input: ['A cat sits.', 'Eine Katze sitzt.', 'Tax law'] });
    expect([response.status, vectors.length, vectors[0]?.length]).toEqual([200, 3, 384]);
    const dot = (a: number[] = [], b: number[] = []) => a.reduce((sum, x, i) => sum + x * (b[i] ?? 0), 0);
    expect(dot(vectors[0], vectors[0])).toBeCloseTo(1, 3);
    expect(dot(vectors[0], vectors[1])).toBeGreaterThan(dot(vectors[0], vectors[2]));
    expect([json.cost_usd, json.usage.prompt_tokens > 8]).toEqual([0, true]);
    expect((await embed({ model, input: 'A cat sits.' })).response.headers.get('x-cache-hit')).toBe('exact');
    expect((await embed({ model, input: 'word '.repeat(900) })).json.error).toMatchObject({
      code: 'invalid_request',
      param: 'input.0',
    });
    expect((await embed({ model, input: 'x', dimensions: 100 })).json.error?.code).toBe('unsupported_parameter');
  });

  test.each([
    [{ input: 'x' }, 400, 'invalid_request', 'model'],
    [{ model: MODEL }, 400, 'invalid_request', 'input'],
    [{ model: MODEL, input: [] }, 400, 'invalid_request', 'input'],
    [{ model: MODEL, input: '' }, 400, 'invalid_request', 'input'],
    [{ model: MODEL, input: ['a', 3] }, 400, 'invalid_request', 'input.1'],
    [{ model: MODEL, input: [[1, -2]] }, 400, 'invalid_request', 'input.0'],
    [{ model: MODEL, input: 'x', dimensions: 0 }, 400, 'invalid_request', 'dimensions'],
    [{ model: MODEL, input: 'x', encoding_format: 'hex' }, 400, 'invalid_request', 'encoding_format'],
    [{ model: 'gpt-4o-mini', input: 'x' }, 400, 'invalid_request', 'model'],
    [{ model: 'no-such-model', input: 'x' }, 404, 'model_not_found', 'model'],
  ])('%j is refused, by name', async (body, status, code, param) => {
    const { response, json } = await embed(body as Record<string, unknown>);
    expect([response.status, json.error?.code, json.error?.param]).toEqual([status, code, param]);
    const row = await logRow(world.gateway, response.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({ status: 'error', http_status: status, cost_usd: 0 });
  });

  test('a vendor that answers wrongly is no answer', async () => {
    world.upstream.control.setDefault({ status: 400 });
    const refused = await embed({ model: MODEL, input: 'refused' });
    expect([refused.response.status, refused.json.error?.code]).toEqual([400, 'upstream_rejected']);
  });

  test('caps and keys hold: of 40 at once as many as the cap pays for', async () => {
    // A text of 30 bytes holds 12 tokens; the cap pays for five of them.
    const cap = (5 * 12 * NANO_PER_TOKEN) / 1e9;
    const capped = await createTestKey(world.gateway, { project: { monthly_cap_usd: cap } });
    world.upstream.control.hold();
    const asked = Array.from({ length: 40 }, (_, i) =>
      post({ model: MODEL, input: `text number ${i} `.padEnd(30, 'x') }, {}, capped.apiKey),
    );
    const early = Promise.all(asked.map(async (one) => (await one).status));
    while (world.upstream.control.counters.waiting < 5) await Bun.sleep(10);
    await Bun.sleep(300);
    world.upstream.control.release();
    const statuses = await early;
    expect(statuses.filter((status) => status === 200).length).toBe(5);
    expect(statuses.filter((status) => status === 402).length).toBe(35);
    const { apiKey: other } = await createTestKey(world.gateway, { key: { allowed_models: ['gpt-4o-mini'] } });
    expect((await post({ model: MODEL, input: 'x' }, {}, other)).status).toBe(403);
    expect((await post({ model: 'local/all-MiniLM-L6-v2', input: 'x' }, {}, other)).status).toBe(403);
    expect((await settledLedger(world.gateway)).ok).toBe(true);
    expect(projectId).not.toBe(capped.projectId);
  });

  const openHolds = async () => (await callAdmin<{ open_holds: number }>(world.gateway, '/reconcile')).open_holds;

  test.each([[['alike']], [['alike', 'and more']]])('%j asked for at once is embedded once', async (input) => {
    world.upstream.control.hold();
    const before = world.upstream.control.counters.received;
    const { apiKey: key } = await createTestKey(world.gateway);
    const asked = Array.from({ length: 4 }, () => post({ model: MODEL, input }, {}, key));
    // All are admitted; one of them asks.
    while ((await openHolds()) < asked.length) await Bun.sleep(20);
    await waitUntil(() => world.upstream.control.counters.waiting === 1);
    world.upstream.control.release();
    const answers = await Promise.all(asked);
    expect(world.upstream.control.counters.received - before).toBe(1);
    expect(answers.map(({ headers }) => headers.get('x-cache-hit')).sort()).toEqual([
      'exact',
      'exact',
      'exact',
      'miss',
    ]);
    const vectors = await Promise.all(answers.map(async (one) => ((await one.json()) as { data: unknown }).data));
    expect(new Set(vectors.map((data) => JSON.stringify(data))).size).toBe(1);
    expect((await settledLedger(world.gateway)).ok).toBe(true);
  });

  test('only POST', async () => {
    const response = await fetch(`${world.gateway.url}/v1/embeddings`);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    const body = (await response.json()) as { error: { code: string } };
    expect(body.error.code).toBe('method_not_allowed');
  });
});
