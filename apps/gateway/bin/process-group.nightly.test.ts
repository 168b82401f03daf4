import { afterEach, expect, test } from 'bun:test';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, processIdentity } from '@llm0/drizzle/embedded/data-dir-lock';
import { copyTemplate } from '@llm0/testing/stores/copy-template';
import { createDatabase } from '@llm0/testing/stores/create-database';
import { temporaryFolder } from '@llm0/testing/stores/server-process';
import { startRedis } from '@llm0/testing/stores/start-redis';
import { ROOT } from './ensure-installed';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** `bun start` at the head of a process group of its own, on embedded stores of its own. */
async function startInGroup(command: readonly string[], env: Record<string, string> = {}) {
  const dataDir = temporaryFolder('group');
  closers.push(() => rmSync(dataDir, { recursive: true, force: true }));
  await copyTemplate(dataDir);
  const child = Bun.spawn([...command], {
    cwd: ROOT,
    detached: true,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PORT: '0',
      DATA_DIR: dataDir,
      LOG_LEVEL: 'info',
      NO_COLOR: '1',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  closers.push(() => {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All of it has ended, as it should.
    }
  });
  let output = '';
  const read = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) output += decoder.decode(chunk, { stream: true });
  };
  // Ends when the last process of the group has ended.
  const ended = Promise.all([read(child.stdout), read(child.stderr)]);
  while (!/^ready$/m.test(output)) {
    if (child.exitCode !== null) throw new Error(output);
    await Bun.sleep(50);
  }
  const find = (name: string) => new RegExp(`^${name}: (\\S+)$`, 'm').exec(output)?.[1] ?? '';
  return { child, ended, output: () => output, url: find('gateway'), apiKey: find('api key') };
}

type Group = Awaited<ReturnType<typeof startInGroup>>;

/** A stream of some seconds that has begun; the text of all of it. */
async function beginStream({ url, apiKey }: Group): Promise<{ readonly text: Promise<string> }> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo-slow', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const text = response.text();
  text.catch(() => {});
  return { text };
}

const BUN_START = [process.execPath, 'start'];

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  '%s to the whole group is one drain',
  async (signal) => {
    const group = await startInGroup(BUN_START);
    const stream = await beginStream(group);
    process.kill(-group.child.pid, signal);
    expect(await stream.text).toContain('data: [DONE]');
    await group.ended;
    expect(group.output().match(/draining/g)).toHaveLength(1);
    expect(group.output()).toContain('stopped');
  },
  60_000,
);

test('a signal to the whole group of several workers is one drain of each', async () => {
  const database = await createDatabase(process.env.TEST_DATABASE_URL ?? '');
  closers.push(() => database.drop());
  const redis = await startRedis();
  closers.push(() => redis.stop());
  const stores = { DATABASE_URL: database.url, REDIS_URL: redis.url, LLM0_TEST_ADMIT_DEADLINE_MS: '5000' };
  const group = await startInGroup(BUN_START, { ...stores, GATEWAY_WORKERS: '2' });
  const stream = await beginStream(group);
  process.kill(-group.child.pid, 'SIGTERM');
  expect(await stream.text).toContain('data: [DONE]');
  await group.ended;
  expect(group.output().match(/draining/g)).toHaveLength(2);
  expect(group.output().match(/"stopped"/g)).toHaveLength(2);
  expect(group.output()).not.toContain('a worker died');
}, 60_000);

test('a second signal some time later ends it at once', async () => {
  const group = await startInGroup(BUN_START);
  const stream = await beginStream(group);
  process.kill(-group.child.pid, 'SIGINT');
  await Bun.sleep(1_300);
  process.kill(-group.child.pid, 'SIGINT');
  await group.ended;
  expect(group.output()).not.toContain('stopped');
  await expect(stream.text).rejects.toThrow();
}, 60_000);

/** npm's own program stays above Bun's: it dies of a signal that it passes on to nobody. */
const NPX = `
const child = Bun.spawn(['/bin/sh', '-c', '"$BUN" start; exit $?'], {
  env: { ...process.env, BUN: process.execPath, npm_command: 'exec' }, stdio: ['ignore', 'inherit', 'inherit'],
});
console.log('npx: ' + process.pid);
process.exit(await child.exited);`;

test.each(['SIGTERM', 'SIGKILL'] as const)(
  '%s to npx alone ends the gateway by a drain',
  async (signal) => {
    const folder = temporaryFolder('npx');
    closers.push(() => rmSync(folder, { recursive: true, force: true }));
    const script = join(folder, 'npx-cli.js');
    writeFileSync(script, NPX);
    chmodSync(script, 0o755);
    const group = await startInGroup([process.execPath, '--no-env-file', script]);
    const stream = await beginStream(group);
    group.child.kill(signal);
    expect(await stream.text).toContain('data: [DONE]');
    await group.ended;
    expect(group.output()).toContain('stopped');
  },
  60_000,
);

test('a gateway whose script runner is killed drains and ends', async () => {
  const group = await startInGroup(BUN_START);
  const runner = processIdentity(group.child.pid) ?? '';
  process.kill(group.child.pid, 'SIGKILL');
  await group.ended;
  expect(isAlive(runner)).toBe(false);
  expect(group.output()).toContain('stopped');
}, 60_000);

test.each([
  [['--help'], 0, 'OPENAI_API_KEY'],
  [['--prot', '1'], 2, 'unexpected argument "--prot"'],
] as const)('bun start %j says how it is used, and starts nothing', async (args, code, text) => {
  const child = Bun.spawn([...BUN_START, ...args], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect(await child.exited).toBe(code);
  expect(out + err).toContain(text);
  expect(out + err).not.toContain('gateway: ');
});
