import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type McpServerUnderTest, startMcpServer, textTool } from '../fake-upstream/start-mcp-server';
import { callAdmin } from '../stores/start-gateway';
import { askAtOnce } from './ask-at-once';
import { ON_ONE_KIND, settledLedger, shareEnvironment, type TestEnvironment, waitUntil } from './environment';

const PRICE_USD = 0.01;
const TIMEOUT_MS = 500;

interface Answer {
  readonly status: number;
  readonly body: {
    readonly result?: { readonly content: readonly { readonly text: string }[] };
    readonly error?: {
      readonly code: number;
      readonly message: string;
      readonly data?: { readonly type: string; readonly param?: string; readonly retry_after_ms?: number };
    };
  };
}

describe.each(ON_ONE_KIND)('limits of tool calls on %s stores', (kind) => {
  let world: TestEnvironment;
  let web: McpServerUnderTest;

  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever JSON came back
  const admin = (method: string, path: string, body?: object): Promise<any> =>
    callAdmin(world.gateway, path, { method, body });
  const makeKey = async (settings: object, project: object = {}) => {
    const { id: projectId } = await admin('POST', '/projects', { name: 'agents', ...project });
    const body = { name: 'agent', rate_limit_per_minute: null, allowed_tools: ['*'], ...settings };
    return {
      projectId: String(projectId),
      key: String((await admin('POST', `/projects/${projectId}/keys`, body)).key),
    };
  };
  const headersOf = (key: string) => ({
    Authorization: `Bearer ${key}`,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    'MCP-Protocol-Version': '2025-11-25',
  });
  const bodyOf = (name: string, args: unknown) => ({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name, arguments: args },
  });
  const call = async (key: string, name = 'web__search', args: unknown = {}): Promise<Answer> => {
    const init = { method: 'POST', headers: headersOf(key), body: JSON.stringify(bodyOf(name, args)) };
    const answer = await fetch(new URL('/mcp', world.gateway.url), init);
    return { status: answer.status, body: (await answer.json()) as Answer['body'] };
  };
  const calls = () => web.seen.filter(({ method }) => method === 'tools/call').length;
  const spentUsd = async (projectId: string) => {
    const ledger = await settledLedger(world.gateway);
    expect(ledger).toMatchObject({ ok: true, open_holds: 0 });
    return ledger.projects.find((one) => one.project_id === projectId)?.counter_usd ?? 0;
  };

  beforeAll(async () => {
    world = await shareEnvironment({ kind });
    const strict = {
      type: 'object',
      properties: { path: { type: 'string' }, depth: { type: 'integer', minimum: 0 }, of: { enum: ['a', 'b'] } },
      required: ['path'],
      additionalProperties: false,
    };
    web = startMcpServer([textTool('search'), { name: 'strict', description: 'Is strict.', inputSchema: strict }]);
    const settings = { price_per_call_usd: PRICE_USD, timeout_ms: 30_000 };
    await admin('POST', '/mcp/servers', { approve: 'all', alias: 'web', url: web.url, ...settings });
    await call((await makeKey({})).key);
  }, 60_000);
  afterAll(async () => {
    await web.stop();
    await world.close();
  });

  test("a tool must be permitted by organization, team and user, too; these permit nothing that a key doesn't", async () => {
    const name = () => crypto.randomUUID();
    const organization = await admin('POST', '/organizations', { name: name() });
    const team = await admin('POST', '/teams', { name: name(), organization_id: organization.id });
    const user = await admin('POST', '/users', { name: name(), email: `${name()}@example.com` });
    const { key } = await makeKey({ user_id: user.id }, { team_id: team.id });
    const tools = async () => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
      const answer = await fetch(new URL('/mcp', world.gateway.url), { method: 'POST', headers: headersOf(key), body });
      const { result } = (await answer.json()) as { result: { tools: readonly { readonly name: string }[] } };
      return result.tools.map((tool) => tool.name).filter((one) => one.startsWith('web__'));
    };
    expect(await tools()).toEqual(['web__search', 'web__strict']);
    for (const path of [`/organizations/${organization.id}`, `/teams/${team.id}`, `/users/${user.id}`]) {
      await admin('PATCH', path, { allowed_tools: ['web__strict'] });
      const before = calls();
      expect([path, await tools()]).toEqual([path, ['web__strict']]);
      expect((await call(key)).body.error?.data?.type).toBe('not_found');
      await admin('PATCH', path, { allowed_tools: [] });
      expect([path, await tools(), calls() - before]).toEqual([path, [], 0]);
      await admin('PATCH', path, { allowed_tools: ['*'] });
      expect((await call(key)).body.result).toBeDefined();
    }
    const none = await makeKey({ user_id: user.id, allowed_tools: null }, { team_id: team.id });
    expect((await call(none.key)).body.error?.data?.type).toBe('not_found');
  });

  test.each([
    ["of a key's budget", { budget_usd: 100 * PRICE_USD }, {}, 402],
    ["of a project's cap", {}, { monthly_cap_usd: 100 * PRICE_USD }, 402],
  ] as const)(
    '500 calls at once, %s for 100: 100 run',
    async (_what, settings, project, refused) => {
      const { key, projectId } = await makeKey(settings, project);
      const before = calls();
      web.delayMs = 500;
      const { answers, done } = askAtOnce({
        ...{ urls: [world.gateway.url], path: '/mcp', requests: 500 },
        ...{ headers: headersOf(key), body: bodyOf('web__search', {}) },
      });
      await done;
      web.delayMs = 0;
      expect(calls() - before).toBe(100);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(100);
      expect(answers.filter(({ status }) => status === refused)).toHaveLength(400);
      expect(await spentUsd(projectId)).toBeCloseTo(100 * PRICE_USD, 9);
      const said = await call(key);
      expect(said.body.error).toMatchObject({ code: -32012, data: { type: expect.stringMatching(/exceeded/) } });
      expect(calls() - before).toBe(100);
    },
    120_000,
  );

  test("tools and chat share the budget of an agent's run", async () => {
    const { key } = await makeKey({ default_run_budget_usd: 3 * PRICE_USD });
    const run = { 'X-LLM0-Run-Id': crypto.randomUUID() };
    const inRun = (path: string, body: object) =>
      fetch(new URL(path, world.gateway.url), {
        method: 'POST',
        headers: { ...headersOf(key), ...run },
        body: JSON.stringify(body),
      });
    const tool = async () => (await inRun('/mcp', bodyOf('web__search', {}))).status;
    expect([await tool(), await tool(), await tool(), await tool()]).toEqual([200, 200, 200, 402]);
    const messages = [{ role: 'user', content: 'Hi' }];
    const chat = await inRun('/v1/chat/completions', { model: 'gpt-4o-mini', messages });
    expect(await chat.json()).toMatchObject({ error: { code: 'run_budget_exceeded', spent_usd: 3 * PRICE_USD } });
    await settledLedger(world.gateway);
    expect(await admin('GET', `/runs/${run['X-LLM0-Run-Id']}`)).toMatchObject({
      state: 'paused',
      requests: 1,
      tool_calls: 4,
    });
  });

  test('a stopped run cancels a tool call under way, which is booked', async () => {
    const slow = startMcpServer();
    slow.delayMs = 20_000;
    const settings = { price_per_call_usd: PRICE_USD, timeout_ms: 30_000, approve: 'all' };
    const { id } = await admin('POST', '/mcp/servers', { alias: 'slow', url: slow.url, ...settings });
    const { key } = await makeKey({ default_run_budget_usd: 1 });
    const run = crypto.randomUUID();
    const answer = fetch(new URL('/mcp', world.gateway.url), {
      method: 'POST',
      headers: { ...headersOf(key), 'X-LLM0-Run-Id': run },
      body: JSON.stringify(bodyOf('slow__echo', {})),
    });
    await waitUntil(() => slow.seen.some(({ method }) => method === 'tools/call'));
    const stoppedMs = performance.now();
    await admin('POST', `/runs/${run}/stop`, {});
    const text = await (await answer).text();
    expect(performance.now() - stoppedMs).toBeLessThan(1500);
    expect(text).toContain('run_stopped');
    await settledLedger(world.gateway);
    const { items } = await admin('GET', `/runs/${run}`);
    expect(items).toMatchObject([{ type: 'tool_call', error_code: 'run_stopped', cost_usd: PRICE_USD }]);
    await admin('DELETE', `/mcp/servers/${id}`);
    await slow.stop();
  });

  test('requests a minute and calls at once are those of chat, and a refusal says when to come again', async () => {
    const few = await makeKey({ rate_limit_per_minute: 3 });
    const said: Answer[] = [];
    for (let n = 0; n < 4; n++) said.push(await call(few.key));
    expect(said.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(said[3]?.body.error).toMatchObject({ code: -32013, data: { type: 'rate_limit_exceeded' } });
    expect(said[3]?.body.error?.data?.retry_after_ms).toBeGreaterThan(0);
    const narrow = await makeKey({ max_concurrency: 2 });
    const before = calls();
    web.delayMs = 400;
    const first = [call(narrow.key), call(narrow.key)];
    await waitUntil(() => calls() === before + 2);
    expect((await call(narrow.key)).status).toBe(429);
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
    web.delayMs = 0;
    expect((await call(narrow.key)).status).toBe(200);
    expect(await spentUsd(narrow.projectId)).toBeCloseTo(3 * PRICE_USD, 9);
  }, 60_000);

  interface Asked {
    readonly method?: string;
    readonly params?: object;
    readonly path?: string;
    readonly session?: string | null;
    readonly http?: string;
  }
  const ask = (key: string, { method = '', params = {}, path = '/mcp', session, http = 'POST' }: Asked) =>
    fetch(new URL(path, world.gateway.url), {
      method: http,
      headers: { ...headersOf(key), ...(session == null ? {} : { 'Mcp-Session-Id': session }) },
      ...(http === 'POST' ? { body: JSON.stringify({ jsonrpc: '2.0', ...idOf(method), method, params }) } : {}),
    });
  const idOf = (method: string) => (method.startsWith('notifications/') ? {} : { id: 1 });
  const begin = async (key: string) => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    return (await ask(key, { method: 'initialize', params })).headers.get('mcp-session-id');
  };

  test("the gateway's own answers count as requests", async () => {
    const tool = (name: string, args: object) => ({
      ...{ method: 'tools/call', path: '/mcp/code' },
      params: { name, arguments: args },
    });
    const asked: Asked[] = [
      ...['ping', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'].map((method) => ({
        method,
      })),
      { method: 'logging/setLevel', params: { level: 'debug' } },
      { method: 'tools/list', path: '/mcp/code' },
      ...[tool('execute_code', { code: 'return 1' }), tool('search_tools', { query: 'search' })],
      tool('list_servers', {}),
      ...['initialized', 'cancelled', 'roots/list_changed'].map((name) => ({ method: `notifications/${name}` })),
      ...[{ http: 'GET' }, { http: 'DELETE' }],
    ];
    const accepted = ({ http, method = '' }: Asked) => {
      if (http === 'DELETE') return 204;
      return method.startsWith('notifications/') ? 202 : 200;
    };
    for (const one of asked) {
      const { key } = await makeKey({ rate_limit_per_minute: 2, code_mode: true });
      const session = await begin(key);
      const answer = await ask(key, { ...one, session });
      expect([one, answer.status]).toEqual([one, accepted(one)]);
      await answer.body?.cancel();
      const refused = await ask(key, { ...one, session: null });
      expect([one, refused.status]).toEqual([one, 429]);
      expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    }
  }, 60_000);

  test('errors that the gateway answers itself count as requests, each once', async () => {
    const raw = (body: string) => (key: string) =>
      fetch(new URL('/mcp', world.gateway.url), { method: 'POST', headers: headersOf(key), body });
    const asked: readonly (readonly [number, (key: string) => Promise<Response>])[] = [
      ...['GET', 'DELETE'].map((http) => [404, (key: string) => ask(key, { http, session: 'nobody' })] as const),
      [404, (key) => ask(key, { method: 'tools/list', session: 'nobody' })],
      [400, (key) => ask(key, { http: 'DELETE' })],
      [200, (key) => ask(key, { method: 'tools/call', params: { name: 'web__none' } })],
      [200, (key) => ask(key, { method: 'tools/call' })],
      [200, (key) => ask(key, { method: 'tools/call', params: { name: 'nobody__search' } })],
      [200, (key) => ask(key, { method: 'tools/call', params: { name: 'web__strict', arguments: {} } })],
      [200, (key) => ask(key, { method: 'prompts/get', params: { name: 'none' } })],
      [200, (key) => ask(key, { method: 'resources/read', params: { uri: 'none://' } })],
      [200, (key) => ask(key, { method: 'completion/complete' })],
      [200, (key) => ask(key, { method: 'no/method' })],
      [200, (key) => ask(key, { method: 'logging/setLevel', params: { level: 'none' } })],
      [400, (key) => ask(key, { method: 'initialize' })],
      [400, raw('{bad json')],
      [400, raw('[{"jsonrpc":"2.0","id":1,"method":"ping"}]')],
      [400, raw('{"jsonrpc":"2.0","id":"1","result":{}}')],
      [404, (key) => ask(key, { method: 'tools/list', path: '/mcp/nobody' })],
      [
        405,
        (key) =>
          fetch(new URL('/mcp', world.gateway.url), {
            headers: { ...headersOf(key), 'MCP-Protocol-Version': '2026-07-28' },
          }),
      ],
    ];
    for (const [at, [status, send]] of asked.entries()) {
      const { key } = await makeKey({ rate_limit_per_minute: 3 });
      const codes: number[] = [];
      for (let n = 0; n < 5; n++) codes.push((await send(key)).status);
      expect([at, codes]).toEqual([at, [status, status, status, 429, 429]]);
    }
    const { key } = await makeKey({ rate_limit_per_minute: 5 });
    const session = await begin(key);
    const codes: number[] = [];
    for (let n = 0; n < 5; n++) codes.push((await ask(key, { http: 'DELETE', session })).status);
    expect(codes).toEqual([204, 404, 404, 404, 429]);
  }, 60_000);

  test('a session is of the key that began it, and no other ends or uses it', async () => {
    const { key, projectId } = await makeKey({});
    const body = { name: 'other', rate_limit_per_minute: null, allowed_tools: ['*'] };
    const { key: other } = await admin('POST', `/projects/${projectId}/keys`, body);
    const session = await begin(key);
    expect((await ask(other, { http: 'DELETE', session })).status).toBe(404);
    expect((await ask(other, { method: 'ping', session })).status).toBe(404);
    expect((await ask(key, { method: 'ping', session })).status).toBe(200);
    expect((await ask(key, { http: 'DELETE', session })).status).toBe(204);
    expect((await ask(key, { method: 'ping', session })).status).toBe(404);
  }, 60_000);

  test('a level of log messages reaches a server with the next call to it, once', async () => {
    const { key } = await makeKey({});
    const session = await begin(key);
    const levels = () => web.seen.filter(({ method }) => method === 'logging/setLevel').map(({ params }) => params);
    const set = (level: string) => ask(key, { method: 'logging/setLevel', params: { level }, session });
    const use = () => ask(key, { method: 'tools/call', params: { name: 'web__search', arguments: {} }, session });
    const before = levels().length;
    for (let n = 0; n < 20; n++) expect((await set(n % 2 === 0 ? 'debug' : 'error')).status).toBe(200);
    expect(levels()).toHaveLength(before);
    expect((await use()).status).toBe(200);
    expect((await use()).status).toBe(200);
    expect(levels().slice(before)).toEqual([{ level: 'error' }]);
  }, 60_000);

  test('bad input is told in words that an agent can act on, reaches no server and costs nothing', async () => {
    const { key, projectId } = await makeKey({});
    const before = calls();
    const tell = async (name: string, args: unknown) => {
      const { status, body } = await call(key, name, args);
      return [status, body.error?.code, body.error?.data?.param, body.error?.message ?? ''] as const;
    };
    expect(await tell('web__serch', {})).toEqual([200, -32602, 'name', expect.stringContaining('tools/list')]);
    expect(await tell('nobody__search', {})).toEqual([200, -32602, 'name', expect.stringContaining('nobody__search')]);
    expect(await tell('search', {})).toEqual([200, -32602, 'name', expect.stringContaining('"search"')]);
    for (const [args, field, says] of [
      [{}, 'arguments.path', 'is missing'],
      [{ path: 5 }, 'arguments.path', 'string'],
      [{ path: 'a', depth: -1 }, 'arguments.depth', '>= 0'],
      [{ path: 'a', of: 'c' }, 'arguments.of', '"a","b"'],
      [{ path: 'a', more: 1 }, 'arguments.more', 'is not known'],
    ] as const) {
      expect(await tell('web__strict', args)).toEqual([200, -32602, field, expect.stringContaining(says)]);
    }
    expect(await tell('web__strict', ['a'])).toEqual([200, -32602, 'arguments', expect.stringContaining('object')]);
    expect(calls()).toBe(before);
    expect(await spentUsd(projectId)).toBe(0);
  }, 60_000);

  test('a server that is down costs nothing; one that is late may have run, and is paid', async () => {
    const gone = startMcpServer();
    const late = startMcpServer();
    const settings = { price_per_call_usd: PRICE_USD, timeout_ms: TIMEOUT_MS };
    await admin('POST', '/mcp/servers', { approve: 'all', alias: 'gone', url: gone.url, ...settings });
    await admin('POST', '/mcp/servers', { approve: 'all', alias: 'late', url: late.url, ...settings });
    const { key, projectId } = await makeKey({});
    expect((await call(key, 'gone__echo')).body.result).toBeDefined();
    expect((await call(key, 'late__echo')).body.result).toBeDefined();
    expect(await spentUsd(projectId)).toBeCloseTo(2 * PRICE_USD, 9);
    await gone.stop();
    const down = await call(key, 'gone__echo');
    expect(down.body.error).toMatchObject({ code: -32015, data: { type: expect.stringMatching(/^upstream_/) } });
    expect(down.body.error?.message).toContain('gone');
    late.delayMs = 20_000;
    const slow = await call(key, 'late__echo');
    expect(slow.body.error).toMatchObject({ code: -32016, data: { type: 'upstream_timeout' } });
    expect(slow.body.error?.message).toContain(`${TIMEOUT_MS} ms`);
    expect(await spentUsd(projectId)).toBeCloseTo(3 * PRICE_USD, 9);
    await late.stop();
  }, 60_000);
});
