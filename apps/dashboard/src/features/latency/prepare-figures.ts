import { describeBounds } from '../../charts/durations/prepare-distribution';
import type { HeatMap, Percentiles } from '../../charts/durations/prepare-heat-map';
import { describeTime } from '../../charts/strip/prepare-strip';
import { formatCount, formatEstimate, NOTHING } from '../../format/format-number';
import type { TimeZoneChoice } from '../../format/format-time';

export const HEADS = ['Time', 'Requests', 'Most frequent', 'p50', 'p95', 'p99'];

interface Given {
  readonly map: HeatMap;
  readonly percentiles: readonly Percentiles[];
  readonly timeZone: TimeZoneChoice;
}

/** Columns of a heat map with requests, in figures. */
export function figuresOf({ map, percentiles, timeZone }: Given) {
  const { times, intervalMs, bins, columns } = map;
  return times.flatMap((startMs, column) => {
    const counts = columns[column] ?? [];
    const requests = counts.reduce((sum, count) => sum + count, 0);
    if (requests === 0) return [];
    const bin = bins[counts.indexOf(Math.max(...counts))];
    const { p50, p95, p99 } = percentiles[column]?.values ?? { p50: null, p95: null, p99: null };
    const cells = [
      describeTime({ startMs }, { intervalMs, timeZone }),
      formatCount(requests),
      bin === undefined ? NOTHING : describeBounds(bin),
      ...[p50, p95, p99].map(formatEstimate),
    ];
    return [{ key: String(startMs), cells }];
  });
}
