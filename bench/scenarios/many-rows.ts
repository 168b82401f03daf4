import { generateCache } from '../generate/generate-cache';
import { generateRows } from '../generate/generate-rows';
import { withSql } from '../generate/open-sql';
import { showQueries, timeQueries } from '../generate/time-queries';
import { FLOOR, findRow, GATEWAY, type Row, throughputOf } from '../report/rows';
import type { BenchWorld } from '../start-bench';
import { measureBrowsing } from './browse';
import { rebuildCounters } from './rebuild-counters';
import { runScenario } from './run-scenario';
import { SCENARIOS } from './scenarios';
import { needRealStores, type SpecialOutcome } from './special';

const DAYS = 90;
const MEASURED = ['hit', 'miss'] as const;
const FEW = 'few rows';
const MANY = 'many rows';

/** The same load before and after the tables are filled; ratios to the floor of each half, as the two can't be interleaved. */
export async function measureManyRows(world: BenchWorld): Promise<SpecialOutcome> {
  const { gateway, stores } = needRealStores(world, 'rows-10m');
  const { rows: count, cacheRows } = world.options;
  const before = await measureBoth(world, FEW);
  const startMs = performance.now();
  await withSql(stores.databaseUrl, async (sql, database) => {
    const onDay = (done: number) => process.stderr.write(`\r${done.toLocaleString('en')} rows `);
    await generateRows(database, { rows: count, days: DAYS, nowMs: Date.now(), onDay });
    process.stderr.write('\n');
    await generateCache(sql, cacheRows, DAYS);
  });
  const generatedMs = performance.now() - startMs;
  const rebuiltMs = await rebuildCounters(gateway, stores);
  const after = await measureBoth(world, MANY);
  const queries = await timeQueries(gateway, Date.now());
  const browsing = await measureBrowsing(world);
  const rows = [...before, ...after];
  const notes = [
    `rows-10m: ${count.toLocaleString('en')} rows and ${cacheRows.toLocaleString('en')} cache entries over ${DAYS} days made in ` +
      `${(generatedMs / 1000).toFixed(0)} s; counters rebuilt from them in ${(rebuiltMs / 1000).toFixed(1)} s`,
    ...compare(rows, world.options.connections),
    ...browsing,
    ...showQueries(queries),
  ];
  return { rows, notes };
}

async function measureBoth(world: BenchWorld, label: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const connections of world.options.connections) {
    for (const scenario of SCENARIOS.filter(({ name }) => MEASURED.some((one) => one === name))) {
      const labelled = { ...scenario, name: `${scenario.name}, ${label}`, targets: ['floor', 'gateway'] as const };
      rows.push(...(await runScenario(world, labelled, connections)));
    }
  }
  return rows;
}

function compare(rows: readonly Row[], connections: readonly number[]): string[] {
  return MEASURED.flatMap((name) =>
    connections.flatMap((count) => {
      const ratio = (label: string) => {
        const own = rows.find(
          (row) => row.scenario.startsWith(`${name}, ${label}`) && row.target === GATEWAY && row.connections === count,
        );
        const floor = own && findRow(rows, own, { target: FLOOR });
        return own === undefined || floor === undefined ? Number.NaN : throughputOf(own) / throughputOf(floor);
      };
      const factor = ratio(FEW) / ratio(MANY);
      return [`rows-10m, ${name}, ${count} connections: ${factor.toFixed(2)}× the time with few rows (must be ≤ 1.2×)`];
    }),
  );
}
