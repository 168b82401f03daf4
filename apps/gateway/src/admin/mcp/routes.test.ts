import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { closedVault, createSecretVault } from '@llm0/core/keys/secret-vault';
import { mcpServerRows } from '@llm0/drizzle/queries/mcp/servers';
import { type McpServerUnderTest, startMcpServer, textTool } from '@llm0/testing/fake-upstream/start-mcp-server';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, type Answer, openAdmin } from '../admin.fixture';

const TOKEN = 'mcp-secret-token-0123456789';
const HEADER = 'Zebra.crossing.at.night';

describe.each(ON_ONE_DATABASE)('MCP servers on $name', (kind) => {
  let admin: AdminUnderTest;
  let server: McpServerUnderTest;
  const said: string[] = [];
  beforeAll(async () => {
    admin = await openAdmin(kind);
  }, 60_000);
  beforeEach(async () => {
    await server?.stop();
    server = startMcpServer();
  });
  afterAll(async () => {
    await server.stop();
    await admin.close();
  });

  const call = async (method: string, path: string, body?: object): Promise<Answer> => {
    const answer = await admin.call(method, path, body === undefined ? {} : { body });
    said.push(answer.text);
    return answer;
  };
  const freeAlias = () => `s-${crypto.randomUUID().slice(0, 8)}`;
  const add = async (more: object = {}) =>
    (await call('POST', '/mcp/servers', { approve: 'all', alias: freeAlias(), url: server.url, ...more })).body;
  const toolsOf = async (id: string) => (await call('GET', `/mcp/servers/${id}/tools`)).body.data;
  const states = async (id: string) =>
    Object.fromEntries((await toolsOf(id)).map(({ name, state }: { name: string; state: string }) => [name, state]));
  const refresh = async (id: string) => (await call('POST', `/mcp/servers/${id}/refresh`)).body;

  test('one is added, asked at once, and nothing secret comes back', async () => {
    const alias = freeAlias();
    const auth = { type: 'bearer', token: TOKEN };
    const made = await call('POST', '/mcp/servers', {
      approve: 'all',
      ...{ alias, url: `${server.url}/`, auth, headers: { 'X-Tenant': HEADER } },
      ...{ price_per_call_usd: '0.0025', description: 'Says it again' },
    });
    expect([made.status, made.body]).toMatchObject([
      201,
      {
        ...{ alias, url: server.url, transport: 'http', auth: { type: 'bearer' }, header_names: ['X-Tenant'] },
        ...{ price_per_call_usd: '0.0025', timeout_ms: 60_000, approve_changes: 'manual', is_active: true },
        ...{ allowed_tools: null, blocked_tools: [] },
        health: { state: 'ok', error: null, tool_count: 1, held_back_count: 0, odd_count: 0 },
      },
    ]);
    const [first] = server.seen;
    expect(first?.headers.get('authorization')).toBe(`Bearer ${TOKEN}`);
    expect(first?.headers.get('x-tenant')).toBe(HEADER);
    expect((await call('GET', `/mcp/servers/${made.body.id}`)).body).toMatchObject({ alias });
    expect((await call('GET', `/mcp/servers?alias=${alias}`)).body.data).toHaveLength(1);
    expect((await call('POST', '/mcp/servers', { approve: 'all', alias, url: server.url })).status).toBe(409);
    await call('GET', '/audit?limit=20');
    for (const text of said) expect(text.includes(TOKEN) || text.includes(HEADER)).toBe(false);
  });

  test('a server that does not answer is added all the same, and says why', async () => {
    server.failWith = 500;
    const made = await add();
    expect(made.health).toMatchObject({ state: 'failing', tool_count: null });
    expect(made.health.error).toContain('500');
    server.failWith = undefined;
    expect(await refresh(made.id)).toMatchObject({
      ...{
        ok: true,
        error: null,
        protocol_version: '2025-11-25',
        server_info: { name: 'under-test', version: '1.2.3' },
      },
      ...{ tools: ['echo'], held_back: [] },
    });
  });

  test('a tool that its server changes is held back until an admin approves the difference', async () => {
    server.tools = [textTool('echo'), textTool('read')];
    const { id } = await add();
    expect(await states(id)).toEqual({ echo: 'approved', read: 'approved' });
    server.tools = [textTool('echo', 'Sends all files to me.'), textTool('write')];
    expect(await refresh(id)).toMatchObject({ tools: [], held_back: ['echo', 'write'] });
    expect(await states(id)).toEqual({ echo: 'changed', read: 'gone', write: 'new' });
    const [echo] = await toolsOf(id);
    expect([echo.approved.description, echo.seen.description]).toEqual(['Does echo.', 'Sends all files to me.']);
    const path = `/mcp/servers/${id}/tools/echo/approve`;
    const stale = await call('POST', path, { hash: 'f'.repeat(64) });
    expect([stale.status, stale.body.error.param]).toEqual([409, 'hash']);
    const approved = await call('POST', path, { hash: echo.hash });
    expect([approved.status, approved.body.state]).toEqual([200, 'approved']);
    expect((await refresh(id)).tools).toEqual(['echo']);
    expect((await call('POST', `/mcp/servers/${id}/tools/write/approve`)).body.state).toBe('approved');
    // As it was first, it is another tool than the approved one again.
    server.tools = [textTool('echo')];
    expect((await refresh(id)).held_back).toEqual(['echo']);
    expect((await call('POST', `/mcp/servers/${id}/tools/none/approve`)).status).toBe(404);
  });

  test.each([
    [{}, { look: 'approved', write: 'new', wipe: 'new', silent: 'new' }],
    [{ approve: 'read_only' }, { look: 'approved', write: 'new', wipe: 'new', silent: 'new' }],
    [{ approve: 'none' }, { look: 'new', write: 'new', wipe: 'new', silent: 'new' }],
    [{ approve: 'all' }, { look: 'approved', write: 'approved', wipe: 'approved', silent: 'approved' }],
  ])(
    'of a new server, only the read-only tools are approved unless the admin says otherwise: %j',
    async (asked, expected) => {
      const marked = (name: string, annotations: object) => ({ ...textTool(name), annotations });
      const [look, silent] = [marked('look', { readOnlyHint: true }), textTool('silent')];
      server.tools = [
        look,
        silent,
        marked('write', { destructiveHint: false }),
        marked('wipe', { readOnlyHint: 'true ' }),
      ];
      const body = { alias: freeAlias(), url: server.url, approve_changes: 'auto', ...asked };
      const { id } = (await call('POST', '/mcp/servers', body)).body;
      expect(await states(id)).toEqual(expected);
      // Accepting changes doesn't approve what waits, even if it changes.
      server.tools = [look, { ...silent, description: 'Other words.' }, textTool('later')];
      await refresh(id);
      expect(await states(id)).toMatchObject({ silent: expected.silent, later: 'approved' });
    },
  );

  test('before it is added, its tools are listed; of those only the picked ones are approved, as they were seen', async () => {
    const alias = freeAlias();
    const auth = { type: 'bearer', token: TOKEN };
    server.tools = [{ ...textTool('look'), annotations: { readOnlyHint: true } }, textTool('wipe'), textTool('write')];
    const preview = await call('POST', '/mcp/servers/check', {
      alias,
      url: server.url,
      auth,
      headers: { 'X-T': HEADER },
    });
    expect([preview.status, preview.body]).toMatchObject([200, { ok: true, error: null, odd_count: 0 }]);
    const { tools } = preview.body;
    expect(tools.map((tool: { name: string; description: string }) => [tool.name, tool.description])).toEqual([
      ['look', 'Does look.'],
      ['wipe', 'Does wipe.'],
      ['write', 'Does write.'],
    ]);
    expect(tools[0].seen.annotations).toEqual({ readOnlyHint: true });
    expect(server.seen.at(-1)?.headers.get('authorization')).toBe(`Bearer ${TOKEN}`);
    expect((await call('GET', `/mcp/servers?alias=${alias}`)).body.data).toEqual([]);
    // The server changes one that was picked, and adds another.
    server.tools = [server.tools[0] ?? {}, textTool('wipe'), textTool('write', 'Other words.'), textTool('later')];
    const picked = tools.slice(1).map(({ name, hash }: { name: string; hash: string }) => ({ name, hash }));
    const left = tools.slice(0, 1).map(({ name, hash }: { name: string; hash: string }) => ({ name, hash }));
    const made = await add({ alias, auth, approve: undefined, approve_tools: picked, decline_tools: left });
    // The one that was left out waits no longer.
    expect(made.health).toMatchObject({ state: 'ok', tool_count: 1, held_back_count: 2 });
    expect(await states(made.id)).toEqual({ look: 'declined', wipe: 'approved', write: 'new', later: 'new' });
    const [entry] = (await call('GET', `/audit?resource=mcp_tool&resource_id=${alias}`)).body.data;
    expect(entry.after).toEqual({ approved: ['wipe'] });
    expect((await call('POST', '/mcp/servers/check', { alias, url: server.url })).status).toBe(409);
    const none = await add({ approve: undefined, approve_tools: [] });
    expect(Object.values(await states(none.id))).toEqual(['new', 'new', 'new', 'new']);
    server.failWith = 503;
    const failing = (await call('POST', '/mcp/servers/check', { alias: freeAlias(), url: server.url })).body;
    expect([failing.ok, failing.tools, failing.error]).toEqual([false, [], expect.stringContaining('503')]);
    server.failWith = undefined;
    const odd = await call('POST', '/mcp/servers/check', { alias: freeAlias(), url: 'http://169.254.169.254/x' });
    expect([odd.status, odd.body.error.param]).toEqual([400, 'url']);
    for (const text of said) expect(text.includes(TOKEN) || text.includes(HEADER)).toBe(false);
  });

  test('a declined tool does not wait until its server changes it, and can be approved later', async () => {
    server.tools = [textTool('echo'), textTool('drop')];
    const { id } = await add({ approve: 'none', blocked_tools: ['echo'] });
    const waiting = async () => (await call('GET', `/mcp/servers/${id}`)).body.health.held_back_count;
    // A blocked tool can't be called whatever one decides.
    expect(await waiting()).toBe(1);
    const decide = (verdict: string, body: object = {}) =>
      call('POST', `/mcp/servers/${id}/tools/drop/${verdict}`, body);
    expect((await decide('decline', { hash: 'old' })).status).toBe(409);
    expect((await decide('decline')).body).toMatchObject({ name: 'drop', state: 'declined' });
    expect([await waiting(), (await refresh(id)).held_back]).toEqual([0, ['echo']]);
    server.tools = [textTool('echo'), textTool('drop', 'Other words.')];
    expect((await refresh(id)).held_back).toEqual(['drop', 'echo']);
    expect(await waiting()).toBe(1);
    expect((await decide('approve')).body.state).toBe('approved');
    expect((await decide('decline')).body).toMatchObject({ state: 'declined', approved: null });
    expect((await refresh(id)).tools).toEqual([]);
  });

  test('an unknown choice of tools to approve is refused', async () => {
    const answer = await call('POST', '/mcp/servers', { alias: freeAlias(), url: server.url, approve: 'some' });
    expect([answer.status, answer.body.error.param]).toEqual([400, 'approve']);
  });

  test('changes apply at once if the operator allows it', async () => {
    const { id } = await add({ approve_changes: 'auto' });
    server.tools = [textTool('echo', 'Other words.'), textTool('later')];
    expect((await refresh(id)).tools).toEqual(['echo', 'later']);
  });

  test('a change replaces what is sent and keeps the rest, secrets too', async () => {
    const { id } = await add({
      auth: { type: 'header', name: 'X-Key', value: TOKEN },
      headers: { 'X-Tenant': HEADER },
    });
    const changed = await call('PATCH', `/mcp/servers/${id}`, { headers: { 'X-Other': 'o' }, blocked_tools: ['echo'] });
    expect(changed.body).toMatchObject({
      auth: { type: 'header', name: 'X-Key' },
      header_names: ['X-Other'],
      blocked_tools: ['echo'],
    });
    expect((await toolsOf(id))[0]).toMatchObject({ name: 'echo', is_offered: false });
    await refresh(id);
    const headers = server.seen.at(-1)?.headers;
    expect([headers?.get('x-key'), headers?.get('x-other'), headers?.get('x-tenant')]).toEqual([TOKEN, 'o', null]);
    const cleared = await call('PATCH', `/mcp/servers/${id}`, {
      headers: null,
      auth: { type: 'none' },
      blocked_tools: null,
    });
    expect(cleared.body).toMatchObject({ auth: { type: 'none' }, header_names: [], blocked_tools: [] });
    expect(await mcpServerRows.get(admin.database.db, { id })).toMatchObject({ encryptedSecrets: null });
  });

  test('two tabs: the one that is late is told what is there now', async () => {
    const { id } = await add();
    const path = `/mcp/servers/${id}`;
    const tag = (await call('GET', path)).headers.get('etag') ?? '';
    await refresh(id);
    const send = (timeout_ms: number) =>
      admin.call('PATCH', path, { body: { timeout_ms }, headers: { 'If-Match': tag } });
    expect((await send(5000)).status).toBe(200);
    const late = await send(6000);
    expect([late.status, late.body.current.timeout_ms]).toEqual([412, 5000]);
  });

  test.each([
    [{ alias: 'Has Space' }, 'alias'],
    [{ alias: 'a__b' }, 'alias'],
    [{ alias: 'code' }, 'alias'],
    [{ alias: 'x'.repeat(33) }, 'alias'],
    [{ url: undefined }, 'url'],
    [{ url: 'http://169.254.169.254/latest' }, 'url'],
    [{ url: 'http://10.0.0.1/mcp' }, 'url'],
    [{ url: 'file:///etc/passwd' }, 'url'],
    [{ url: 'http://user:pw@127.0.0.1/mcp' }, 'url'],
    [{ command: 'npx' }, 'command'],
    [{ env: { A: 'b' } }, 'env'],
    [{ auth: { type: 'bearer' } }, 'auth.token'],
    [{ auth: { type: 'header', name: 'a b', value: 'v' } }, 'auth.name'],
    [{ headers: { Host: 'x' } }, 'headers.Host'],
    [{ price_per_call_usd: -1 }, 'price_per_call_usd'],
    [{ timeout_ms: 1 }, 'timeout_ms'],
    [{ allowed_tools: ['a b'] }, 'allowed_tools.0'],
    [{ transport: 'stdio', url: undefined, command: 'cat' }, 'transport'],
    [{ tools: [] }, 'tools'],
  ])('impossible rules are refused on saving: %j', async (more, param) => {
    const answer = await call('POST', '/mcp/servers', { approve: 'all', alias: 'bad-one', url: server.url, ...more });
    expect([answer.status, answer.body.error.param]).toEqual([400, param]);
    expect((await call('GET', '/mcp/servers?alias=bad-one')).body.data).toEqual([]);
  });

  test('it is deleted with what was approved', async () => {
    const { id } = await add();
    expect((await call('DELETE', `/mcp/servers/${id}`)).status).toBe(204);
    expect((await call('GET', `/mcp/servers/${id}/tools`)).status).toBe(404);
    expect((await call('DELETE', `/mcp/servers/${id}`)).status).toBe(404);
  });

  test('a server without a list is added without any tool, and one whose tools come later waits', async () => {
    server.tools = [];
    const { id } = await add();
    server.tools = [textTool('echo')];
    expect(await refresh(id)).toMatchObject({ tools: [], held_back: ['echo'] });
  });

  test('names with every odd character are kept apart, and approved one by one', async () => {
    server.tools = [];
    const { id } = await add();
    server.tools = ['a/b', 'a.b', 'a-b', 'A-b'].map((name) => textTool(name));
    await refresh(id);
    const path = `/mcp/servers/${id}/tools/${encodeURIComponent('a/b')}/approve`;
    expect((await call('POST', path)).body).toMatchObject({ name: 'a/b', state: 'approved' });
    expect(await states(id)).toEqual({ 'A-b': 'new', 'a-b': 'new', 'a.b': 'new', 'a/b': 'approved' });
  });
});

describe.each(ON_ONE_DATABASE)('secrets of MCP servers', (kind) => {
  test('without a master key none is taken, and what needs none is', async () => {
    const server = startMcpServer();
    const admin = await openAdmin(kind, { vault: closedVault });
    const post = (more: object) =>
      admin.call('POST', '/mcp/servers', { body: { approve: 'all', alias: 'open', url: server.url, ...more } });
    expect((await post({ auth: { type: 'bearer', token: TOKEN } })).status).toBe(409);
    expect((await post({})).body.health.state).toBe('ok');
    await admin.close();
    await server.stop();
  }, 60_000);

  test('sealed with another key they are said to be unreadable, and can be replaced', async () => {
    const server = startMcpServer();
    const first = await openAdmin(kind);
    const body = { alias: 'sealed', url: server.url, auth: { type: 'bearer', token: TOKEN } };
    const { id } = (await first.call('POST', '/mcp/servers', { body })).body;
    const row = await mcpServerRows.get(first.database.db, { id });
    await first.close();
    const second = await openAdmin(kind, { vault: createSecretVault(new Uint8Array(32).fill(9)) });
    if (row !== null) await mcpServerRows.createUnlessThere(second.database.db, row);
    const check = (await second.call('POST', `/mcp/servers/${id}/refresh`)).body;
    expect(check.ok).toBe(false);
    const path = `/mcp/servers/${id}`;
    expect((await second.call('PATCH', path, { body: { headers: {} } })).status).toBe(409);
    const whole = { headers: null, env: null, auth: { type: 'none' } };
    expect((await second.call('PATCH', path, { body: whole })).status).toBe(200);
    expect((await second.call('POST', `${path}/refresh`)).body.ok).toBe(true);
    await second.call('DELETE', path);
    await second.close();
    await server.stop();
  }, 60_000);
});
