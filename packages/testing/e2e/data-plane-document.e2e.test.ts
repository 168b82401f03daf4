import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import Ajv2020 from 'ajv/dist/2020';
import { createTestKey } from '../stores/start-gateway';
import { shareEnvironment, type TestEnvironment } from './environment';

interface Schema {
  readonly $ref?: string;
}
interface Described {
  readonly headers?: Readonly<Record<string, Schema>>;
  readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
}
interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Record<string, Described & Schema> }>>>
  >;
  readonly components: { readonly schemas: object; readonly responses: Readonly<Record<string, Described>> };
}

const HELLO = [{ role: 'user', content: 'Hello' }];
/** One request of each kind of endpoint; `status` where it is not 200. */
const REQUESTS: readonly {
  readonly path: string;
  readonly at?: string;
  readonly method?: string;
  readonly body?: object;
  readonly status?: number;
  readonly key?: string;
}[] = [
  { path: '/v1/chat/completions', body: { model: 'gpt-4o-mini', messages: HELLO } },
  { path: '/v1/chat/completions', body: { model: 'claude-haiku-4-5', messages: HELLO } },
  { path: '/v1/chat/completions', body: { model: 'gpt-4o-mini', messages: 'none' }, status: 400 },
  { path: '/v1/chat/completions', body: { model: 'no-such-model', messages: HELLO }, status: 404 },
  {
    path: '/v1/chat/completions',
    body: { model: 'gpt-4o-mini', messages: HELLO },
    status: 401,
    key: 'llm0_live_wrong',
  },
  { path: '/v1/completions', body: { model: 'gpt-4o-mini', prompt: 'Once' } },
  { path: '/v1/responses', body: { model: 'gpt-4o-mini', input: 'Hello' } },
  { path: '/v1/responses/{response_id}', at: '/v1/responses/resp_gone', method: 'GET', status: 404 },
  { path: '/v1/messages', body: { model: 'claude-haiku-4-5', max_tokens: 50, messages: HELLO } },
  { path: '/v1/messages', body: { model: 'gpt-4o-mini', max_tokens: 50, messages: HELLO } },
  { path: '/v1/messages', body: { model: 'gpt-4o-mini', max_tokens: 50, messages: [] }, status: 400 },
  { path: '/v1/messages/count_tokens', body: { model: 'claude-haiku-4-5', messages: HELLO } },
  { path: '/v1/embeddings', body: { model: 'text-embedding-3-small', input: ['a', 'b'] } },
  { path: '/v1/embeddings', body: { model: 'text-embedding-3-small', input: 'a', encoding_format: 'base64' } },
  { path: '/v1/decisions', body: { model: 'gpt-4o-mini', input: 'a', questions: [{ type: 'predicate' }] } },
  { path: '/v1/moderations', body: { input: ['a', 'b'] } },
  { path: '/v1/rerank', body: { model: 'local/all-MiniLM-L6-v2', query: 'a', documents: ['b', { text: 'c' }] } },
  { path: '/v2/rerank', body: { model: 'local/all-MiniLM-L6-v2', query: 'a', documents: [] }, status: 400 },
  { path: '/v1/images/generations', body: { model: 'gemini-2.5-flash-image', prompt: 'a cat' } },
  { path: '/v1/models', method: 'GET' },
  { path: '/v1/models/{model}', at: '/v1/models/gpt-4o-mini', method: 'GET' },
  {
    path: '/v1beta/models/{model}:generateContent',
    at: '/v1beta/models/gemini-2.5-flash:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
  },
  {
    path: '/v1beta/models/{model}:generateContent',
    at: '/v1beta/models/no-such:generateContent',
    body: { contents: [] },
    status: 404,
  },
  { path: '/passthrough/{provider}/{path}', at: '/passthrough/openai/v1/files', method: 'GET', status: 403 },
  {
    path: '/mcp',
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
    },
  },
  { path: '/mcp', body: { jsonrpc: '2.0', id: 1, method: 'tools/list' }, status: 401, key: 'llm0_live_wrong' },
  { path: '/livez', method: 'GET' },
  { path: '/readyz', method: 'GET' },
];

describe('the document of the data plane, and what a gateway really answers', () => {
  let world: TestEnvironment;
  let document: Document;
  let apiKey = '';
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
  beforeAll(async () => {
    world = await shareEnvironment({ kind: 'real' });
    ({ apiKey } = await createTestKey(world.gateway));
    document = (await (await fetch(`${world.gateway.url}/openapi.json`)).json()) as Document;
    // As a whole, so that references within it are found; formats are for people.
    ajv.addFormat('uuid', true);
    ajv.addSchema({ $id: 'https://document.test/', ...document });
  }, 120_000);
  afterAll(() => world.close());

  test('it needs no key', async () => {
    const response = await fetch(`${world.gateway.url}/openapi.json`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
  });

  test.each(REQUESTS)(
    '$method $path $status',
    async ({ path, at = path, method = 'POST', body, status = 200, key = apiKey }) => {
      const response = await fetch(`${world.gateway.url}${at}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      const text = await response.text();
      expect({ status: response.status, text }).toEqual({ status, text: expect.any(String) });
      const described = document.paths[path]?.[method.toLowerCase()]?.responses[String(status)];
      const resolved =
        described?.$ref === undefined
          ? described
          : document.components.responses[described.$ref.split('/').at(-1) ?? ''];
      const schema = resolved?.content['application/json']?.schema;
      const validate = ajv.compile(pointIn(schema ?? {}));
      if (!validate(JSON.parse(text))) throw new Error(`${ajv.errorsText(validate.errors)}\n${text}`);
      if (status !== 200 || at.endsWith('z')) return;
      const known = new Set(Object.keys(resolved?.headers ?? {}).map((name) => name.toLowerCase()));
      expect([...response.headers.keys()].filter((name) => name.startsWith('x-') && !known.has(name))).toEqual([]);
    },
  );

  test('a stream is of the documented chunks', async () => {
    const response = await fetch(`${world.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content: 'Stream' }] }),
    });
    expect(response.headers.get('content-type')).toStartWith('text/event-stream');
    const validate = ajv.compile(pointIn({ $ref: '#/components/schemas/ChatCompletionChunk' }));
    const frames = (await response.text())
      .split('\n\n')
      .filter((frame) => frame.startsWith('data: ') && frame !== 'data: [DONE]');
    expect(frames.length).toBeGreaterThan(2);
    for (const frame of frames) {
      if (!validate(JSON.parse(frame.slice('data: '.length))))
        throw new Error(`${ajv.errorsText(validate.errors)} ${frame}`);
    }
  });
});

/** References into the document become ones that are found from anywhere. */
const pointIn = (schema: Schema): object =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"https://document.test/#/'));
