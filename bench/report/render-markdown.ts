import type { Machine } from '../machine/describe-machine';
import { judgeGoals } from './goals';
import { renderTable, show } from './render-table';
import {
  answeredPercent,
  cpuPer1000,
  DIRECT,
  endMibOf,
  errorsOf,
  FLOOR,
  findRow,
  latencyOf,
  mainThreadMicros,
  peakMibOf,
  type Row,
  ratioTo,
  throughputOf,
  ttfbOf,
} from './rows';

/** Everything a run found, as it goes into a README. */
export interface Report {
  readonly machine: Machine;
  readonly rows: readonly Row[];
  /** Lines of scenarios that measure something else than load. */
  readonly notes: readonly string[];
}

export function renderMarkdown({ machine, rows, notes }: Report): string {
  const timed = rows.filter((row) => row.rate !== undefined && findRow(rows, row, { target: DIRECT }) !== undefined);
  const parts = [
    describe(machine),
    ...section([], rows, loadTable),
    ...section(['What it must reach:'], judgeGoals(rows), goalTable),
    ...section(['At a fixed rate, over the upstream itself:'], timed, (some) => addedTable(some, rows)),
    ...section(['CPU seconds per 1,000 requests of each process:'], processNames(rows), (names) =>
      cpuTable(rows, names),
    ),
    ...section(
      [SERVER_TITLE],
      rows.filter(({ server }) => server !== undefined),
      serverTable,
    ),
    ...section(['Errors:'], rows.filter((row) => errorsOf(row) > 0).map(describeErrors), listOf),
    ...section([], notes, listOf),
  ];
  return `${parts.join('\n\n')}\n`;
}

const SERVER_TITLE = 'What the gateway measured itself (`gateway_logs`), milliseconds:';

/** Left out where there is nothing to show. */
const section = <T>(title: readonly string[], items: readonly T[], render: (items: readonly T[]) => string) =>
  items.length === 0 ? [] : [...title, render(items)];

const listOf = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n');

function describe(machine: Machine): string {
  const { cpu, cores, memoryGib, system, bun, servers, stores, commit, date, command } = machine;
  const versions = Object.entries({ Bun: bun, ...servers }).map(([name, version]) => `${name} ${version}`);
  const at = commit === '' ? '' : ` at ${commit}`;
  return (
    `${cpu}, ${cores} cores shared by client, upstream, stores and gateway, ${memoryGib} GiB, ${system}; ` +
    `${versions.join(', ')}; ${stores}; ${date}${at}. Made by \`${command}\`.`
  );
}

const HEAD = ['scenario', 'connections', 'target', 'req/s', 'vs floor', 'p50 ms', 'p90', 'p95', 'p99', 'p99.9'];
const HEAD_END = ['TTFB p50', 'TTFB p99', 'CPU-s per 1,000', 'main thread µs', 'peak MiB', 'end MiB', 'errors'];

function loadTable(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const ratio = ratioTo(row, row.rate === undefined ? findRow(rows, row, { target: FLOOR }) : undefined);
    return [
      row.scenario,
      row.rate === undefined ? String(row.connections) : 'as needed',
      row.target,
      Math.round(throughputOf(row)).toLocaleString('en'),
      ratio === null ? '' : `${ratio.toFixed(2)}×`,
      ...(['p50', 'p90', 'p95', 'p99', 'p999'] as const).map((name) => show(latencyOf(row, name))),
      show(ttfbOf(row, 'p50')),
      show(ttfbOf(row, 'p99')),
      show(row.process === undefined ? Number.NaN : cpuPer1000(row, row.process), 3),
      show(mainThreadMicros(row), 0),
      show(peakMibOf(row), 0),
      show(endMibOf(row), 0),
      String(errorsOf(row)),
    ];
  });
  return renderTable([...HEAD, ...HEAD_END], lines, ['scenario', 'target']);
}

/** What everybody but the upstream itself adds to its latency. */
function addedTable(timed: readonly Row[], rows: readonly Row[]): string {
  const lines = timed
    .filter(({ target }) => target !== DIRECT)
    .map((row) => {
      const direct = findRow(rows, row, { target: DIRECT });
      const added = (name: 'p50' | 'p90' | 'p99') =>
        show(latencyOf(row, name) - (direct === undefined ? Number.NaN : latencyOf(direct, name)));
      return [row.scenario, row.target, added('p50'), added('p90'), added('p99'), show(answeredPercent(row))];
    });
  const head = ['scenario', 'target', 'added p50 ms', 'added p90', 'added p99', 'answered %'];
  return renderTable(head, lines, ['scenario', 'target']);
}

function goalTable(goals: ReturnType<typeof judgeGoals>): string {
  const lines = goals.map(({ scenario, what, value, must, aim, isMet }) => [
    scenario,
    what,
    value,
    must,
    aim,
    isMet ? 'yes' : '**no**',
  ]);
  const head = ['scenario', 'what', 'measured', 'must', 'aim', 'reached'];
  return renderTable(
    head,
    lines,
    head.filter((name) => name !== 'measured'),
  );
}

function processNames(rows: readonly Row[]): readonly string[] {
  const first = rows.flatMap(({ trials }) => trials)[0];
  return Object.keys(first?.cpuSeconds ?? {});
}

function cpuTable(rows: readonly Row[], processes: readonly string[]): string {
  const lines = rows.map((row) => [
    row.scenario,
    String(row.connections),
    row.target,
    ...processes.map((name) => show(cpuPer1000(row, name), 3)),
  ]);
  return renderTable(['scenario', 'connections', 'target', ...processes], lines, ['scenario', 'target']);
}

function serverTable(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const { server } = row;
    const cells = (['latency', 'overhead', 'upstream'] as const).flatMap((metric) =>
      (['p50', 'p95', 'p99'] as const).map((name) => show(server?.[metric][name] ?? Number.NaN)),
    );
    const client = (['p50', 'p95', 'p99'] as const).map((name) => show(latencyOf(row, name)));
    const { requests = 0, exactHits = 0, semanticHits = 0 } = server ?? {};
    const share = (hits: number) => show((100 * hits) / requests, 0);
    const counts = [requests.toLocaleString('en'), share(exactHits), share(semanticHits)];
    return [row.scenario, String(row.connections), ...counts, ...client, ...cells];
  });
  const columns = ['client', 'latency', 'overhead', 'upstream'].flatMap((name) =>
    ['p50', 'p95', 'p99'].map((percentile) => `${name} ${percentile}`),
  );
  return renderTable(['scenario', 'connections', 'rows', 'exact hits %', 'semantic %', ...columns], lines, [
    'scenario',
  ]);
}

function describeErrors(row: Row): string {
  const kinds: Record<string, number> = {};
  for (const { load } of row.trials) {
    for (const [kind, count] of Object.entries(load.errorKinds)) kinds[kind] = (kinds[kind] ?? 0) + count;
  }
  const listed = Object.entries(kinds).map(([kind, count]) => `${kind}: ${count}`);
  return `${row.scenario}, ${row.target}, ${row.connections} connections: ${listed.join(', ')}`;
}
