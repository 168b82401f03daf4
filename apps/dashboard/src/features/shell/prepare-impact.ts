import type { ErrorBucket } from '../../api/stats';
import { domainOf } from '../overview/prepare-overview';

/** Failures of the last minutes for which callers aren't at fault. */
export interface Impact {
  readonly failed: number;
  /** Of all requests without caller errors. */
  readonly share: number;
  /** Start of the first minute with a failure, epoch milliseconds. */
  readonly sinceMs: number;
  /** Most frequent first. */
  readonly codes: readonly { readonly code: string; readonly failed: number }[];
}

interface Outcomes {
  /** Buckets of one minute, with all requests. */
  readonly all: readonly ErrorBucket[];
  /** The same for each error code; without requests that have none. */
  readonly byCode: readonly ErrorBucket[];
}

/** Null without a failure. */
export function prepareImpact({ all, byCode }: Outcomes): Impact | null {
  const isFailure = ({ group, errors }: ErrorBucket) =>
    errors > 0 && ['provider', 'gateway'].includes(domainOf(group ?? ''));
  const failures = byCode.filter(isFailure);
  if (failures.length === 0) return null;
  const sum = (some: readonly ErrorBucket[]) => some.reduce((total, { errors }) => total + errors, 0);
  const asked = all.reduce((total, { requests }) => total + requests, 0);
  const failed = sum(failures);
  const callers = sum(byCode.filter((bucket) => bucket.errors > 0 && !isFailure(bucket)));
  const codes = [...Map.groupBy(failures, ({ group }) => group ?? '')].map(([code, own]) => ({
    code,
    failed: sum(own),
  }));
  return {
    failed,
    share: failed / Math.max(failed, asked - callers),
    sinceMs: Math.min(...failures.map(({ start }) => Date.parse(start))),
    codes: codes.sort((a, b) => b.failed - a.failed || (a.code < b.code ? -1 : 1)),
  };
}

/** A paused provider's next try. */
export function describeRetry(retryAt: string, nowMs: number): string {
  const seconds = Math.ceil((Date.parse(retryAt) - nowMs) / 1000);
  return seconds > 0 ? `retries in ${seconds} s` : 'retries now';
}
