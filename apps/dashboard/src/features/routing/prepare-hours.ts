import type { ProviderHealth } from '../../api/stats';
import { countOf, formatCount } from '../../format/format-number';

export const HOUR_MS = 3_600_000;
/** Hours of the providers' bars, the running one included. */
export const SPARK_HOURS = 24;

/** The hours up to now. */
export function sparkHours(nowMs: number): { readonly fromMs: number; readonly toMs: number } {
  const toMs = (Math.floor(nowMs / HOUR_MS) + 1) * HOUR_MS;
  return { fromMs: toMs - SPARK_HOURS * HOUR_MS, toMs };
}

export interface ProviderHours {
  /** Requests of each hour that the provider answered or failed. */
  readonly requests: readonly number[];
  readonly failed: readonly number[];
}

/** Hours of each provider, by name. */
export function prepareHours(buckets: readonly ProviderHealth[], fromMs: number): ReadonlyMap<string, ProviderHours> {
  const hours = new Map<string, { requests: number[]; failed: number[] }>();
  for (const { start, provider, answered, failed } of buckets) {
    const own = hours.getOrInsertComputed(provider, () => ({ requests: noHours(), failed: noHours() }));
    const index = Math.round((Date.parse(start) - fromMs) / HOUR_MS);
    if (index < 0 || index >= SPARK_HOURS) continue;
    own.requests[index] = answered + failed;
    own.failed[index] = failed;
  }
  return hours;
}

const noHours = () => Array.from({ length: SPARK_HOURS }, () => 0);

export const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** `1,200 requests in 24 hours, at most 90 in one, 3 failed`. */
export function describeHours({ requests, failed }: ProviderHours): string {
  const sum = sumOf(requests);
  if (sum === 0) return 'No requests in 24 hours';
  const most = formatCount(Math.max(...requests));
  return `${countOf(sum, 'request')} in 24 hours, at most ${most} in one, ${formatCount(sumOf(failed))} failed`;
}
