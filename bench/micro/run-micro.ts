// `bun bench/micro/run-micro.ts`: what the parts of a request cost that the profile shows.
import { measure } from 'mitata';
import { renderTable } from '../report/render-table';
import { median } from '../report/rows';
import { microCases } from './cases';
import { guardCases } from './guard-cases';
import { measureAllocations } from './measure-allocations';
import { measureBatches } from './measure-batches';
import { measureDrain } from './measure-drain';
import { measureLines } from './measure-lines';
import { measureScripts } from './measure-scripts';
import { tracingCases } from './tracing-cases';

const wanted = process.argv.slice(2);
const isWanted = (name: string) => wanted.length === 0 || wanted.some((part) => name.includes(part));

const NS_PER_US = 1000;
const show = (us: number) => us.toFixed(us < 10 ? 2 : 1);
/** The first column is text, all others are microseconds or milliseconds. */
const print = (head: readonly string[], lines: readonly (readonly [name: string, ...values: number[]])[]) =>
  console.log(
    `${renderTable(
      head,
      lines.map(([name, ...values]) => [name, ...values.map(show)]),
      head.slice(0, 1),
    )}\n`,
  );

const cases = [...microCases(), ...tracingCases(), ...guardCases()].filter(({ name }) => isWanted(name));
if (cases.length > 0) {
  const lines: [string, number, number][] = [];
  for (const { name, run } of cases) {
    const { min, p50 } = await measure(run);
    lines.push([name, min / NS_PER_US, p50 / NS_PER_US]);
  }
  print(['in the gateway', 'min µs', 'median µs'], lines);
}
if (isWanted('scripts')) {
  const lines = (await measureScripts()).map((one) => [one.name, one.minUs, one.medianUs, one.roundTripUs] as const);
  print(['in Redis', 'min µs', 'median µs', 'until the reply, µs'], lines);
}
if (isWanted('allocations')) {
  const lines = (await measureAllocations()).map((one) => [one.name, one.kilobytes, one.stopUs, one.mainUs] as const);
  print(['allocates in the pipeline', 'kB', 'stops for it, µs', 'main thread in all, µs'], lines);
}
if (isWanted('batches')) {
  const lines = (await measureBatches()).map(
    ({ store, batchMs, numberingMs }) => [store, batchMs, numberingMs, (100 * numberingMs) / batchMs] as const,
  );
  print(['a batch of the log, in', 'all, ms', 'its number (log_batches), ms', 'share, %'], lines);
}
if (isWanted('drain')) {
  const longest = ['longest stretch, ms', 'longest of half the batches, ms'];
  const lines = (await measureDrain()).map(
    ({ name, cpuUsPerRow, mainThreadUsPerRow, postgresUsPerRow, stretchMs }) =>
      [name, cpuUsPerRow, mainThreadUsPerRow, postgresUsPerRow, Math.max(...stretchMs), median(stretchMs)] as const,
  );
  print(['storing 1,000 log rows', 'CPU µs a row', 'of the main thread', 'of Postgres', ...longest], lines);
}
if (isWanted('lines')) {
  const { steps, bytesPerRow } = await measureLines();
  const lines = steps.map(
    ({ name, cpuUsPerRow, postgresUsPerRow, rowsPerSecond }) =>
      [name, cpuUsPerRow, postgresUsPerRow, rowsPerSecond] as const,
  );
  print(['with LOG_POSTGRES_DAYS=0', 'CPU µs a row', 'of Postgres', 'rows a second'], lines);
  console.log(`${show(bytesPerRow)} bytes a row in ClickHouse`);
}
process.exit(0);
