import type { LogQuery, LogTally } from '../../api/logs';
import type { ChartData } from '../../charts/prepare-series';
import { OUTCOME_LAYERS } from '../overview/prepare-health';

/** Filters of roll-ups, one value each. */
const ROLLED_UP = new Set(['project_id', 'api_key_id', 'provider', 'outcome', 'from', 'to']);

/** Roll-ups answer at once for any range; other filters count rows. */
export const isRolledUp = (query: LogQuery): boolean =>
  Object.entries(query).every(([name, value]) => ROLLED_UP.has(name) && typeof value === 'string');

/** What an empty list says; the range and the project are no filters. */
export const describeNone = (filter: LogQuery): { readonly title: string; readonly hint: string } =>
  Object.keys(filter).length > 0
    ? { title: 'No matching requests', hint: 'Choose a longer range, or remove a filter.' }
    : {
        title: 'No requests in this range',
        hint: 'Choose a longer range. Every authenticated request appears here within two seconds.',
      };

type Counted = Readonly<Record<string, number>>;

/** Requests by status and time; a bucket without counts (before `fromMs`) is a gap. */
function layersOf(times: readonly number[], countsOf: (time: number) => Counted | undefined, fromMs = 0): ChartData {
  const layers = OUTCOME_LAYERS.map((layer) => ({
    ...layer,
    values: times.map((time) => (time < fromMs ? null : (countsOf(time)?.[layer.name] ?? 0))),
  }));
  return { times, series: layers.filter(({ values }) => values.some((value) => value !== null && value > 0)) };
}

export function fromTally(times: readonly number[], { buckets, count }: LogTally): ChartData {
  const byTime = Map.groupBy(buckets, ({ start }) => Date.parse(start));
  const countsOf = (time: number) =>
    Object.fromEntries((byTime.get(time) ?? []).map(({ outcome, requests }) => [outcome, requests]));
  return layersOf(times, countsOf, count.from === null ? 0 : Date.parse(count.from));
}
