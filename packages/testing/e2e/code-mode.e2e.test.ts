import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type McpServerUnderTest, startMcpServer, textTool } from '../fake-upstream/start-mcp-server';
import { callAdmin } from '../stores/start-gateway';
import { ON_ONE_KIND, settledLedger, shareEnvironment, type TestEnvironment, waitUntil } from './environment';

interface Said {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
}

describe.each(ON_ONE_KIND)('Code Mode on %s stores', (kind) => {
  let environment: TestEnvironment;
  let web: McpServerUnderTest;
  let projectId: string;
  const clients: Client[] = [];

  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever JSON came back
  const admin = (method: string, path: string, body?: object): Promise<any> =>
    callAdmin(environment.gateway, path, { method, body });
  const connect = async (key: string, path = '/mcp/code') => {
    const client = new Client({ name: 'test', version: '1' });
    const requestInit = { headers: { Authorization: `Bearer ${key}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(path, environment.gateway.url), { requestInit }));
    clients.push(client);
    return client;
  };
  const makeKey = async (settings: object = {}) => {
    const body = { name: 'agent', rate_limit_per_minute: null, allowed_tools: ['*'], code_mode: true, ...settings };
    return String((await admin('POST', `/projects/${projectId}/keys`, body)).key);
  };
  const run = async (client: Client, code: string) =>
    (await client.callTool({ name: 'execute_code', arguments: { code } })) as unknown as Said;
  const calls = () => web.seen.filter(({ method }) => method === 'tools/call').length;

  beforeAll(async () => {
    environment = await shareEnvironment({ kind });
    web = startMcpServer([textTool('search'), textTool('fetch'), textTool('slow')]);
    projectId = String((await admin('POST', '/projects', { name: 'agents' })).id);
    await admin('POST', '/mcp/servers', { approve: 'all', alias: 'web', url: web.url, price_per_call_usd: 0.01 });
  }, 120_000);
  afterAll(async () => {
    for (const client of clients) await client.close();
    await web.stop();
    await environment.close();
  });

  test('three tools are offered: what there is, what it takes, and a script over it', async () => {
    const client = await connect(await makeKey());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['list_servers', 'search_tools', 'execute_code']);
    const servers = (await client.callTool({ name: 'list_servers', arguments: {} })) as unknown as Said;
    expect(JSON.parse(servers.content[0]?.text ?? '')).toEqual([{ alias: 'web', description: 'under-test' }]);
    const found = (await client.callTool({ name: 'search_tools', arguments: { query: 'search' } })) as unknown as Said;
    expect(found.content[0]?.text).toContain('search');
    await expect(client.callTool({ name: 'search_tools', arguments: {} })).rejects.toThrow(/query/);
    await expect(client.callTool({ name: 'rm', arguments: {} })).rejects.toThrow(/no tool/);
  }, 60_000);

  test('five calls in one script, in parallel, each charged by itself', async () => {
    const key = await makeKey();
    const before = calls();
    const said = await run(
      await connect(key),
      `const all = await Promise.all([1, 2, 3, 4, 5].map((n) => tools.web.search({ text: String(n) })));
       console.log('done');
       all.map((one) => JSON.parse(one).arguments.text).join('')`,
    );
    expect([said.isError, said.content[0]?.text]).toEqual([false, '"12345"']);
    expect(said.content[1]?.text).toContain('done');
    expect(calls() - before).toBe(5);
    await settledLedger(environment.gateway);
    const { data } = await admin('GET', `/tool-calls?project_id=${projectId}&limit=6`);
    const rows = data as { tool: string; cost_usd: string; run_id: string }[];
    const costs = rows.map(({ tool, cost_usd }) => `${tool} ${Number(cost_usd)}`).sort();
    expect(costs).toEqual(['execute_code 0', ...Array<string>(5).fill('search 0.01')]);
    expect(new Set(rows.map(({ run_id }) => run_id)).size).toBe(1);
  }, 60_000);

  test("calls of a script obey the key's tools and budget", async () => {
    const some = await connect(await makeKey({ allowed_tools: ['web__search'] }));
    expect((await run(some, 'Object.keys(tools.web).sort().join()')).content[0]?.text).toBe('"search"');
    expect((await run(some, 'await tools.web.fetch({})')).isError).toBe(true);
    const poor = await connect(await makeKey({ budget_usd: 0.03 }));
    const before = calls();
    const said = await run(
      poor,
      `const ended = await Promise.allSettled(Array.from({ length: 10 }, () => tools.web.search({})));
       ended.filter(({ status }) => status === 'fulfilled').length`,
    );
    expect(said.content[0]?.text).toBe('3');
    expect(calls() - before).toBe(3);
  }, 60_000);

  test('and how many at once or a minute', async () => {
    const count = `const ended = await Promise.allSettled(Array.from({ length: 10 }, () => tools.web.slow({})));
      const refused = ended.find(({ status }) => status === 'rejected');
      [ended.filter(({ status }) => status === 'fulfilled').length, refused.reason.message].join(': ')`;
    // `initialize`, its notification, the GET stream and the script are requests, too.
    const few = await connect(await makeKey({ rate_limit_per_minute: 8 }));
    expect((await run(few, count)).content[0]?.text).toMatch(/"4: .*exceeded its request rate.* Try again in \d+ s\./);
    web.delayMs = 500;
    const narrow = await connect(await makeKey({ max_concurrency: 2 }));
    expect((await run(narrow, count)).content[0]?.text).toMatch(/"2: .*too many concurrent requests/);
    web.delayMs = 0;
    expect((await run(narrow, 'await tools.web.slow({})')).isError).toBe(false);
  }, 60_000);

  test('it is off unless key or project say otherwise, and turned on at once', async () => {
    const project = await admin('POST', '/projects', { name: 'careful' });
    const made = await admin('POST', `/projects/${project.id}/keys`, { name: 'k', allowed_tools: ['*'] });
    const client = await connect(String(made.key));
    await expect(client.listTools()).rejects.toThrow(/code_mode/);
    await admin('PATCH', `/projects/${project.id}`, { code_mode: true });
    expect((await client.listTools()).tools).toHaveLength(3);
    await admin('PATCH', `/projects/${project.id}/keys/${made.id}`, { code_mode: false });
    await expect(client.listTools()).rejects.toThrow(/code_mode/);
  }, 60_000);

  test('a tool that breaks off, an error of the script and an endless loop are told, and nothing else notices', async () => {
    const client = await connect(await makeKey());
    expect((await run(client, 'await tools.web.search({ text: 5 })')).content[0]?.text).toContain('arguments.text');
    expect((await run(client, 'null.x')).content[0]?.text).toContain('TypeError');
    const other = await connect(await makeKey());
    const bomb = run(client, 'const all = []; for (;;) all.push(new Array(1000).fill("x".repeat(100)));');
    expect((await run(other, '1 + 1')).content[0]?.text).toBe('2');
    expect((await bomb).content[0]?.text).toContain('16 MB');
  }, 60_000);

  test('progress comes while a script calls, where the client asks for it', async () => {
    const client = await connect(await makeKey());
    const told: string[] = [];
    await client.callTool(
      { name: 'execute_code', arguments: { code: 'await tools.web.search({}); await tools.web.fetch({}); 1' } },
      undefined,
      {
        onprogress: ({ message }) => told.push(message ?? ''),
      },
    );
    expect(told).toEqual(['web.search', 'web.fetch']);
  }, 60_000);

  test('a client of the newest revision runs a script, with progress', async () => {
    const versionNegotiation = { mode: { pin: '2026-07-28' } };
    const client = new ModernClient({ name: 'test', version: '1' }, { versionNegotiation });
    const requestInit = { headers: { Authorization: `Bearer ${await makeKey()}` } };
    await client.connect(new ModernTransport(new URL('/mcp/code', environment.gateway.url), { requestInit }));
    const told: string[] = [];
    const onprogress = ({ message }: { readonly message?: string }) => void told.push(message ?? '');
    const code = 'await tools.web.search({}); await tools.web.fetch({}); 1 + 1';
    const said = (await client.callTool({ name: 'execute_code', arguments: { code } }, { onprogress })) as unknown;
    expect((said as Said).content[0]?.text).toBe('2');
    expect(told).toEqual(['web.search', 'web.fetch']);
    await client.close();
  }, 60_000);

  test("a client that leaves cancels its script and the script's calls", async () => {
    const key = await makeKey();
    web.delayMs = 100;
    const leaving = new AbortController();
    const code = 'for (let n = 0; n < 50; n++) await tools.web.search({}); 1';
    const params = { name: 'execute_code', arguments: { code } };
    const before = calls();
    const pending = fetch(new URL('/mcp/code', environment.gateway.url), {
      method: 'POST',
      signal: leaving.signal,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    }).catch(() => {});
    await waitUntil(() => calls() >= before + 2);
    leaving.abort();
    await pending;
    // One more may be on its way.
    const [left, leftMs] = [calls(), performance.now()];
    await waitUntil(() => performance.now() - leftMs > 1000);
    expect(calls()).toBeLessThanOrEqual(left + 1);
    web.delayMs = 0;
    expect(await settledLedger(environment.gateway)).toMatchObject({ ok: true, open_holds: 0 });
  }, 60_000);
});
