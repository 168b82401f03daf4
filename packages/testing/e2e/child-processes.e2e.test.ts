import { afterAll, beforeAll, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { callAdmin, createTestKey, type GatewayProcess, startGateway } from '../stores/start-gateway';

const folder = mkdtempSync(join(tmpdir(), 'llm0-children-'));
const MARK = 'secret-of-a-file';
/** Tells a caller all that it has and where it runs. */
const SERVER = `
import { readdirSync } from 'node:fs';
const seen = () => ({ environment: Bun.spawnSync(['env']).stdout.toString(), own: { ...process.env }, files: readdirSync('.'), folder: process.cwd() });
let kept = '';
process.stdin.on('data', (chunk) => {
  const lines = (kept + chunk).split('\\n');
  kept = lines.pop() ?? '';
  for (const line of lines) answer(JSON.parse(line));
});
const tools = [{ name: 'get-env', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }];
const results = {
  initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'env', version: '1' } }),
  'tools/list': () => ({ tools }),
  'tools/call': () => ({ content: [{ type: 'text', text: JSON.stringify(seen()) }] }),
};
function answer({ id, method }) {
  if (id === undefined) return;
  const result = results[method]?.();
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error: { code: -32601, message: 'no' } }) }));
}
`;

let gateway: GatewayProcess;
let client: Client;

beforeAll(async () => {
  writeFileSync(join(folder, '.env'), `OPENAI_API_KEY=${MARK}\nMCP_STDIO=true\n`);
  for (const name of ['local', 'development', 'development.local', 'production', 'production.local', 'test'])
    writeFileSync(join(folder, `.env.${name}`), `FROM_${name.toUpperCase().replace('.', '_')}=${MARK}\n`);
  writeFileSync(join(folder, 'bunfig.toml'), 'env = true\npreload = ["./preload.ts"]\n');
  writeFileSync(join(folder, 'preload.ts'), `process.env.FROM_PRELOAD = '${MARK}';`);
  writeFileSync(join(folder, 'server.ts'), SERVER);
  gateway = await startGateway({ folder, env: { ENCRYPTION_KEY: randomBytes(32).toString('base64') } });
  const program = { command: process.execPath, args: [join(folder, 'server.ts')], env: { GIVEN: 'by the operator' } };
  await callAdmin(gateway, '/mcp/servers', { body: { approve: 'all', alias: 'env', transport: 'stdio', ...program } });
  const { apiKey } = await createTestKey(gateway, { key: { allowed_tools: ['env__*'] } });
  client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { Authorization: `Bearer ${apiKey}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', gateway.url), { requestInit }));
}, 60_000);

afterAll(async () => {
  await client?.close();
  await gateway?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** All that this process started, and they. */
function descendants(of: number): readonly number[] {
  const children = readdirSync(`/proc/${of}/task`).flatMap((thread) =>
    readFileSync(`/proc/${of}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  );
  return children.flatMap((child) => [child, ...descendants(child)]);
}

test('no program that the gateway runs has anything of its settings or of the files beside it', async () => {
  const result = (await client.callTool({ name: 'env__get-env', arguments: {} })) as { content: { text: string }[] };
  const seen = JSON.parse(result.content[0]?.text ?? '') as { own: object; files: string[]; folder: string };
  expect(seen.own).toMatchObject({ GIVEN: 'by the operator' });
  expect(JSON.stringify(seen)).not.toContain(MARK);
  expect(seen.files).toEqual([]);
  expect(seen.folder).toBe(join(gateway.dataDir, 'mcp/env'));
});

test('the whole tree of processes is started without them', async () => {
  // Other systems have no such files to look into.
  if (process.platform !== 'linux') return;
  const pids = descendants(gateway.pid);
  const commands = pids.map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '));
  expect(commands).toEqual(
    expect.arrayContaining(['postgres-child.ts', 'guard.ts', 'server.ts'].map((name) => expect.stringContaining(name))),
  );
  for (const pid of pids) {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
    expect(environment).not.toContain(MARK);
    expect(environment).not.toContain('ADMIN_TOKEN');
    expect(environment).not.toContain('ENCRYPTION_KEY');
  }
  // Without this switch of the test run an embedded Postgres takes half as much processor time again.
  const postgres = pids[commands.findIndex((text) => text.includes('postgres-child.ts'))];
  expect(readFileSync(`/proc/${postgres}/environ`, 'utf8')).toContain('BUN_JSC_useOMGJIT=');
  for (const command of commands.filter((text) => /postgres-child|guard\.ts/.test(text)))
    expect(command).toContain('--no-env-file');
});
