import { createTestKey, startGateway } from '@llm0/testing/stores/start-gateway';
import { cpuPer1000, endMibOf, latencyOf, peakMibOf, type Row, throughputOf } from '../report/rows';
import { type BenchWorld, startRealStores, startScript, type Target } from '../start-bench';
import { measureInTurn } from './run-scenario';
import { SCENARIOS } from './scenarios';
import { needRealStores, type SpecialOutcome } from './special';

const RATE = 2_000;
const OFF = 'tracing off';
const ON = 'tracing on';

/** Misses of two gateways in turn, each on stores of its own, one of which sends every span to a collector. */
export async function measureTracing(world: BenchWorld): Promise<SpecialOutcome> {
  const { gateway } = needRealStores(world, 'tracing');
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const collector = await startScript('collector.ts', []);
    stops.push(async () => collector.child.kill());
    const { stores, processes } = await startRealStores(stops);
    const { redisUrl: REDIS_URL, databaseUrl: DATABASE_URL } = stores;
    const env = { ...gateway.env, REDIS_URL, DATABASE_URL, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const traced = await startGateway({ env });
    stops.push(() => traced.stop());
    const { apiKey } = await createTestKey(traced);
    const off = world.targets.find(({ kind }) => kind === 'gateway');
    if (off === undefined) throw new Error('no gateway to measure');
    const { url, pid } = traced;
    const on: Target = { ...off, name: ON, kind: 'other', url, pid, keys: { ...off.keys, open: apiKey } };
    const all = {
      ...world.processes,
      [ON]: pid,
      'traced redis': processes.redis,
      'traced postgres': processes.postgres,
    };
    return await measure({ ...world, processes: { ...all, collector: collector.pid } }, [{ ...off, name: OFF }, on]);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function measure(world: BenchWorld, targets: readonly Target[]): Promise<SpecialOutcome> {
  const miss = SCENARIOS.find(({ name }) => name === 'miss');
  if (miss === undefined) throw new Error('no misses to measure');
  const connections = world.options.connections[0] ?? 10;
  const rate = world.options.rate ?? RATE;
  const paced = { ...miss, name: 'tracing', steps: [{ label: `at ${rate.toLocaleString('en')}`, rate }] };
  const atRate = await measureInTurn(
    world,
    targets.map((target) => ({ scenario: paced, target, connections })),
  );
  const unpaced = { ...world, options: { ...world.options, rate: undefined } };
  const flatOut = await measureInTurn(
    unpaced,
    targets.map((target) => ({ scenario: { ...miss, name: 'tracing, as fast as it goes' }, target, connections })),
  );
  return { rows: [...atRate, ...flatOut], notes: [describe(atRate), describe(flatOut)] };
}

function describe([off, on]: readonly Row[]): string {
  if (off === undefined || on === undefined) throw new Error('a gateway was not measured');
  const both = (what: (row: Row) => number, digits = 0) => `${what(off).toFixed(digits)} → ${what(on).toFixed(digits)}`;
  const cpu = ({ process = '', ...row }: Row) => cpuPer1000({ process, ...row }, process) * 1000;
  const mib = `peak ${both(peakMibOf)}, end ${both(endMibOf)} MiB (must be ≤ +40 MB)`;
  return [
    `${off.scenario}: ${(throughputOf(on) / throughputOf(off)).toFixed(3)}× of off (must be ≥ 0.93×)`,
    `${both(throughputOf)} req/s, p50 ${both((row) => latencyOf(row, 'p50'), 2)} ms`,
    `p99 ${both((row) => latencyOf(row, 'p99'), 1)} ms`,
    `CPU of the gateway ${both(cpu)} µs a request, memory ${mib}`,
  ].join(', ');
}
