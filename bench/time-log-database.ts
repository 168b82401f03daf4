// `bun bench/time-log-database.ts [rows]`: what ClickHouse takes for the questions of the log, over millions of rows in this
// process. BENCH_CHDB_DIR names a folder that keeps the rows.
import { migrateClickHouse } from '@llm0/drizzle/clickhouse/open-clickhouse';
import { askOfClient, EngineAwayError } from '@llm0/drizzle/queries/clickhouse/ask-clickhouse';
import { countFound, findInTime, findRow, findRows } from '@llm0/drizzle/queries/clickhouse/find-rows';
import { addLabelColumns } from '@llm0/drizzle/queries/clickhouse/label-columns';
import { askBins, askSums } from '@llm0/drizzle/queries/clickhouse/segment-rows';
import { storeLines } from '@llm0/drizzle/queries/clickhouse/store-lines';
import { SUM_COLUMNS } from '@llm0/drizzle/queries/stats/read/questions';
import { openChdb } from '@llm0/testing/clickhouse/open-chdb';
import { generateClickHouse } from './generate/generate-clickhouse';
import { renderTable } from './report/render-table';

const DAY_MS = 86_400_000;
const DAYS = 90;
const TIMES = 5;
const WRITTEN = 200_000;

const rows = Number(process.argv[2] ?? 10_000_000);
const nowMs = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const chdb = await openChdb(process.env.BENCH_CHDB_DIR);
const ask = askOfClient(async () => chdb);
const askHot = askOfClient(async () => chdb, ['team']);
// A limit of an earlier question holds on in this process.
const read = async <T>(query: string) =>
  (await chdb.query({ query, format: 'JSONEachRow', clickhouse_settings: { max_execution_time: 0 } })).json<T>();
const projectOf = (nth: number) => `00000000-0000-4000-8000-0000000000${nth.toString(16).padStart(2, '0')}`;

interface Took {
  readonly wallMs: number;
  /** Of all threads. */
  readonly cpuMs: number;
}

/** Shortest of several times; undefined where the limit of 3 s ends it. */
async function time(work: () => Promise<unknown>): Promise<Took | undefined> {
  const took: Took[] = [];
  for (let nth = 0; nth < TIMES; nth++) {
    const startMs = performance.now();
    const before = process.cpuUsage();
    const isDone = await work().then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof EngineAwayError)) throw error;
        return false;
      },
    );
    const { user, system } = process.cpuUsage(before);
    if (isDone) took.push({ wallMs: performance.now() - startMs, cpuMs: (user + system) / 1000 });
  }
  if (took.length === 0) return undefined;
  return { wallMs: Math.min(...took.map((one) => one.wallMs)), cpuMs: Math.min(...took.map((one) => one.cpuMs)) };
}

/** Rows a second, as the gateway sends them. */
async function timeWrites(): Promise<number> {
  const lines = await read<{ line: string }>(`select formatRow('JSONEachRow', * except (request_id, batch)) as line
    from gateway_logs limit ${WRITTEN}`);
  const texts = lines.map(({ line }) => line.trimEnd());
  const startMs = performance.now();
  for (let from = 0; from < WRITTEN; from += 10_000) {
    await storeLines(chdb, { afterSeq: rows + from, seq: rows + from + 1, lines: texts.slice(from, from + 10_000) });
  }
  return WRITTEN / ((performance.now() - startMs) / 1000);
}

await migrateClickHouse(chdb);
await addLabelColumns(chdb, ['team']);
const startMs = performance.now();
const [there] = await read<{ n: string }>('select toString(count()) as n from gateway_logs');
if (there?.n === '0') await generateClickHouse(chdb, { rows, days: DAYS, nowMs });
const generatedS = (performance.now() - startMs) / 1000;
const month = { source: 'rows', fromMs: nowMs - 30 * DAY_MS, toMs: nowMs } as const;
const [some] = await read<{ id: string }>(
  `select toString(id) as id from gateway_logs limit 1 offset ${Math.floor(rows / 2)}`,
);
const filter = { projectId: projectOf(1) };
const questions: Readonly<Record<string, () => Promise<unknown>>> = {
  'overview over 30 days': () => askSums(ask, month, { scope: {}, wanted: SUM_COLUMNS }),
  'newest 50 of a project': () =>
    findInTime(ask, { filter: { ...filter, toMs: nowMs }, sort: '-created_at', at: undefined, limit: 50 }),
  'one request by id': () => findRow(ask, some?.id ?? ''),
  'by label over 30 days': () =>
    askSums(ask, month, { scope: { groupBy: 'label.team' }, wanted: ['requests', 'cost_usd'] }),
  'by a hot label over 30 days': () =>
    askSums(askHot, month, { scope: { groupBy: 'label.team' }, wanted: ['requests', 'cost_usd'] }),
  'by label and day, all sums': () =>
    askSums(ask, month, { scope: { groupBy: 'label.team', intervalMs: DAY_MS }, wanted: SUM_COLUMNS }),
  'p99 by model over 30 days': () => askBins(ask, month, { scope: { groupBy: 'model' }, metric: 'latency' }),
  'dearest 50 over 30 days': () => findRows(ask, { filter: { ...month }, sort: '-cost_usd', at: undefined, limit: 50 }),
  'count of a text over 30 days': () => countFound(ask, { fromMs: month.fromMs, q: 'customer-77' }),
};
const QUESTION = `over ${rows} rows`;
const lines: string[][] = [];
for (const [name, question] of Object.entries(questions)) {
  const took = await time(question);
  lines.push([
    name,
    took === undefined ? '> 2800' : took.wallMs.toFixed(0),
    took === undefined ? '–' : took.cpuMs.toFixed(0),
  ]);
}
const [size] = await read<{ bytes: string; rows: string; parts: string }>(
  "select sum(bytes_on_disk) as bytes, sum(rows) as rows, count() as parts from system.parts where active and table = 'gateway_logs'",
);
lines.push(['bytes a row on disk', (Number(size?.bytes) / Number(size?.rows)).toFixed(1), '']);
lines.push(['parts', String(size?.parts), ''], ['seconds to generate', generatedS.toFixed(0), '']);
lines.push(['rows a second written', (await timeWrites()).toFixed(0), '']);
console.log(renderTable([QUESTION, 'ms', 'CPU ms'], lines, [QUESTION]));
await chdb.close();
