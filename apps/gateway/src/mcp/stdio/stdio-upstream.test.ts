import { afterEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { JsonObject } from '@llm0/core/chat/json';
import type { McpServer } from '@llm0/core/mcp/server';
import { waitUntil } from '@llm0/testing/e2e/environment';
import type { UpstreamAnswer } from '../upstream/upstream';
import { StdioUpstream } from './stdio-upstream';

const CLIENT = { era: 'modern', version: '2026-07-28', capabilities: {} } as const;
const MAX_BYTES = 10_000_000;
const programsFolder = mkdtempSync(join(tmpdir(), 'llm0-programs-'));
const open: StdioUpstream[] = [];
const lines: object[] = [];
const log = {
  info: (fields: object) => void lines.push(fields),
  warn: (fields: object) => void lines.push(fields),
  debug: (fields: object) => void lines.push(fields),
};
afterEach(() => {
  for (const upstream of open.splice(0)) upstream.close();
  lines.length = 0;
});

/** The program that a package of the registry starts. */
function programOf(name: string): string {
  const file = createRequire(import.meta.url).resolve(`${name}/package.json`);
  const { bin } = require(file) as { bin: Record<string, string> };
  return join(dirname(file), Object.values(bin)[0] ?? '');
}

function start(args: readonly string[], more: Partial<McpServer> = {}): StdioUpstream {
  const server = {
    ...{ id: 'id', alias: 'own', description: '', transport: 'stdio', url: null, command: process.execPath, args },
    ...{ env: {}, headers: {}, auth: 'none', allowedTools: null, blockedTools: [], pricePerCallNanoUsd: 0 },
    ...{ timeoutMs: 10_000, isActive: true, isUnreadable: false, ...more },
  } as McpServer & { command: string };
  const upstream = new StdioUpstream({
    server,
    self: { name: 'test', version: '1' },
    log,
    monotonicMs: () => performance.now(),
    programs: { env: { PATH: process.env.PATH ?? '' }, folder: programsFolder },
  });
  open.push(upstream);
  return upstream;
}

/** A server of a few lines; `handle` is its source: `(message, send) => …`. */
const script = (handle: string, more?: Partial<McpServer>) => {
  const file = join(mkdtempSync(join(tmpdir(), 'llm0-stdio-')), 'server.ts');
  writeFileSync(file, SERVER.replace('HANDLE', handle));
  return start([file], more);
};
const SERVER = `
const send = (message: unknown) => process.stdout.write(JSON.stringify(message) + '\\n');
const handle = HANDLE;
let kept = '';
process.stdin.on('data', (chunk) => {
  kept += chunk;
  const lines = kept.split('\\n');
  kept = lines.pop() ?? '';
  for (const line of lines) {
    const message = JSON.parse(line);
    if (message.method === 'initialize') {
      send({ jsonrpc: '2.0', id: message.id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } });
    } else if (message.method === 'server/discover') {
      send({ jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'none' } });
    } else handle(message, send);
  }
});
`;
const ECHO =
  '({ id, params }, send) => { if (id !== undefined) send({ jsonrpc: "2.0", id, result: { said: params } }); }';

async function ask(upstream: StdioUpstream, method: string, params: JsonObject, signal = new AbortController().signal) {
  return resultOf(await upstream.ask({ method, params, client: CLIENT, signal, maxBytes: MAX_BYTES }));
}

async function resultOf(answer: UpstreamAnswer): Promise<JsonObject | undefined> {
  try {
    for (let part = await answer.next(); part !== undefined; part = await answer.next()) {
      if (part.kind === 'response') return part.response.result;
    }
    return undefined;
  } finally {
    answer.close();
  }
}

/** One that ended and that nobody has asked for yet is not alive. */
const isAlive = (pid: number): boolean => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
};

describe('servers of the package registry over stdio', () => {
  test('the filesystem server lists its tools, reads a file, and refuses what lies outside its folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'llm0-files-'));
    writeFileSync(join(folder, 'note.txt'), 'four words of text');
    const upstream = start([programOf('@modelcontextprotocol/server-filesystem'), folder]);
    const { tools } = (await ask(upstream, 'tools/list', {})) as unknown as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toContain('read_text_file');
    const read = (path: string) => ask(upstream, 'tools/call', { name: 'read_text_file', arguments: { path } });
    expect(JSON.stringify(await read(join(folder, 'note.txt')))).toContain('four words of text');
    expect(await read('/etc/passwd')).toMatchObject({ isError: true });
  }, 30_000);

  test('the memory server keeps between two calls what it was told', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'llm0-memory-'));
    const env = { MEMORY_FILE_PATH: join(folder, 'memory.json') };
    const upstream = start([programOf('@modelcontextprotocol/server-memory')], { env });
    const entities = [{ name: 'gateway', entityType: 'program', observations: ['is fast'] }];
    await ask(upstream, 'tools/call', { name: 'create_entities', arguments: { entities } });
    expect(JSON.stringify(await ask(upstream, 'tools/call', { name: 'read_graph', arguments: {} }))).toContain(
      'is fast',
    );
  }, 30_000);
});

describe('a stdio server', () => {
  test('answers many calls at once, in whatever order it likes', async () => {
    const upstream = script(
      '({ id, params }, send) => { if (id !== undefined) setTimeout(() => send({ jsonrpc: "2.0", id, result: { n: params.arguments.n } }), Math.random() * 30); }',
    );
    const all = Array.from({ length: 100 }, (_, n) => ask(upstream, 'tools/call', { name: 't', arguments: { n } }));
    expect((await Promise.all(all)).map((result) => result?.n)).toEqual(Array.from({ length: 100 }, (_, n) => n));
  }, 20_000);

  test('sees nothing of the environment but what it was given', async () => {
    process.env.LLM0_SECRET_OF_THE_TEST = 'secret';
    const upstream = script(
      '({ id }, send) => { if (id !== undefined) send({ jsonrpc: "2.0", id, result: { env: process.env } }); }',
      {
        env: { GIVEN: 'yes' },
      },
    );
    const { env } = (await ask(upstream, 'x', {})) as { env: Record<string, string> };
    delete process.env.LLM0_SECRET_OF_THE_TEST;
    expect([env.GIVEN, env.LLM0_SECRET_OF_THE_TEST, env.ADMIN_TOKEN]).toEqual(['yes', undefined, undefined]);
  }, 20_000);

  test('gets no shell: what looks like one is text', async () => {
    const upstream = script(ECHO.replace('said: params', 'said: process.argv.slice(2)'));
    expect((await ask(upstream, 'x', {}))?.said).toEqual([]);
    const odd = start(['-e', 'console.error(process.argv.slice(1).join("|"))', '$(id); `id`', '&& id']);
    await odd.facts().catch(() => {});
    expect(JSON.stringify(lines)).toContain('$(id); `id`|&& id');
  }, 20_000);

  test('is told when nobody waits any more', async () => {
    const upstream = script(`(message, send) => {
      const heard = ((globalThis as any).heard ??= []);
      heard.push(message.method);
      if (message.method === 'heard') send({ jsonrpc: '2.0', id: message.id, result: { heard } });
    }`);
    const gone = new AbortController();
    const slow = ask(upstream, 'tools/call', { name: 'slow' }, gone.signal);
    await upstream.facts();
    setTimeout(() => gone.abort(), 50);
    await expect(slow).rejects.toThrow();
    expect((await ask(upstream, 'heard', {}))?.heard).toContain('notifications/cancelled');
  }, 20_000);

  test('that ends fails its calls; the next call restarts it, with back-off', async () => {
    const upstream = script(
      '({ id, method }, send) => { if (method === "die") process.exit(3); if (id !== undefined) send({ jsonrpc: "2.0", id, result: {} }); }',
    );
    expect(await ask(upstream, 'x', {})).toEqual({});
    const first = upstream.pid;
    await expect(ask(upstream, 'die', {})).rejects.toThrow('ended by itself (code 3)');
    expect(await ask(upstream, 'x', {})).toEqual({});
    expect(upstream.pid).not.toBe(first);
    await expect(ask(upstream, 'die', {})).rejects.toThrow('code 3');
    await expect(ask(upstream, 'x', {})).rejects.toThrow('restarts in 1 s');
    let answered = false;
    const retry = async () => {
      while (!answered) answered = (await ask(upstream, 'x', {}).catch(() => Bun.sleep(50))) !== undefined;
    };
    await Promise.race([retry(), Bun.sleep(5000)]);
    expect(answered).toBe(true);
  }, 20_000);

  test('a missing command says so', async () => {
    const upstream = start([], { command: '/nowhere/at-all' });
    await expect(upstream.facts()).rejects.toThrow('its command is not there');
  }, 20_000);

  test.each([
    [
      'a line without an end',
      '() => { const big = "x".repeat(1 << 20); for (let n = 0; n < 40; n++) process.stdout.write(big); }',
      'was stopped',
      15_000,
    ],
    ['silence', '() => {}', 'did not answer within', 1500],
  ])(
    'that answers with %s fails the call',
    async (_, handle, why, timeoutMs) => {
      const upstream = script(handle, { timeoutMs });
      await expect(ask(upstream, 'x', {})).rejects.toThrow(why);
    },
    20_000,
  );

  test.each([
    ['nonsense between messages', 'process.stdout.write("hello\\n{\\n[]\\nnull\\n42\\n");'],
    [
      'answers nobody asked for',
      'send({ jsonrpc: "2.0", id: "other", result: {} }); send({ jsonrpc: "2.0", id: 7, result: {} });',
    ],
    ['requests of its own', 'send({ jsonrpc: "2.0", id: 1, method: "sampling/createMessage", params: {} });'],
    ['a flood on stderr', 'for (let n = 0; n < 2000; n++) console.error("noise " + n);'],
  ])(
    'may write %s, and is answered all the same',
    async (_, first) => {
      const upstream = script(
        `({ id, method }, send) => { if (method === "x") { ${first} } if (method !== undefined && id !== undefined) send({ jsonrpc: "2.0", id, result: { ok: true } }); }`,
      );
      expect(await ask(upstream, 'x', {})).toEqual({ ok: true });
      expect(await ask(upstream, 'y', {})).toEqual({ ok: true });
      expect(lines.filter((line) => 'stderr' in line).length).toBeLessThan(100);
    },
    20_000,
  );

  test('ends with what it started itself when it is closed, even where it does not want to', async () => {
    const upstream = script(
      '({ id }, send) => { process.on("SIGTERM", () => {}); const child = Bun.spawn(["sleep", "1000"]); if (id !== undefined) send({ jsonrpc: "2.0", id, result: { child: child.pid, own: process.pid } }); }',
    );
    const { child, own } = (await ask(upstream, 'x', {})) as { child: number; own: number };
    expect([isAlive(child), isAlive(own)]).toEqual([true, true]);
    upstream.close();
    await waitUntil(() => !isAlive(child) && !isAlive(own), 6000);
  }, 20_000);

  test.each([[[]], [['--no-orphans']]])(
    'ends within a second when its gateway is killed (%p)',
    async (flags) => {
      const file = join(mkdtempSync(join(tmpdir(), 'llm0-killed-')), 'gateway.ts');
      writeFileSync(
        file,
        `import { ServerProcess } from ${JSON.stringify(join(import.meta.dir, 'server-process.ts'))};
       const log = { info() {}, warn() {} };
       const one = new ServerProcess({ alias: 'a', command: 'sh', args: ['-c', 'sleep 1001 & echo $!; wait'], env: {}, programs: { env: { PATH: process.env.PATH ?? '' }, folder: ${JSON.stringify(programsFolder)} }, log: log as never,
         onLine: (line) => { console.log(one.pid, line); return undefined; }, onEnd: () => {} });
       setInterval(() => {}, 1000);`,
      );
      const gateway = Bun.spawn([process.execPath, '--no-env-file', ...flags, file], {
        stdout: 'pipe',
        stderr: 'inherit',
      });
      const reader = gateway.stdout.getReader();
      const { value } = await reader.read();
      const [guard = 0, sleeper = 0] = new TextDecoder().decode(value).trim().split(' ').map(Number);
      expect([isAlive(guard), isAlive(sleeper)]).toEqual([true, true]);
      gateway.kill('SIGKILL');
      const startedMs = performance.now();
      await waitUntil(() => !isAlive(guard) && !isAlive(sleeper));
      expect(performance.now() - startedMs).toBeLessThan(2000);
    },
    20_000,
  );
});
