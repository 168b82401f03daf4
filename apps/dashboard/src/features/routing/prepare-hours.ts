import type { ErrorBucket } from '../../api/stats';
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
  /** Requests of each hour that ended at the provider. */
  readonly requests: readonly number[];
  readonly errors: readonly number[];
}

/** Hours of each provider, by name. */
export function prepareHours(buckets: readonly ErrorBucket[], fromMs: number): ReadonlyMap<string, ProviderHours> {
  const hours = new Map<string, { requests: number[]; errors: number[] }>();
  for (const { start, group, requests, errors } of buckets) {
    const own = hours.get(group ?? '') ?? { requests: noHours(), errors: noHours() };
    hours.set(group ?? '', own);
    const index = Math.round((Date.parse(start) - fromMs) / HOUR_MS);
    if (index < 0 || index >= SPARK_HOURS) continue;
    own.requests[index] = requests;
    own.errors[index] = errors;
  }
  return hours;
}

const noHours = () => Array.from({ length: SPARK_HOURS }, () => 0);

export const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** `1,200 requests in 24 hours, at most 90 in one, 3 with errors`. */
export function describeHours({ requests, errors }: ProviderHours): string {
  const sum = sumOf(requests);
  if (sum === 0) return 'No requests in 24 hours';
  const most = formatCount(Math.max(...requests));
  return `${countOf(sum, 'request')} in 24 hours, at most ${most} in one, ${formatCount(sumOf(errors))} with errors`;
}
