import { connectDatabase } from '@llm0/drizzle/client';
import { loadBuckets, loadHistogram, loadOverview } from '@llm0/drizzle/queries/stats';

const { url } = await Bun.file('/tmp/r10-pg.json').json();
const d = connectDatabase({ url }, { maxConnections: 4 });
const H = 3_600_000,
  D = 24 * H,
  M = 60_000;
const [last] = await d.client`select extract(epoch from max(created_at))*1000 as ms from gateway_logs`;
const nowMs = Number(last!.ms);
const ranges: [string, number, number][] = [
  ['1h', H, M],
  ['6h', 6 * H, 5 * M],
  ['24h', D, 15 * M],
  ['7d', 7 * D, 3 * H],
  ['14d', 14 * D, 6 * H],
  ['30d', 30 * D, 12 * H],
  ['90d', 90 * D, D],
];
const only = process.argv[2];
const jobs: [string, (f: number, t: number, i: number) => Promise<unknown>][] = [
  ['overview', (fromMs, toMs) => loadOverview(d.db, { fromMs, toMs, nowMs })],
  ['histogram', (fromMs, toMs) => loadHistogram(d.db, { fromMs, toMs, nowMs }, 'latency')],
  ...([undefined, 'model', 'project', 'key', 'customer'] as const).flatMap(
    (groupBy) =>
      [
        [
          `spend ${groupBy}`,
          (fromMs: number, toMs: number, i: number) =>
            loadBuckets(d.db, {
              fromMs,
              toMs,
              nowMs,
              intervalMs: groupBy === 'customer' ? Math.max(i, toMs - fromMs > 7 * D ? D : i) : i,
              groupBy,
              top: groupBy && 10,
              withDurations: false,
              onlySums: true,
            }),
        ],
        [
          `spend ${groupBy} all`,
          (fromMs: number, toMs: number) =>
            loadBuckets(d.db, {
              fromMs,
              toMs,
              nowMs,
              groupBy,
              top: groupBy && 100,
              withDurations: false,
              onlySums: true,
            }),
        ],
      ] as [string, any][],
  ),
  ...([undefined, 'model', 'provider', 'project', 'key'] as const).map(
    (groupBy) =>
      [
        `latency ${groupBy}`,
        (fromMs: number, toMs: number, i: number) =>
          loadBuckets(d.db, { fromMs, toMs, nowMs, intervalMs: i, groupBy, top: groupBy && 10, withDurations: true }),
      ] as [string, any],
  ),
  ['cache', (fromMs, toMs, i) => loadBuckets(d.db, { fromMs, toMs, nowMs, intervalMs: i, withDurations: false })],
  [
    'errors code',
    (fromMs, toMs, i) => loadBuckets(d.db, { fromMs, toMs, nowMs, groupBy: 'error_code', withDurations: false }),
  ],
];
for (const [name, run] of jobs) {
  if (only && !name.startsWith(only)) continue;
  const out: string[] = [];
  for (const [label, len, i] of ranges) {
    const step = Math.min(i, M);
    const toMs = Math.ceil(nowMs / step) * step;
    const took: number[] = [];
    for (let k = 0; k < 3; k++) {
      const t = performance.now();
      await run(toMs - len, toMs, i);
      took.push(performance.now() - t);
    }
    const min = Math.min(...took);
    out.push(`${label} ${min.toFixed(0)}${min > 300 ? '!' : ''}`);
  }
  console.log(name.padEnd(20), out.join('  '));
}
await d.close();
