import { generateKeys } from '../generate/generate-keys';
import { withSql } from '../generate/open-sql';
import { load } from '../load/start-load';
import { type Row, throughputOf } from '../report/rows';
import type { BenchWorld } from '../start-bench';
import { rebuildCounters } from './rebuild-counters';
import { type Measurement, measureInTurn } from './run-scenario';
import { SCENARIOS } from './scenarios';
import { needRealStores, type SpecialOutcome } from './special';

const WARM_UP_CONNECTIONS = 50;

/** Misses of many keys and customers in turn, interleaved with those of one key and no customer. */
export async function measureManyKeys(world: BenchWorld): Promise<SpecialOutcome> {
  const { gateway, stores } = needRealStores(world, 'keys-100k');
  const { keys: count } = world.options;
  const startMs = performance.now();
  await withSql(stores.databaseUrl, (sql) => generateKeys(sql, gateway.open.projectId, count));
  const generatedMs = performance.now() - startMs;
  const rebuiltMs = await rebuildCounters(gateway, stores);
  const callers = { type: 'many', count, customers: true } as const;
  const first = await useEachOnce(gateway.url, callers);
  const rows: Row[] = [];
  for (const connections of world.options.connections) {
    const measured = await measureInTurn(world, measurementsOf(world, connections, callers));
    rows.push(...measured.map((row) => ({ ...row, scenario: 'keys-100k' })));
  }
  const notes = [
    `keys-100k: ${count.toLocaleString('en')} keys and customers made in ${(generatedMs / 1000).toFixed(1)} s, mirrored into ` +
      `Redis in ${(rebuiltMs / 1000).toFixed(1)} s; their first requests (each loads its key from Postgres) at ` +
      `${Math.round(first).toLocaleString('en')} req/s`,
    ...compare(rows, world.options.connections),
  ];
  return { rows, notes };
}

function measurementsOf(
  world: BenchWorld,
  connections: number,
  callers: NonNullable<Measurement['callers']>,
): readonly Measurement[] {
  const scenario = SCENARIOS.find(({ name }) => name === 'miss');
  const floor = world.targets.find(({ kind }) => kind === 'floor');
  const gateway = world.targets.find(({ kind }) => kind === 'gateway');
  if (scenario === undefined || floor === undefined || gateway === undefined) throw new Error('no target to measure');
  return [
    { scenario, target: floor, connections },
    { scenario, target: { ...gateway, name: 'gateway, one key' }, connections },
    { scenario, target: { ...gateway, name: 'gateway, all keys' }, connections, callers },
  ];
}

/** Requests per second while every key is seen for the first time. */
async function useEachOnce(url: string, callers: Extract<Measurement['callers'], { type: 'many' }>): Promise<number> {
  const result = await load({
    ...{ url, callers, connections: Math.min(WARM_UP_CONNECTIONS, callers.count), seconds: 0, amount: callers.count },
    requests: [{ model: 'gpt-4o-mini', stream: false, question: 'same' }],
    expectStatus: 200,
  });
  if (result.errors > 0) throw new Error(`not every key was taken: ${JSON.stringify(result.errorKinds)}`);
  return result.requestsPerSecond;
}

function compare(rows: readonly Row[], connections: readonly number[]): string[] {
  return connections.flatMap((count) => {
    const of = (target: string) => rows.find((row) => row.target === target && row.connections === count);
    const [one, all] = [of('gateway, one key'), of('gateway, all keys')];
    if (one === undefined || all === undefined) return [];
    const factor = throughputOf(one) / throughputOf(all);
    return [`keys-100k, ${count} connections: ${factor.toFixed(2)}× the time of one key (must be ≤ 1.3×, aim 1.1×)`];
  });
}
