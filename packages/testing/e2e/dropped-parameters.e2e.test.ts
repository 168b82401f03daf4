import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { ask, logRow, ON_ONE_KIND, postChat, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
const [GPT, CLAUDE, GEMINI, NOVA] = ['gpt-4o-mini', 'claude-haiku-4-5', 'gemini-2.5-flash', 'amazon.nova-2-lite-v1:0'];
const SCHEMA = { type: 'object', properties: { id: { type: 'string' } } };

let world: TestEnvironment;
let apiKey: string;

function post(path: string, body: JsonObject, headers: Record<string, string> = {}, key = apiKey): Promise<Response> {
  return fetch(`${world.gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

async function droppedBy(response: Response): Promise<readonly string[]> {
  expect([response.status, response.status === 200 ? '' : await response.text()]).toEqual([200, '']);
  await response.text();
  const told = response.headers.get('x-llm0-dropped')?.split(',') ?? [];
  const row = await logRow(world.gateway, response.headers.get('x-request-id') ?? '');
  expect((row as unknown as { dropped_params: string[] | null }).dropped_params ?? []).toEqual(told);
  return told;
}

const errorOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: { code: string; param: string } };
  return [response.status, error.code, error.param];
};

const lastBody = () => world.upstream.requests.at(-1)?.body ?? {};

describe.each(ON_ONE_KIND)('client-only fields, on %s stores', (kind) => {
  beforeAll(async () => {
    world = await shareEnvironment({ kind });
    ({ apiKey } = await createTestKey(world.gateway, { project: { cache_enabled: false } }));
  }, SETUP_MS);
  afterAll(() => world?.close(), SETUP_MS);
  beforeEach(() => world.upstream.control.reset());

  test.each([GPT, GEMINI, NOVA])("serves Claude Code's requests with %s and names dropped fields", async (model) => {
    const response = await post('/v1/messages', {
      model,
      max_tokens: 32_000,
      messages: [{ role: 'user', content: 'hello' }],
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
      tools: [
        { name: 'Read', input_schema: SCHEMA },
        { type: 'web_search_20250305', name: 'web_search' },
      ],
      mcp_servers: [],
      stream: true,
    });
    expect(await droppedBy(response)).toEqual(
      expect.arrayContaining(['context_management', 'tools.web_search_20250305', 'mcp_servers']),
    );
    expect(JSON.stringify(lastBody())).toContain('Read');
    expect(JSON.stringify(lastBody())).not.toContain('web_search');
  });

  test.each([CLAUDE, GEMINI, NOVA])("serves Codex's requests with %s, namespace tools included", async (model) => {
    const tools: JsonObject[] = [
      { type: 'function', name: 'exec', parameters: SCHEMA },
      {
        type: 'namespace',
        name: 'agents',
        description: 'Sub-agents.',
        tools: [{ type: 'function', name: 'close', description: 'Closes one.', parameters: SCHEMA }],
      },
      { type: 'web_search', external_web_access: false },
    ];
    const body: JsonObject = {
      ...{ model, tools, parallel_tool_calls: false, tool_choice: 'auto', store: false },
      ...{ include: ['reasoning.encrypted_content'], client_metadata: { session_id: 's' } },
    };
    const input: JsonObject[] = [{ type: 'message', role: 'user', content: 'close a' }];
    for (const stream of [false, true]) {
      world.upstream.control.enqueue({ toolCalls: [{ name: 'agents__close', arguments: '{"id":"a"}' }] });
      const response = await post('/v1/responses', { ...body, input, stream });
      const text = await response.clone().text();
      const dropped = await droppedBy(response);
      expect(dropped).toEqual(expect.arrayContaining(['client_metadata', 'tools.web_search']));
      expect(dropped.includes('parallel_tool_calls')).toBe(model !== CLAUDE);
      expect(JSON.stringify(lastBody())).toContain('Sub-agents.');
      const call = (stream ? completedOutput(text) : (JSON.parse(text) as { output: JsonObject[] }).output)[0];
      expect(call).toMatchObject({
        type: 'function_call',
        namespace: 'agents',
        name: 'close',
        arguments: '{"id":"a"}',
      });
      const { call_id } = call as JsonObject;
      const output = { type: 'function_call_output', call_id: call_id ?? '', output: 'closed' };
      await droppedBy(await post('/v1/responses', { ...body, input: [...input, call as JsonObject, output], stream }));
      expect(JSON.stringify(lastBody())).toContain('agents__close');
      expect(JSON.stringify(lastBody())).toContain('closed');
    }
  });

  test('one call at a time is left out where a vendor has no such switch', async () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: SCHEMA } }];
    for (const model of [GEMINI, NOVA]) {
      const response = await postChat(world.gateway, apiKey, ask('x', { model, tools, parallel_tool_calls: false }));
      expect(await droppedBy(response)).toEqual(['parallel_tool_calls']);
    }
  });

  test('dropped storage requests are named if another provider answers', async () => {
    expect(await droppedBy(await postChat(world.gateway, apiKey, ask('x', { model: CLAUDE, store: true })))).toEqual([
      'store',
    ]);
  });

  test('a built-in tool that the caller demands is refused', async () => {
    const body = { model: CLAUDE, input: 'x', tools: [{ type: 'web_search' }], tool_choice: 'required' };
    expect(await errorOf(await post('/v1/responses', body))).toEqual([
      400,
      'unsupported_parameter',
      'tools.web_search',
    ]);
  });

  test('parameters that change the answer are refused, unless request, key or project allow it, in this order', async () => {
    const body = ask('x', { model: CLAUDE, seed: 7 });
    const refused = [400, 'unsupported_parameter', 'seed'];
    const serve = (key: string, header?: string) =>
      postChat(world.gateway, key, body, header === undefined ? {} : { headers: { 'X-LLM0-Drop-Params': header } });
    expect(await errorOf(await serve(apiKey))).toEqual(refused);
    expect(await droppedBy(await serve(apiKey, 'true'))).toEqual(['seed']);

    const project = { cache_enabled: false, drop_params: true };
    const byProject = await createTestKey(world.gateway, { project });
    expect(await droppedBy(await serve(byProject.apiKey))).toEqual(['seed']);
    expect(await errorOf(await serve(byProject.apiKey, 'false'))).toEqual(refused);
    const byKey = await createTestKey(world.gateway, { project, key: { drop_params: false } });
    expect(await errorOf(await serve(byKey.apiKey))).toEqual(refused);

    const path = `/projects/${byKey.projectId}/keys/${byKey.keyId}`;
    await callAdmin(world.gateway, path, { method: 'PATCH', body: { drop_params: true } });
    expect(await droppedBy(await serve(byKey.apiKey))).toEqual(['seed']);
    await callAdmin(world.gateway, path, { method: 'PATCH', body: { drop_params: null } });
    expect(await droppedBy(await serve(byKey.apiKey))).toEqual(['seed']);
  });

  test('an answer from the cache says what was dropped to make it, and no stricter request gets it', async () => {
    const cached = await createTestKey(world.gateway);
    const body = ask('cached?', { model: CLAUDE, seed: 7 });
    const headers = { 'X-LLM0-Drop-Params': 'true' };
    await droppedBy(await postChat(world.gateway, cached.apiKey, body, { headers }));
    const hit = await postChat(world.gateway, cached.apiKey, body, { headers });
    expect(hit.headers.get('x-cache-hit')).toBe('exact');
    expect(await droppedBy(hit)).toEqual(['seed']);
    expect(await errorOf(await postChat(world.gateway, cached.apiKey, body))).toEqual([
      400,
      'unsupported_parameter',
      'seed',
    ]);
  });
});

function completedOutput(stream: string): JsonObject[] {
  const line = stream.split('\n').findLast((one) => one.startsWith('data: ') && one.includes('response.completed'));
  return (JSON.parse((line ?? '').slice(6)) as { response: { output: JsonObject[] } }).response.output;
}
