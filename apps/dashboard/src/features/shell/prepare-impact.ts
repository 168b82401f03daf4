import { failureRate } from '@llm0/core/errors/outcome';
import type { ErrorBucket } from '../../api/stats';
import { formatClock, type TimeZoneChoice } from '../../format/format-time';

/** Failures of the last minutes for which callers aren't at fault. */
export interface Impact {
  readonly failed: number;
  /** Among answers and failures from `sinceMs` to `endMs`. */
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
const MOST_PROVIDERS = 3;

/** Null without a failure. */
export function prepareImpact({ all, byCode, nowMs }: Outcomes): Impact | null {
  const failures = byCode.filter(({ failures }) => failures > 0);
  if (failures.length === 0) return null;
  const starts = failures.map(({ start }) => Date.parse(start));
  const [sinceMs, lastMs] = [Math.min(...starts), Math.max(...starts) + MINUTE_MS];
  const endMs = nowMs - lastMs >= QUIET_MS ? lastMs : null;
  const meanwhile = all.filter(
    ({ start }) => Date.parse(start) >= sinceMs && Date.parse(start) < (endMs ?? Number.POSITIVE_INFINITY),
  );
  const failed = sumOf(failures, ({ failures }) => failures);
  const codes = [...Map.groupBy(failures, ({ group }) => group ?? '')].map(([code, own]) => ({
    code,
    failed: sumOf(own, ({ failures }) => failures),
  }));
  return {
    failed,
    share: failureRate({ success: sumOf(meanwhile, ({ success }) => success), failures: failed }) ?? 1,
    ...{ sinceMs, endMs },
    codes: codes.sort((a, b) => b.failed - a.failed || (a.code < b.code ? -1 : 1)),
  };
}

/** Providers with failures, most first. */
export const failingProviders = (buckets: readonly ErrorBucket[]) =>
  buckets
    .map(({ group, failures }) => ({ provider: group ?? '', failed: failures }))
    .filter(({ provider, failed }) => provider !== '' && failed > 0)
    .sort((a, b) => b.failed - a.failed || (a.provider < b.provider ? -1 : 1))
    .slice(0, MOST_PROVIDERS);

const sumOf = (buckets: readonly ErrorBucket[], of: (bucket: ErrorBucket) => number) =>
  buckets.reduce((sum, bucket) => sum + of(bucket), 0);

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
