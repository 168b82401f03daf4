import type { LogQuery, LogTally } from '../../api/logs';
import type { ErrorBucket } from '../../api/stats';
import type { ChartData } from '../../charts/prepare-series';
import { MEANING } from '../../charts/series-colors';

const LAYERS = [
  ['success', 'Success'],
  ['rate_limited', 'Rate limited'],
  ['cap_exceeded', 'Over a cap'],
  ['aborted', 'Aborted'],
  ['error', 'Failed'],
] as const;

/** Filters of roll-ups, one value each. */
const ROLLED_UP = new Set(['project_id', 'api_key_id', 'provider', 'status', 'from', 'to']);

/** Roll-ups answer at once for any range; other filters count rows. */
export const isRolledUp = (query: LogQuery): boolean =>
  Object.entries(query).every(([name, value]) => ROLLED_UP.has(name) && typeof value === 'string');

type Counted = Readonly<Record<string, number>>;

/** Requests by status and time; a bucket without counts (before `fromMs`) is a gap. */
function layersOf(times: readonly number[], countsOf: (time: number) => Counted | undefined, fromMs = 0): ChartData {
  const layers = LAYERS.map(([name, label]) => ({
    ...{ name, label, color: MEANING[name] },
    values: times.map((time) => (time < fromMs ? null : (countsOf(time)?.[name] ?? 0))),
  }));
  return { times, series: layers.filter(({ values }) => values.some((value) => value !== null && value > 0)) };
}

export function fromRollups(times: readonly number[], buckets: readonly ErrorBucket[]): ChartData {
  const byTime = new Map(
    buckets.map(({ start, errors, ...bucket }) => [Date.parse(start), { ...bucket, error: errors }]),
  );
  return layersOf(times, (time) => {
    const bucket = byTime.get(time);
    if (bucket === undefined) return undefined;
    const { success, rate_limited, cap_exceeded, aborted, error } = bucket;
    return { success, rate_limited, cap_exceeded, aborted, error };
  });
}

export function fromTally(times: readonly number[], { buckets, count }: LogTally): ChartData {
  const byTime = Map.groupBy(buckets, ({ start }) => Date.parse(start));
  const countsOf = (time: number) =>
    Object.fromEntries((byTime.get(time) ?? []).map(({ status, requests }) => [status, requests]));
  return layersOf(times, countsOf, count.from === null ? 0 : Date.parse(count.from));
}
