// `bun bench/micro/run-micro.ts`: what the parts of a request cost that the profile shows.
import { renderTable } from '../report/render-table';
import { median } from '../report/rows';
import { microCases } from './cases';
import { lastResult, MICRO_OPTIONS, measureMicro } from './measure';
import { measureDrain } from './measure-drain';
import { measureScripts } from './measure-scripts';

const wanted = process.argv.slice(2);
const isWanted = (name: string) => wanted.length === 0 || wanted.some((part) => name.includes(part));

const results = microCases()
  .filter(({ name }) => isWanted(name))
  .map((one) => measureMicro(one, MICRO_OPTIONS));
if (lastResult() === undefined && results.length > 0) throw new Error('a measured call returned nothing');
const show = (us: number) => us.toFixed(us < 10 ? 2 : 1);
if (results.length > 0) {
  const lines = results.map(({ name, minUs, medianUs }) => [name, show(minUs), show(medianUs)]);
  console.log(`${renderTable(['in the gateway', 'min µs', 'median µs'], lines, ['in the gateway'])}\n`);
}
if (isWanted('scripts')) {
  const lines = (await measureScripts()).map(({ name, minUs, medianUs, roundTripUs }) => [
    name,
    show(minUs),
    show(medianUs),
    show(roundTripUs),
  ]);
  const head = ['in Redis', 'min µs', 'median µs', 'until the reply, µs'];
  console.log(renderTable(head, lines, ['in Redis']));
}
if (isWanted('drain')) {
  const { cpuUsPerRow, postgresUsPerRow, stretchMs } = await measureDrain();
  const head = [
    'storing 1,000 log rows',
    'CPU µs a row',
    'of Postgres, µs',
    'longest stretch, ms',
    'longest of half the batches, ms',
  ];
  const line = [
    'in the gateway',
    show(cpuUsPerRow),
    show(postgresUsPerRow),
    show(Math.max(...stretchMs)),
    show(median(stretchMs)),
  ];
  console.log(`\n${renderTable(head, [line], ['storing 1,000 log rows'])}`);
}
process.exit(0);
