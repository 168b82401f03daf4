// Starts everything a run needs, each in a process of its own: stores, fake upstream, floor, gateway.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callAdmin, createTestKey, type GatewayProcess, startGateway } from '@llm0/testing/stores/start-gateway';
import { startPostgres } from '@llm0/testing/stores/start-postgres';
import { startRedis } from '@llm0/testing/stores/start-redis';
import { RUNTIME_ENVIRONMENT } from '../apps/gateway/bin/runtime-environment';
import { findListener } from './machine/process-stats';
import type { BenchOptions } from './options';
import type { KeyName, TargetKind } from './scenarios/scenarios';

export interface BenchStores {
  readonly redisUrl: string;
  readonly databaseUrl: string;
}

/** Somebody to send load to. */
export interface Target {
  readonly name: string;
  readonly kind: TargetKind;
  readonly url: string;
  /** Absent for what was not started here. */
  readonly pid?: number;
  readonly keys: Readonly<Record<KeyName, string>>;
  /** Instead of the scenario's. */
  readonly model?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface StartedGateway extends Pick<GatewayProcess, 'url' | 'pid' | 'adminToken' | 'dataDir'> {
  /** The open key, and the project it is of. */
  readonly open: { readonly projectId: string; readonly keyId: string; readonly apiKey: string };
  /** What another gateway on the same stores is started with. */
  readonly env: Readonly<Record<string, string>>;
}

/** All that runs while a bench does. */
export interface BenchWorld {
  readonly options: BenchOptions;
  readonly targets: readonly Target[];
  /** Absent with `--url`. */
  readonly gateway: StartedGateway | undefined;
  /** Absent with embedded stores and with `--url`. */
  readonly stores: BenchStores | undefined;
  /** Processes whose CPU is counted, by name; the client is counted by itself. */
  readonly processes: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

export async function startBench(options: BenchOptions): Promise<BenchWorld> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    const upstream = await startScript('../packages/testing/fake-upstream/main.ts', [
      ...['--port', String(options.upstreamPort)],
    ]);
    stops.push(async () => upstream.child.kill());
    const floor = await startScript('bare-proxy.ts', [], { UPSTREAM_URL: upstream.url });
    stops.push(async () => floor.child.kill());
    const ours = options.url === undefined ? await startOurs(options, upstream.url, stops) : undefined;
    const keys = ours?.keys ?? sameKey(options.key ?? 'bench');
    const targets: Target[] = [
      { name: 'direct', kind: 'direct', url: upstream.url, pid: upstream.pid, keys },
      { name: 'bare proxy', kind: 'floor', url: floor.url, pid: floor.pid, keys },
      { name: 'gateway', kind: 'gateway', url: ours?.gateway.url ?? options.url ?? '', pid: ours?.gateway.pid, keys },
      ...options.compare.map(({ name, url }) => ({
        ...{ name, url, kind: 'other' as const, keys: sameKey(options.compareKey), headers: options.compareHeaders },
        ...localProcess(url),
        ...(options.compareModel === undefined ? {} : { model: options.compareModel }),
      })),
    ];
    const others = targets.flatMap(({ kind, name, pid }) =>
      kind === 'other' && pid !== undefined ? [[name, pid]] : [],
    );
    const processes = {
      ...{ upstream: upstream.pid, 'bare proxy': floor.pid },
      ...ours?.processes,
      ...Object.fromEntries(others),
    };
    return { options, targets, gateway: ours?.gateway, stores: ours?.stores, processes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startOurs(options: BenchOptions, upstreamUrl: string, stops: (() => Promise<unknown>)[]) {
  const started = options.stores === 'real' ? await startRealStores(stops) : undefined;
  const dataDir = await mkdtemp(join(tmpdir(), 'llm0-bench-'));
  stops.push(() => rm(dataDir, { recursive: true, force: true }));
  const env: Record<string, string> = {
    OPENAI_API_KEY: 'bench',
    OPENAI_BASE_URL: `${upstreamUrl}/v1`,
    ANTHROPIC_API_KEY: 'bench',
    ANTHROPIC_BASE_URL: upstreamUrl,
    GEMINI_API_KEY: 'bench',
    GEMINI_BASE_URL: upstreamUrl,
    // Of each process: a hit is answered from its own memory.
    BACKEND_BENCH_URL: `${upstreamUrl}/infer/bench`,
    CACHE_BACKEND: process.env.BENCH_CACHE_BACKEND ?? 'memory',
    // For MCP servers, which run here as well.
    EGRESS_ALLOW: '127.0.0.1',
    ...(options.workers > 1 ? { GATEWAY_WORKERS: String(options.workers) } : {}),
    ...(started === undefined ? {} : { REDIS_URL: started.stores.redisUrl, DATABASE_URL: started.stores.databaseUrl }),
  };
  const running = await startGateway({ dataDir, env });
  stops.push(() => running.stop());
  const open = await createTestKey(running);
  const { url, pid, adminToken } = running;
  const gateway: StartedGateway = { url, pid, adminToken, dataDir, open, env };
  const keys = await createKeys(running, open.apiKey);
  return { gateway, keys, stores: started?.stores, processes: { gateway: pid, ...started?.processes } };
}

async function createKeys(gateway: GatewayProcess, open: string): Promise<Record<KeyName, string>> {
  const tight = await createTestKey(gateway, { key: { rate_limit_per_minute: 1 } });
  // Less than any request holds.
  const capped = await createTestKey(gateway, { project: { monthly_cap_usd: 0.000001 } });
  const semantic = await createTestKey(gateway, { project: { semantic_cache_enabled: true } });
  const uncached = await createTestKey(gateway, { project: { cache_enabled: false } });
  return { open, uncached: uncached.apiKey, tight: tight.apiKey, capped: capped.apiKey, semantic: semantic.apiKey };
}

/** Of another gateway on this machine: its CPU and memory are shown beside ours. */
function localProcess(url: string): { pid?: number } {
  const { hostname, port } = new URL(url);
  const pid = hostname === '127.0.0.1' ? findListener(Number(port)) : undefined;
  return pid === undefined ? {} : { pid };
}

const sameKey = (key: string): Record<KeyName, string> => ({
  open: key,
  uncached: key,
  tight: key,
  capped: key,
  semantic: key,
});

/** Starts a Bun script that prints `ready <port>`. */
export async function startScript(path: string, args: readonly string[], env: Record<string, string> = {}) {
  const child = Bun.spawn([process.execPath, '--no-env-file', join(import.meta.dir, path), ...args], {
    env: { ...process.env, ...RUNTIME_ENVIRONMENT, ...env },
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

/** As docs/operate/stores.md advises. */
const REDIS_SETTINGS = ['--appendfsync', 'everysec', '--auto-aof-rewrite-min-size', '512mb'];

/** Redis keeps its data (`appendonly`), as an operator's would. `stops` end it all. */
export async function startRealStores(stops: (() => Promise<unknown>)[]) {
  const redisDir = await mkdtemp(join(tmpdir(), 'llm0-bench-redis-'));
  stops.push(() => rm(redisDir, { recursive: true, force: true }));
  const redis = await startRedis({ dataDir: redisDir, args: REDIS_SETTINGS });
  stops.push(() => redis.stop());
  const postgres = await startPostgres();
  stops.push(() => postgres.stop());
  return {
    stores: { redisUrl: redis.url, databaseUrl: postgres.url },
    processes: { redis: redis.pid, postgres: postgres.pid },
  };
}

/** Waits until every settlement is a row; false when that takes longer. */
export async function waitForDrain(gateway: Pick<GatewayProcess, 'url' | 'adminToken'>, timeoutMs: number) {
  const endMs = performance.now() + timeoutMs;
  while (performance.now() < endMs) {
    const { queue_depth: depth } = await callAdmin<{ queue_depth: number }>(gateway, '/reconcile');
    if (depth === 0) return true;
    await Bun.sleep(200);
  }
  return false;
}
