import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { ApiError, GoogleGenAI } from '@google/genai';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { logRow, ON_ONE_KIND, settledLedger, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
const MODEL = 'gemini-2.5-flash';

describe.each(ON_ONE_KIND)('Gemini’s own API at the root, on %s stores', (kind) => {
  let world: TestEnvironment;
  let apiKey: string;
  let projectId: string;
  let client: GoogleGenAI;
  beforeAll(async () => {
    world = await shareEnvironment({ kind });
    ({ apiKey, projectId } = await createTestKey(world.gateway));
    client = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: world.gateway.url } });
  }, SETUP_MS);
  afterAll(() => world?.close(), SETUP_MS);
  beforeEach(() => world.upstream.control.reset());

  const post = (path: string, body: unknown = { contents: [{ parts: [{ text: 'Hi' }] }] }, headers = {}) =>
    fetch(`${world.gateway.url}/v1beta/models/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const errorOf = async (response: Response) => {
    const { error } = (await response.json()) as { error: { code: number; status: string; message: string } };
    return { ...error, http: response.status };
  };

  test('the official SDK: words, streams, counts, and what they cost', async () => {
    world.upstream.control.enqueue({ text: 'Grüße', usage: { prompt: 12, completion: 7 } });
    const answer = await client.models.generateContent({ model: MODEL, contents: 'Say hello' });
    expect([answer.text, answer.usageMetadata?.totalTokenCount]).toEqual(['Grüße', 19]);
    world.upstream.control.enqueue({ text: 'one two three', chunks: 3, usage: { prompt: 12, completion: 7 } });
    const pieces: string[] = [];
    for await (const chunk of await client.models.generateContentStream({ model: MODEL, contents: 'Count' })) {
      if (chunk.text) pieces.push(chunk.text);
    }
    expect([pieces.length, pieces.join('')]).toEqual([3, 'one two three']);
    expect(world.upstream.requests.at(-1)?.path).toEndWith(`/${MODEL}:streamGenerateContent`);
    const ledger = await settledLedger(world.gateway);
    expect(ledger.ok).toBe(true);
    expect(ledger.projects.find((one) => one.project_id === projectId)?.counter_usd).toBeGreaterThan(0);
  });

  test('a file that the vendor stores is refused by its place: it may be another project’s', async () => {
    const asked = world.upstream.requests.length;
    const ask = (fileUri: string) =>
      post(
        `${MODEL}:generateContent`,
        { contents: [{ parts: [{ fileData: { fileUri } }] }] },
        { 'x-goog-api-key': apiKey },
      );
    const refused = await errorOf(await ask('https://generativelanguage.googleapis.com/v1beta/files/abc'));
    expect(refused).toMatchObject({ http: 400, status: 'INVALID_ARGUMENT' });
    expect(refused.message).toContain('contents[0].parts[0].fileData.fileUri');
    expect(world.upstream.requests).toHaveLength(asked);
    world.upstream.control.enqueue({ usage: { prompt: 10, completion: 1 } });
    expect((await ask('https://www.youtube.com/watch?v=x')).status).toBe(200);
  });

  test('so is content that the vendor caches, for its own API and for chat', async () => {
    const asked = world.upstream.requests.length;
    const cachedContent = 'cachedContents/abc';
    const contents = [{ parts: [{ text: 'Hi' }] }];
    const headers = { 'x-goog-api-key': apiKey };
    const native = await errorOf(await post(`${MODEL}:generateContent`, { contents, cachedContent }, headers));
    expect(native).toMatchObject({ http: 400, status: 'INVALID_ARGUMENT' });
    expect(native.message).toContain('"cachedContent" names');
    const chat = await fetch(`${world.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
      body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hi' }], cachedContent }),
    });
    expect(chat.status).toBe(400);
    expect((await chat.json()).error).toMatchObject({ code: 'invalid_request', param: 'cachedContent' });
    expect(world.upstream.requests).toHaveLength(asked);
  });

  test('the row has model, tokens and cost', async () => {
    world.upstream.control.enqueue({ usage: { prompt: 1000, completion: 100 } });
    const response = await post(`${MODEL}:generateContent`, undefined, { 'x-goog-api-key': apiKey });
    await response.text();
    const row = await logRow(world.gateway, response.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({
      status: 'success',
      model: MODEL,
      tokens_in: 1000,
      tokens_out: 100,
      dialect: 'passthrough',
    });
    expect(row.cost_usd).toBeGreaterThan(0);
  });

  test('the key may be in the URL, and never goes on', async () => {
    const response = await post(`${MODEL}:streamGenerateContent?alt=sse&key=${apiKey}`);
    expect([response.status, (await response.text()).startsWith('data: ')]).toEqual([200, true]);
    expect(JSON.stringify(world.upstream.requests.at(-1))).not.toContain(apiKey);
    expect(await errorOf(await post(`${MODEL}:generateContent`))).toMatchObject({
      http: 401,
      status: 'UNAUTHENTICATED',
    });
  });

  test('tokens are counted for nothing', async () => {
    const counted = await client.models.countTokens({ model: MODEL, contents: 'How many?' });
    expect(counted.totalTokens).toBeGreaterThan(0);
    const response = await post(`${MODEL}:countTokens`, undefined, { 'x-goog-api-key': apiKey });
    await response.text();
    expect(await logRow(world.gateway, response.headers.get('x-request-id') ?? '')).toMatchObject({ cost_usd: 0 });
  });

  test('an alias stands for its model', async () => {
    const targets = [{ provider: 'gemini', model: MODEL }];
    await callAdmin(world.gateway, '/aliases', { body: { alias: 'quick', project_id: projectId, targets } });
    const response = await post('quick:generateContent', undefined, { authorization: `Bearer ${apiKey}` });
    await response.text();
    expect([response.status, world.upstream.requests.at(-1)?.path]).toEqual([
      200,
      `/v1beta/models/${MODEL}:generateContent`,
    ]);
    const row = await logRow(world.gateway, response.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({ model: MODEL, requested_model: 'quick' });
  });

  test('other vendors’ models and unknown ones are refused in Google’s words', async () => {
    const failure = await client.models
      .generateContent({ model: 'gpt-4o-mini', contents: 'x' })
      .catch((error) => error);
    expect(failure).toBeInstanceOf(ApiError);
    expect(failure.status).toBe(400);
    const headers = { 'x-goog-api-key': apiKey };
    const other = await errorOf(await post('claude-haiku-4-5:generateContent', undefined, headers));
    expect(other).toMatchObject({ http: 400, status: 'INVALID_ARGUMENT' });
    expect(other.message).toContain('/v1/chat/completions');
    const unknown = await errorOf(await post('nobody-knows-this:generateContent', undefined, headers));
    expect(unknown).toMatchObject({ http: 404, status: 'NOT_FOUND' });
    const method = await errorOf(await post(`${MODEL}:makeCoffee`, undefined, headers));
    expect(method).toMatchObject({ http: 404, status: 'NOT_FOUND' });
    const get = await fetch(`${world.gateway.url}/v1beta/models/${MODEL}:generateContent`, { headers });
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await errorOf(get)).code).toBe(405);
    const nothing = await fetch(`${world.gateway.url}/v1beta/nothing`, { headers });
    expect(await errorOf(nothing)).toMatchObject({ http: 404, status: 'NOT_FOUND' });
    expect(world.upstream.control.counters.received).toBe(0);
  });

  test('limits and caps hold', async () => {
    const limited = await createTestKey(world.gateway, { key: { rate_limit_per_minute: 1 } });
    const ask = (key: string) => post(`${MODEL}:generateContent`, undefined, { 'x-goog-api-key': key });
    expect((await ask(limited.apiKey)).status).toBe(200);
    expect(await errorOf(await ask(limited.apiKey))).toMatchObject({ http: 429, status: 'RESOURCE_EXHAUSTED' });
    const capped = await createTestKey(world.gateway, { project: { monthly_cap_usd: 0.000001 } });
    expect((await errorOf(await ask(capped.apiKey))).http).toBe(402);
    const narrow = await createTestKey(world.gateway, { key: { allowed_models: ['gpt-4o-mini'] } });
    expect((await errorOf(await ask(narrow.apiKey))).http).toBe(403);
  });
});
