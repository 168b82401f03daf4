import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type McpServerUnderTest, startMcpServer, textTool } from '../fake-upstream/start-mcp-server';
import { callAdmin } from '../stores/start-gateway';
import {
  ask,
  ON_ONE_KIND_UNLESS_ALL,
  postChat,
  settledLedger,
  shareEnvironment,
  type TestEnvironment,
  waitUntil,
} from './environment';
import { runsApart, testApart } from './test-apart';

const SETUP_MS = 60_000;
const LEASE_MS = 2_000;
const PRICE_USD = 0.01;

async function soon(isThere: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 10_000;
  while (!(await isThere())) {
    if (performance.now() > endMs) throw new Error('waited in vain');
    await Bun.sleep(50);
  }
}

interface Call {
  readonly id: string;
  readonly run_id: string;
  readonly tool: string;
  readonly status: string;
  readonly is_error: boolean;
  readonly cost_usd: number;
}

describe.each(ON_ONE_KIND_UNLESS_ALL)('tool calls in the log on %s stores', (kind) => {
  let world: TestEnvironment;
  let web: McpServerUnderTest;
  let projectId: string;
  const clients: Client[] = [];

  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever JSON came back
  const admin = (method: string, path: string, body?: object): Promise<any> =>
    callAdmin(world.gateway, path, { method, body });
  const makeKey = async (settings: object = {}) => {
    const body = { name: 'agent', rate_limit_per_minute: null, allowed_tools: ['*'], ...settings };
    return (await admin('POST', `/projects/${projectId}/keys`, body)) as { id: string; key: string };
  };
  const connect = async (key: string, headers: Record<string, string> = {}) => {
    const client = new Client({ name: 'test', version: '1' });
    const requestInit = { headers: { Authorization: `Bearer ${key}`, ...headers } };
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', world.gateway.url), { requestInit }));
    clients.push(client);
    return client;
  };
  const callsOf = async (query: string) => (await admin('GET', `/tool-calls?${query}`)).data as readonly Call[];
  const callsSoon = async (query: string, count: number) => {
    await soon(async () => (await callsOf(query)).length >= count);
    return callsOf(query);
  };

  beforeAll(async () => {
    world = await shareEnvironment({
      kind,
      apart: runsApart,
      env: { LOG_BODIES: 'true', LLM0_TEST_LEASE_MS: String(LEASE_MS) },
    });
    web = startMcpServer([textTool('search'), textTool('slow')]);
    projectId = String((await admin('POST', '/projects', { name: 'agents' })).id);
    await admin('POST', '/mcp/servers', { approve: 'all', alias: 'web', url: web.url, price_per_call_usd: PRICE_USD });
  }, SETUP_MS);
  afterAll(async () => {
    for (const client of clients) await client.close().catch(() => {});
    await web.stop();
    await world.close();
  }, SETUP_MS);

  test('a run lists its requests and tool calls, and the key pays both', async () => {
    const { id: keyId, key } = await makeKey();
    const runId = `run-${crypto.randomUUID()}`;
    const headers = { 'X-LLM0-Run-Id': runId, 'X-Customer-ID': 'ann', 'X-LLM0-Team': 'red' };
    const client = await connect(key, headers);
    const secret = 'sk-abcdefghijklmnop123456';
    await client.callTool({ name: 'web__search', arguments: { text: `with ${secret}` } });
    await client.callTool({ name: 'web__nothing', arguments: {} }).catch(() => {});
    const answer = await postChat(world.gateway, key, ask('in the same run'), { headers });
    expect(answer.status).toBe(200);
    await answer.text();
    const calls = await callsSoon(`run_id=${runId}`, 2);
    expect(calls).toMatchObject([
      { tool: 'nothing', status: 'error', is_error: true, cost_usd: 0 },
      {
        tool: 'search',
        status: 'success',
        is_error: false,
        cost_usd: PRICE_USD,
        customer_id: 'ann',
        api_key_id: keyId,
      },
    ]);
    const rows = async () => (await admin('GET', `/logs?run_id=${runId}`)).data;
    await soon(async () => (await rows()).length === 1);
    const [row] = await rows();
    expect(row).toMatchObject({ run_id: runId, labels: { team: 'red' } });
    const ledger = await settledLedger(world.gateway);
    expect(ledger).toMatchObject({ ok: true, open_holds: 0 });
    const spent = row.cost_usd + PRICE_USD;
    expect(ledger.projects.find((one) => one.project_id === projectId)?.counter_usd).toBeCloseTo(spent, 9);
    const keys = (await admin('GET', `/projects/${projectId}/keys`)).data as { id: string; spent_usd: number }[];
    expect(keys.find(({ id }) => id === keyId)?.spent_usd).toBeCloseTo(spent, 9);
    const [found] = calls.filter(({ tool }) => tool === 'search');
    await soon(async () => (await admin('GET', `/tool-calls/${found?.id}/bodies`).catch(() => null)) !== null);
    const bodies = await admin('GET', `/tool-calls/${found?.id}/bodies`);
    expect(bodies.arguments).toEqual({ text: 'with [redacted]' });
    expect(bodies.result.content[0].text).toContain('with [redacted]');
    expect(JSON.stringify(bodies)).not.toContain(secret);
    const metrics = await (await fetch(new URL('/metrics', world.gateway.url))).text();
    expect(metrics).toContain('llm0_tool_calls_total{server="web",status="success"} 1');
    expect(metrics).toContain(`llm0_tool_call_cost_usd_total{server="web"} ${PRICE_USD}`);
    const tools = await admin('GET', `/stats/tools?group_by=tool&interval=all&project_id=${projectId}`);
    expect(tools.buckets).toMatchObject([{ group: 'web__' }, { group: 'web__search', calls: 1, cost_usd: PRICE_USD }]);
  }, 60_000);

  testApart(
    'kill -9 under calls: one row for each, those that were lost too, and even books',
    async () => {
      const { id: keyId, key } = await makeKey();
      const runId = `run-${crypto.randomUUID()}`;
      const client = await connect(key, { 'X-LLM0-Run-Id': runId });
      await client.callTool({ name: 'web__search', arguments: {} });
      web.delayMs = 20_000;
      const before = web.seen.length;
      const pending = Array.from({ length: 5 }, () =>
        client.callTool({ name: 'web__slow', arguments: {} }).catch(() => {}),
      );
      await waitUntil(
        () => web.seen.filter(({ method }) => method === 'tools/call').length >= 6 && web.seen.length > before,
      );
      await world.restart('kill');
      web.delayMs = 0;
      const ledger = await settledLedger(world.gateway, 60_000);
      expect(ledger).toMatchObject({ ok: true, open_holds: 0, queue_depth: 0 });
      const calls = await callsSoon(`run_id=${runId}&limit=100`, 6);
      expect(calls.filter(({ tool }) => tool === 'slow')).toHaveLength(5);
      expect(new Set(calls.map(({ id }) => id)).size).toBe(6);
      for (const call of calls.filter(({ tool }) => tool === 'slow')) {
        expect(call).toMatchObject({
          status: 'error',
          error_code: 'gateway_lost',
          is_error: true,
          cost_usd: PRICE_USD,
        });
      }
      const keys = (await admin('GET', `/projects/${projectId}/keys`)).data as { id: string; spent_usd: number }[];
      expect(keys.find(({ id }) => id === keyId)?.spent_usd).toBeCloseTo(6 * PRICE_USD, 9);
      await Promise.race([Promise.all(pending), Bun.sleep(1)]);
    },
    120_000,
  );

  test("a key's budget holds after a restart: what was spent on tools is not forgotten", async () => {
    const { id: keyId, key } = await makeKey({ budget_usd: 3 * PRICE_USD });
    const client = await connect(key);
    for (let n = 0; n < 3; n++) await client.callTool({ name: 'web__search', arguments: {} });
    await expect(client.callTool({ name: 'web__search', arguments: {} })).rejects.toThrow();
    await callsSoon(`api_key_id=${keyId}`, 4);
    await world.restart('stop');
    const again = await connect(key);
    await expect(again.callTool({ name: 'web__search', arguments: {} })).rejects.toThrow();
    const calls = await callsSoon(`api_key_id=${keyId}`, 5);
    expect(calls.map(({ status }) => status).sort()).toEqual([
      ...['cap_exceeded', 'cap_exceeded', 'success', 'success', 'success'],
    ]);
    expect(await settledLedger(world.gateway)).toMatchObject({ ok: true });
  }, 60_000);
});
