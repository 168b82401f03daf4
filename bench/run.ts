// `bun run bench [scenario…]`: starts stores, upstream, floor and gateway by itself, loads them in turn, prints a table.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { callAdmin, createTestKey, startGateway } from '@llm0/gateway/testing/start-gateway';
import { BACKLOG_HELP, measureBacklog } from './backlog';
import type { LoadResult } from './load';
import { cpuSeconds, memoryMib } from './process-stats';
import { type Machine, type Row, renderMarkdown } from './report';
import { SCENARIOS, type Scenario } from './scenarios/scenarios';
import { load, startRealStores, startScript } from './start-bench';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    duration: { type: 'string', default: '5' },
    connections: { type: 'string', default: '10' },
    trials: { type: 'string', default: '3' },
    stores: { type: 'string', default: 'real' },
    rows: { type: 'string', default: '1000000' },
    help: { type: 'boolean', default: false },
  },
});

const WARM_UP_SECONDS = 2;
const RESULTS = join(import.meta.dir, 'results/local');

interface Target {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  readonly keys: Readonly<Record<Scenario['key'], string>>;
}

/** One trial of one target: throughput, latencies, and the CPU its process used meanwhile. */
async function measure(scenario: Scenario, target: Target, connections: number) {
  const { stream, unique, model } = scenario;
  const isGateway = target.name === 'gateway';
  const expectStatus = isGateway ? scenario.expectStatus : 200;
  const seconds = Number(options.duration);
  const job = { url: target.url, apiKey: target.keys[scenario.key], connections, stream, unique, model, expectStatus };
  await load({ ...job, seconds: WARM_UP_SECONDS });
  const before = cpuSeconds(target.pid);
  const result = await load({ ...job, seconds });
  const cpuPer1000 = ((cpuSeconds(target.pid) - before) / Math.max(1, result.requests)) * 1000;
  return { result, cpuPer1000 };
}

async function runScenario(scenario: Scenario, targets: readonly Target[], connections: number): Promise<Row[]> {
  const trials = targets.map(() => ({ results: [] as LoadResult[], cpu: [] as number[] }));
  for (let trial = 0; trial < Number(options.trials); trial++) {
    for (const [index, target] of targets.entries()) {
      const { result, cpuPer1000 } = await measure(scenario, target, connections);
      trials[index]?.results.push(result);
      trials[index]?.cpu.push(cpuPer1000);
    }
  }
  return targets.map((target, index) => ({
    scenario: scenario.name,
    target: target.name,
    connections,
    trials: trials[index]?.results ?? [],
    cpuPer1000: trials[index]?.cpu ?? [],
    peakMib: memoryMib(target.pid).peak,
  }));
}

async function main(): Promise<void> {
  if (options.help) {
    console.log('bun run bench [scenario…] [--duration 5] [--connections 10,50] [--trials 3] [--stores real|embedded]');
    console.log(BACKLOG_HELP);
    console.log(SCENARIOS.map((one) => `  ${one.name.padEnd(8)} ${one.what}`).join('\n'));
    return;
  }
  const wanted = SCENARIOS.filter((one) => positionals.length === 0 || positionals.includes(one.name));
  const unknown = positionals.filter((name) => name !== 'backlog' && !SCENARIOS.some((one) => one.name === name));
  if (unknown.length > 0) throw new Error(`unknown scenario ${unknown.join(', ')}; --help lists them`);
  const stops: (() => Promise<unknown>)[] = [];
  const dataDir = await mkdtemp(join(tmpdir(), 'llm0-bench-'));
  try {
    const stores = options.stores === 'real' ? await startRealStores(stops) : undefined;
    const upstream = await startScript('../apps/gateway/testing/fake-upstream/main.ts', ['--port', '0']);
    stops.push(async () => upstream.child.kill());
    const floor = await startScript('bare-proxy.ts', [], { UPSTREAM_URL: `${upstream.url}/v1` });
    stops.push(async () => floor.child.kill());
    const gateway = await startGateway({
      dataDir,
      env: { OPENAI_API_KEY: 'bench', OPENAI_BASE_URL: `${upstream.url}/v1`, ...stores?.env },
    });
    stops.push(() => gateway.stop());
    const open = await createTestKey(gateway);
    const tight = await createTestKey(gateway, { key: { rate_limit_per_minute: 1 } });
    const keys = { open: open.apiKey, tight: tight.apiKey };
    const targets: Target[] = [
      { name: 'bare proxy', url: floor.url, pid: floor.pid, keys },
      { name: 'gateway', url: gateway.url, pid: gateway.pid, keys },
    ];
    if (positionals.includes('backlog')) {
      if (stores === undefined) throw new Error('backlog needs --stores real');
      const { projectId, keyId } = open;
      const job = { url: gateway.url, apiKey: open.apiKey, connections: Number(options.connections.split(',')[0]) };
      await measureBacklog({
        ...{ gateway, redisUrl: stores.redisUrl, projectId, keyId, rows: Number(options.rows) },
        job: {
          ...job,
          seconds: Number(options.duration),
          stream: false,
          unique: false,
          model: 'gpt-4o-mini',
          expectStatus: 200,
        },
      });
    }
    const rows: Row[] = [];
    if (wanted.length === 0) return;
    for (const connections of options.connections.split(',').map(Number)) {
      for (const scenario of wanted) rows.push(...(await runScenario(scenario, targets, connections)));
    }
    const reconciled = await callAdmin<{ ok: boolean }>(gateway, '/reconcile');
    await publish(rows);
    console.log(`ledger after the load: ${reconciled.ok ? 'even' : 'not even yet (queue still draining)'}`);
  } finally {
    for (const stop of stops.reverse()) await stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function publish(rows: readonly Row[]): Promise<void> {
  const machine: Machine = {
    cpu: cpus()[0]?.model ?? 'unknown CPU',
    cores: cpus().length,
    bun: Bun.version,
    stores: options.stores === 'real' ? 'Redis and Postgres on the same machine' : 'embedded stores',
    date: new Date().toISOString().slice(0, 10),
    command: `bun run bench ${process.argv.slice(2).join(' ')}`.trim(),
  };
  const markdown = renderMarkdown(rows, machine);
  await mkdir(RESULTS, { recursive: true });
  await Bun.write(join(RESULTS, 'latest.md'), markdown);
  await Bun.write(join(RESULTS, 'latest.json'), JSON.stringify({ machine, rows }, null, 1));
  console.log(markdown);
}

await main();
process.exit(0);
