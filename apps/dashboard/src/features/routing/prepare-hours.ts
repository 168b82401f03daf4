import type { ProviderHealth } from '../../api/stats';
import { countOf, formatCount } from '../../format/format-number';

export const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The last 24 hours, exactly: *Overview* counts the same requests. */
export const lastDay = (toMs: number) => ({ fromMs: toMs - DAY_MS, toMs });

export interface ProviderHours {
  /** Requests of each clock hour, the first and the last one cut, that the provider answered or failed. */
  readonly requests: readonly number[];
  readonly failed: readonly number[];
}

/** Hours of each provider over `lastDay`, by name. */
export function prepareHours(buckets: readonly ProviderHealth[], fromMs: number): ReadonlyMap<string, ProviderHours> {
  const hours = new Map<string, { requests: number[]; failed: number[] }>();
  for (const { start, provider, answered, failed } of buckets) {
    const own = hours.getOrInsertComputed(provider, () => ({ requests: noHours(), failed: noHours() }));
    const index = Math.round((Date.parse(start) - Math.floor(fromMs / HOUR_MS) * HOUR_MS) / HOUR_MS);
    if (index < 0 || index >= BARS) continue;
    own.requests[index] = answered + failed;
    own.failed[index] = failed;
  }
  return hours;
}

const BARS = 25;
const noHours = () => Array.from({ length: BARS }, () => 0);

export const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** `1,200 requests in 24 hours, at most 90 in one, 3 failed`. */
export function describeHours({ requests, failed }: ProviderHours): string {
  const sum = sumOf(requests);
  if (sum === 0) return 'No requests in 24 hours';
  const most = formatCount(Math.max(...requests));
  return `${countOf(sum, 'request')} in 24 hours, at most ${most} in one, ${formatCount(sumOf(failed))} failed`;
}
