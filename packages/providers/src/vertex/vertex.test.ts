import { describe, expect, test } from 'bun:test';
import type { ChatRequest } from '@llm0/core/chat/request';
import { ANY_REQUEST } from '../provider.cases';
import type { ProviderConnection } from '../provider-request';
import { vertex } from './index';

const connection: ProviderConnection = { baseUrl: '', apiKey: 'ya29.token', options: { project: 'my-project' } };

const HELLO: ChatRequest['messages'] = [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }];

function encode(model: string, request: Partial<ChatRequest> = {}, at: Partial<ProviderConnection> = {}) {
  const provider = vertex.forModel?.(model) ?? vertex;
  const context = { connection: { ...connection, ...at }, model, dropParams: false };
  const { url, headers, body } = provider.encodeRequest(
    { ...ANY_REQUEST, messages: HELLO, model, ...request },
    context,
  );
  return { url, headers, body: JSON.parse(String(body)) as Record<string, unknown> };
}

const GLOBAL = 'https://aiplatform.googleapis.com/v1/projects/my-project/locations/global/publishers';

describe('Gemini', () => {
  test.each([
    [false, 'generateContent'],
    [true, 'streamGenerateContent?alt=sse'],
  ])('streamed: %p', (stream, method) => {
    const { url, headers, body } = encode('gemini-2.5-flash', { stream });
    expect(url).toBe(`${GLOBAL}/google/models/gemini-2.5-flash:${method}`);
    expect(headers.authorization).toBe('Bearer ya29.token');
    expect(headers['x-goog-api-key']).toBeUndefined();
    expect(body.contents).toBeArray();
  });

  test('in a region, or at a private endpoint', () => {
    const options = { project: 'p', location: 'europe-west1' };
    const path = '/v1/projects/p/locations/europe-west1/publishers/google/models/g:generateContent';
    expect(encode('g', { stream: false }, { options }).url).toBe(
      `https://europe-west1-aiplatform.googleapis.com${path}`,
    );
    const baseUrl = 'https://psc.example.com/v1/';
    expect(encode('g', { stream: false }, { options, baseUrl }).url).toBe(`https://psc.example.com${path}`);
  });
});

describe('Claude', () => {
  const MODEL = 'claude-sonnet-4-5@20250929';

  test.each([
    [false, 'rawPredict'],
    [true, 'streamRawPredict'],
  ])('streamed: %p', (stream, method) => {
    const { url, headers, body } = encode(MODEL, { stream });
    expect(url).toBe(`${GLOBAL}/anthropic/models/${MODEL}:${method}`);
    expect(headers).toMatchObject({ authorization: 'Bearer ya29.token' });
    expect(Object.keys(headers).filter((name) => /x-api-key|anthropic-version/.test(name))).toEqual([]);
    expect(body).toMatchObject({ anthropic_version: 'vertex-2023-10-16', max_tokens: expect.any(Number) });
    expect([body.model, body.stream]).toEqual([undefined, stream ? true : undefined]);
  });

  test("in Claude's own format: every field stays, beta features are passed on", () => {
    const wire = {
      format: 'anthropic-messages' as const,
      body: { model: 'x', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], top_k: 3 },
      headers: { 'anthropic-beta': 'one,two' },
    };
    const { headers, body } = encode(MODEL, { wire, stream: false });
    const { model: _, ...kept } = wire.body;
    expect(body).toEqual({ ...kept, anthropic_version: 'vertex-2023-10-16' });
    expect(headers['anthropic-beta']).toBe('one,two');
  });

  test('tokens are counted by a model of that name', () => {
    const { url, body } = encode(MODEL, { countOnly: true, stream: true });
    expect(url).toBe(`${GLOBAL}/anthropic/models/count-tokens:rawPredict`);
    expect(body).toMatchObject({ model: MODEL, anthropic_version: 'vertex-2023-10-16' });
    expect(body.max_tokens).toBeUndefined();
  });
});

test.each([
  ['gemini-2.5-flash', { error: { code: 429, message: 'Quota exceeded', status: 'RESOURCE_EXHAUSTED' } }],
  ['claude-haiku-4-5', { type: 'error', error: { type: 'rate_limit_error', message: 'Quota exceeded' } }],
])('errors of %s have the name of this provider', (model, body) => {
  const provider = vertex.forModel?.(model) ?? vertex;
  const error = provider.decodeError(429, new Headers({ 'retry-after': '7' }), JSON.stringify(body));
  expect(error).toMatchObject({ failure: 'rate_limited', upstreamStatus: 429, retryAfterMs: 7000 });
  expect(error.message).toStartWith('vertex ');
  expect(error.message).toContain('Quota exceeded');
});
