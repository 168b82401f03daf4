import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@llm0/gateway/testing/start-postgres';
import { startRedis } from '@llm0/gateway/testing/start-redis';
import type { LoadJob, LoadResult } from './load';

export interface StartedStores {
  readonly redisUrl: string;
  /** What the gateway is started with. */
  readonly env: Readonly<Record<string, string>>;
}

/** Starts a Bun script that prints `ready <port>`. */
export async function startScript(path: string, args: readonly string[], env: Record<string, string> = {}) {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, path), ...args], {
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: '20000', ...env },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of child.stdout) {
    text += decoder.decode(chunk, { stream: true });
    const port = /ready (\d+)/.exec(text)?.[1];
    if (port !== undefined) return { child, pid: child.pid, url: `http://127.0.0.1:${port}` };
  }
  throw new Error(`${path} did not start: ${text}`);
}

/** Load from a process of its own, so that its CPU is not the server's. */
export async function load(job: LoadJob): Promise<LoadResult> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'load.ts'), JSON.stringify(job)], {
    env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: '20000' },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`load generator failed: ${text}`);
  return JSON.parse(text.trim().split('\n').at(-1) ?? '') as LoadResult;
}

/** Redis keeps its data (`appendonly`), as an operator's would. */
export async function startRealStores(stops: (() => Promise<unknown>)[]): Promise<StartedStores> {
  const redisDir = await mkdtemp(join(tmpdir(), 'llm0-bench-redis-'));
  const redis = await startRedis({ dataDir: redisDir, args: ['--appendfsync', 'everysec'] });
  stops.push(() => redis.stop());
  const postgres = await startPostgres();
  stops.push(() => postgres.stop());
  return { redisUrl: redis.url, env: { REDIS_URL: redis.url, DATABASE_URL: postgres.url } };
}
