// A gateway as an operator runs it, with its log in ClickHouse, which is killed in the middle of traffic.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type ChdbServer, startChdb } from '../clickhouse/start-chdb';
import { startMcpServer, textTool } from '../fake-upstream/start-mcp-server';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { ask, postChat, startEnvironment, type TestEnvironment } from './environment';

let clickhouse: ChdbServer;
let world: TestEnvironment;
let apiKey: string;

beforeAll(async () => {
  clickhouse = await startChdb();
  world = await startEnvironment({ kind: 'real', env: { LOG_DATABASE_URL: clickhouse.url, LOG_BODIES: 'true' } });
  ({ apiKey } = await createTestKey(world.gateway));
}, 180_000);
afterAll(async () => {
  await world?.close();
  await clickhouse?.stop();
});

async function send(count: number): Promise<void> {
  for (let nth = 0; nth < count; nth++) await (await postChat(world.gateway, apiKey, ask(`question ${nth}`))).text();
}

interface State {
  readonly state: string;
  readonly problem: string | null;
}
async function untilState(wanted: string): Promise<void> {
  let found: State | undefined;
  for (let nth = 0; nth < 600; nth++) {
    found = await callAdmin<State>(world.gateway, '/log-database').catch(() => undefined);
    if (found?.state === wanted) return;
    await Bun.sleep(200);
  }
  throw new Error(`the log database was never "${wanted}", but ${JSON.stringify(found)}`);
}
const rowsThere = async () =>
  (await clickhouse.ask<{ n: number }>('select toInt32(count()) as n from gateway_logs final'))[0]?.n;
async function untilRows(count: number): Promise<void> {
  for (let nth = 0; nth < 300 && (await rowsThere()) !== count; nth++) await Bun.sleep(200);
  expect(await rowsThere()).toBe(count);
}

/** What the command prints, which ends when every day was compared. */
async function moveAgain(): Promise<string> {
  const command = [process.execPath, '--no-env-file', 'apps/gateway/bin/llm0.ts', 'logs', 'move', '--again'];
  const env = { PATH: process.env.PATH, LLM0_URL: world.gateway.url, ADMIN_TOKEN: world.gateway.adminToken };
  const cwd = join(import.meta.dir, '../../..');
  const child = Bun.spawn(command, { cwd, env, stdout: 'pipe', stderr: 'inherit' });
  const printed = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  return printed;
}

test('rows survive a kill of ClickHouse, and the gateway is ready throughout', async () => {
  await untilState('answers');
  await send(20);
  await untilRows(20);
  const sending = send(30);
  await clickhouse.kill();
  await sending;
  await untilState('away');
  expect((await fetch(`${world.gateway.url}/readyz`)).status).toBe(200);
  const status = await callAdmin<{ log_database: object }>(world.gateway, '/status');
  expect(status.log_database).toMatchObject({ ok: false, since: expect.any(String) });
  const { data } = await callAdmin<{ data: readonly object[] }>(world.gateway, '/logs?limit=100');
  expect(data.length).toBe(50);
  await clickhouse.start();
  await untilRows(50);
  await untilState('answers');
  const [sums] = await clickhouse.ask<{ usd: number }>(
    'select toFloat64(sum(cost_usd)) as usd from gateway_logs final',
  );
  const books = await callAdmin<{ ok: boolean; projects: { logs_usd: string }[] }>(world.gateway, '/reconcile');
  expect(books.ok).toBe(true);
  expect(sums?.usd).toBeCloseTo(Number(books.projects[0]?.logs_usd), 9);
  const [bodies] = await clickhouse.ask<{ n: number }>('select toInt32(count()) as n from gateway_log_bodies final');
  expect(bodies?.n).toBe(50);
  expect(await moveAgain()).toContain('answers');
}, 300_000);

test('calls of tools follow', async () => {
  const server = startMcpServer([textTool('search')]);
  const client = new Client({ name: 'test', version: '1' });
  try {
    const body = { approve: 'all', alias: 'web', url: server.url, price_per_call_usd: 0.01 };
    await callAdmin(world.gateway, '/mcp/servers', { body });
    const key = await createTestKey(world.gateway, { key: { allowed_tools: ['*'] } });
    const requestInit = { headers: { Authorization: `Bearer ${key.apiKey}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', world.gateway.url), { requestInit }));
    for (let nth = 0; nth < 3; nth++) await client.callTool({ name: 'web__search', arguments: {} });
    const there = async () =>
      clickhouse.ask<{ id: string; usd: number }>(
        "select id, toFloat64(cost_usd) as usd from tool_calls final where tool = 'search' order by toString(id)",
      );
    for (let nth = 0; nth < 100 && (await there()).length < 3; nth++) await Bun.sleep(200);
    const { data } = await callAdmin<{ data: readonly { id: string }[] }>(world.gateway, '/tool-calls?tool=search');
    expect(await there()).toEqual(data.map(({ id }) => ({ id, usd: 0.01 })).sort((a, b) => (a.id < b.id ? -1 : 1)));
    expect(data.length).toBe(3);
  } finally {
    await client.close().catch(() => {});
    await server.stop();
  }
}, 60_000);
