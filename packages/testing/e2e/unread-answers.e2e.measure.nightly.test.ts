import { afterAll, beforeAll, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { startEnvironment, type TestEnvironment } from './environment';
import { type FloodServer, startFloodServer } from './flood-server';
import { memoryMib } from './watch-gateway';

const COUNT = 150;
const BYTES = 7_700_000;
/** The law, in MiB: one key can't add more than 200 MB. */
const MOST_MIB = 190;
const WATCHED_MS = 5000;
/** What isn't buffered by then isn't buffered at all. */
const SETTLED_MS = 1500;

let env: TestEnvironment;
let vendor: FloodServer;
beforeAll(async () => {
  vendor = await startFloodServer(BYTES);
  const groq = { GROQ_BASE_URL: `${vendor.url}/v1`, GROQ_API_KEY: 'gsk-fake-vendor-key' };
  const settings = {
    ...groq,
    OPENAI_BASE_URL: `${vendor.url}/v1`,
    CACHE_MAX_BODY_BYTES: '30MB',
    CACHE_MAX_BYTES: '200MB',
  };
  env = await startEnvironment({ kind: 'embedded', env: settings });
  await callAdmin(env.gateway, '/backends', { body: { name: 'flood', url: vendor.url } });
  await callAdmin(env.gateway, '/mcp/servers', {
    body: { approve: 'all', alias: 'flood', transport: 'http', url: `${vendor.url}/mcp` },
  });
}, 60_000);
afterAll(async () => {
  vendor.stop();
  await env.close();
});

const chat = (text: string, stream = true) => ({
  model: 'openai/flood',
  stream,
  messages: [{ role: 'user', content: text }],
});
const native = '/passthrough/openai/v1/chat/completions';
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const call = (id: number) => ({
  ...{ jsonrpc: '2.0', id, method: 'tools/call' },
  params: { name: 'flood__get', arguments: {}, _meta: META },
});
const MCP_HEADERS = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'flood__get' };
const HELD = { name: 'long', on: 'output', check: { type: 'length', max: 100_000_000 }, action: 'block' };

interface Sent {
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

const REQUESTS: readonly (readonly [
  name: string,
  make: (number: number, stored: string) => Sent,
  settings?: { isCached?: true; isHeld?: true; isStored?: true },
])[] = [
  ['streams', (n) => ({ path: '/v1/chat/completions', body: chat(`${n}`) })],
  ['streams from the cache', () => ({ path: '/v1/chat/completions', body: chat('same') }), { isCached: true }],
  [
    'streams under a guardrail that holds them',
    (n) => ({ path: '/v1/chat/completions', body: chat(`${n}`) }),
    { isHeld: true },
  ],
  ['plain answers', (n) => ({ path: '/v1/chat/completions', body: chat(`${n}`, false) })],
  ['streams passed through', (n) => ({ path: native, body: chat(`${n}`) })],
  ['answers of a backend', (n) => ({ path: `/infer/flood/raw/${n}` })],
  ['stored answers', (_n, stored) => ({ path: `/v1/responses/${stored}` }), { isStored: true }],
  ['results of a tool', (n) => ({ path: '/mcp', body: call(n), headers: MCP_HEADERS })],
];

test.each(REQUESTS)(
  `${COUNT} unread answers of one key add less than 200 MB: %s`,
  async (_name, make, { isCached = false, isHeld = false, isStored = false } = {}) => {
    const { gateway } = env;
    const project = { cache_enabled: isCached, passthrough: ['openai'], allowed_tools: ['flood__*'] };
    const { apiKey, projectId } = await createTestKey(gateway, { project });
    if (isHeld) {
      const body = { mode: 'enforce', rules: [HELD] };
      await callAdmin(gateway, `/projects/${projectId}/guardrails`, { method: 'PUT', body });
    }
    const headers = { authorization: `Bearer ${apiKey}`, accept: 'application/json, text/event-stream' };
    const stored = isStored ? await storeAnswer(apiKey) : '';
    const requestOf = (number: number) => {
      const { path, body, headers: own } = make(number, stored);
      const text = body === undefined ? undefined : JSON.stringify(body);
      const type = { 'content-type': 'application/json' };
      return { path, text, headers: { ...headers, ...(text === undefined ? {} : type), ...own } };
    };
    const first = requestOf(COUNT);
    const method = first.text === undefined ? 'GET' : 'POST';
    const answer = await fetch(`${gateway.url}${first.path}`, { method, headers: first.headers, body: first.text });
    expect((await answer.bytes()).byteLength).toBeGreaterThan(BYTES);
    const beforeMib = await memoryMib(gateway);
    let mostMib = 0;
    const sockets = await Promise.all(
      Array.from({ length: COUNT }, (_, number) => sendUnread(gateway.url, { method, ...requestOf(number) })),
    );
    const startMs = performance.now();
    let grewMs = startMs;
    for (let nowMs = startMs; nowMs < startMs + WATCHED_MS && nowMs < grewMs + SETTLED_MS; nowMs = performance.now()) {
      const mib = await memoryMib(gateway);
      if (mib > mostMib + 1) grewMs = nowMs;
      mostMib = Math.max(mostMib, mib);
      await Bun.sleep(20);
    }
    for (const socket of sockets) socket.terminate();
    expect(mostMib - beforeMib).toBeLessThan(MOST_MIB);
    expect((await fetch(`${gateway.url}/livez`)).status).toBe(200);
  },
  60_000,
);

/** Gives the id of a long one. */
async function storeAnswer(apiKey: string): Promise<string> {
  const answer = await fetch(`${env.gateway.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'groq/flood', input: 'hi' }),
  });
  return ((await answer.json()) as { readonly id: string }).id;
}

interface Unread {
  readonly method: string;
  readonly path: string;
  readonly text: string | undefined;
  readonly headers: Record<string, string>;
}

/** A client that sends its request and then never reads a byte. */
async function sendUnread(url: string, { method, path, text = '', headers }: Unread) {
  const { hostname, port } = new URL(url);
  const socket = await Bun.connect({
    ...{ hostname, port: Number(port) },
    socket: { data: (own) => void own.pause(), open: () => {} },
  });
  const lines = Object.entries({ host: hostname, 'content-length': String(Buffer.byteLength(text)), ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`${method} ${path} HTTP/1.1\r\n${head}\r\n${text}`);
  return socket;
}
