import type { ErrorBucket } from '../../api/stats';
import { formatClock, type TimeZoneChoice } from '../../format/format-time';
import { domainOf } from '../overview/prepare-overview';

/** Failures of the last minutes for which callers aren't at fault. */
export interface Impact {
  readonly failed: number;
  /** Of the requests from `sinceMs` to `endMs`, without caller errors. */
  readonly share: number;
  /** Start of the first minute with a failure, epoch milliseconds. */
  readonly sinceMs: number;
  /** End of the last minute with a failure; null while requests still fail. */
  readonly endMs: number | null;
  /** Most frequent first. */
  readonly codes: readonly { readonly code: string; readonly failed: number }[];
}

interface Outcomes {
  /** Buckets of one minute, with all requests. */
  readonly all: readonly ErrorBucket[];
  /** The same for each error code; without requests that have none. */
  readonly byCode: readonly ErrorBucket[];
  readonly nowMs: number;
}

const MINUTE_MS = 60_000;
/** After this time without a failure, an incident is over. */
const QUIET_MS = 2 * MINUTE_MS;
const MOST_MODELS = 3;

/** Null without a failure. */
export function prepareImpact({ all, byCode, nowMs }: Outcomes): Impact | null {
  const isFailure = ({ group, errors }: ErrorBucket) =>
    errors > 0 && ['provider', 'gateway'].includes(domainOf(group ?? ''));
  const failures = byCode.filter(isFailure);
  if (failures.length === 0) return null;
  const starts = failures.map(({ start }) => Date.parse(start));
  const [sinceMs, lastMs] = [Math.min(...starts), Math.max(...starts) + MINUTE_MS];
  const endMs = nowMs - lastMs >= QUIET_MS ? lastMs : null;
  const isMeanwhile = ({ start }: ErrorBucket) =>
    Date.parse(start) >= sinceMs && Date.parse(start) < (endMs ?? Number.POSITIVE_INFINITY);
  const sum = (some: readonly ErrorBucket[]) => some.reduce((total, { errors }) => total + errors, 0);
  const asked = all.filter(isMeanwhile).reduce((total, { requests }) => total + requests, 0);
  const failed = sum(failures);
  const callers = sum(byCode.filter((bucket) => isMeanwhile(bucket) && bucket.errors > 0 && !isFailure(bucket)));
  const codes = [...Map.groupBy(failures, ({ group }) => group ?? '')].map(([code, own]) => ({
    code,
    failed: sum(own),
  }));
  return {
    failed,
    share: failed / Math.max(failed, asked - callers),
    ...{ sinceMs, endMs },
    codes: codes.sort((a, b) => b.failed - a.failed || (a.code < b.code ? -1 : 1)),
  };
}

interface Pause {
  readonly models: readonly string[];
  readonly since: string;
  readonly retry_at: string;
  readonly is_drained: boolean;
}

/** Why the gateway doesn't ask a provider, since when, and its next try. */
export function describePause(pause: Pause, at: { readonly nowMs: number; readonly timeZone: TimeZoneChoice }): string {
  // A drained provider stays away whatever its breaker does.
  if (pause.is_drained) return 'drained by operator';
  const { models, since, retry_at: retryAt } = pause;
  const more = models.length > MOST_MODELS ? ` and ${models.length - MOST_MODELS} more` : '';
  const seconds = Math.ceil((Date.parse(retryAt) - at.nowMs) / 1000);
  const retry = seconds > 0 ? `retries in ${seconds} s` : 'retries with the next request';
  const clock = `${formatClock(Date.parse(since), at.timeZone)}${at.timeZone === 'utc' ? ' UTC' : ''}`;
  return `paused since ${clock} (${models.slice(0, MOST_MODELS).join(', ')}${more}), ${retry}`;
}
