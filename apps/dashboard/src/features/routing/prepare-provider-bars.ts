import type { ProviderHealth } from '../../api/stats';
import { type BarTimes, describeLength } from '../../charts/strip/prepare-strip';
import { countOf, formatCount } from '../../format/format-number';

export const HOUR_MS = 3_600_000;
/** As many as a cell of a table has room for. */
export const MOST_BARS = 24;

export interface ProviderBars {
  /** Requests of each stretch that the provider answered or failed. */
  readonly requests: readonly number[];
  readonly failed: readonly number[];
}

/** Bars of each provider, by name. */
export function prepareProviderBars(
  buckets: readonly ProviderHealth[],
  { startMs, intervalMs, count }: BarTimes,
): ReadonlyMap<string, ProviderBars> {
  const noBars = () => Array.from({ length: count }, () => 0);
  const bars = new Map<string, { requests: number[]; failed: number[] }>();
  for (const { start, provider, answered, failed } of buckets) {
    const own = bars.getOrInsertComputed(provider, () => ({ requests: noBars(), failed: noBars() }));
    const index = Math.round((Date.parse(start) - startMs) / intervalMs);
    if (index < 0 || index >= count) continue;
    own.requests[index] = answered + failed;
    own.failed[index] = failed;
  }
  return bars;
}

export const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** `1,200 requests, at most 90 in 1 hour, 3 failed`. */
export function describeBars({ requests, failed }: ProviderBars, intervalMs: number): string {
  const sum = sumOf(requests);
  if (sum === 0) return 'No requests';
  const most = `at most ${formatCount(Math.max(...requests))} in ${describeLength(intervalMs)}`;
  return `${countOf(sum, 'request')}, ${most}, ${formatCount(sumOf(failed))} failed`;
}
