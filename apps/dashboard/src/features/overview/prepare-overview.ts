import { GATEWAY_FAILURES } from '@llm0/core/errors/gateway-failures';
import { PROVIDER_FAILURES } from '@llm0/core/errors/provider-failures';
import type { ErrorBucket, Overview } from '../../api/stats';
import { countOf, formatCompact, formatMs, formatShare } from '../../format/format-number';
import { formatUsd } from '../../format/format-usd';
import { statsOf } from '../../ui/prepare-stat';
import type { Stat } from '../../ui/stat-card';
import { hitRate, shareOf } from '../cache/prepare-cache';

/** Failed requests that the caller has to mend: a mistyped model, an invalid body. */
interface CallerErrors {
  readonly now: number;
  readonly before: number;
}

const NO_CALLERS: CallerErrors = { now: 0, before: 0 };

/** The cards of the overview, each with the same number of the previous period. */
export function prepareStats(
  now: Overview | undefined,
  before: Overview | undefined,
  callers: CallerErrors = NO_CALLERS,
): Stat[] {
  const stat = statsOf(
    now && { ...now, callerErrors: callers.now },
    before && { ...before, callerErrors: callers.before },
  );
  const p50 = now && `p50 ${formatMs(now.latency_ms.p50)}`;
  const tokens = now && `${formatCompact(now.tokens_in)} in, ${formatCompact(now.tokens_out)} out`;
  return [
    stat({ label: 'Spend', pick: (o) => o.cost_usd, show: formatUsd }),
    stat({ label: 'Requests', pick: (o) => o.requests, show: formatCompact }),
    stat({
      label: 'Success',
      pick: (o) => shareOf(o.success, o.requests - o.callerErrors),
      show: (share) => formatShare(share, 2),
      isShare: true,
      better: 'more',
      detail: callers.now === 0 ? undefined : `without ${countOf(callers.now, 'caller error')}`,
    }),
    stat({ label: 'Tokens', pick: (o) => o.tokens_in + o.tokens_out, show: formatCompact, detail: tokens }),
    stat({ label: 'Latency p95', pick: (o) => o.latency_ms.p95, show: formatMs, better: 'less', detail: p50 }),
    stat({ label: 'Time to first token p95', pick: (o) => o.ttft_ms.p95, show: formatMs, better: 'less' }),
    stat({ label: 'Gateway overhead p95', pick: (o) => o.overhead_ms.p95, show: formatMs, better: 'less' }),
    stat({
      label: 'Cache hits',
      pick: hitRate,
      show: formatShare,
      isShare: true,
      better: 'more',
      detail: now && `${formatUsd(now.saved_usd)} saved`,
    }),
  ];
}

export type ErrorDomain = 'caller' | 'policy' | 'provider' | 'gateway';

export const DOMAIN_LABELS = {
  caller: 'Caller',
  policy: 'Limits',
  provider: 'Provider',
  gateway: 'Gateway',
} as const satisfies Record<ErrorDomain, string>;

const POLICY = new Set([
  'rate_limit_exceeded',
  'spend_cap_exceeded',
  'key_budget_exceeded',
  'label_budget_exceeded',
  'run_budget_exceeded',
  'run_stopped',
  'customer_spend_limit',
  'request_over_limit',
  'model_not_priced',
  'model_not_allowed',
  'key_expired',
  'project_inactive',
]);
const GATEWAY: ReadonlySet<string> = new Set(GATEWAY_FAILURES);
const PROVIDER: ReadonlySet<string> = new Set(PROVIDER_FAILURES);

/** Codes of failures that callers can't avoid. */
export const FAILURE_CODES: readonly string[] = [...PROVIDER_FAILURES, ...GATEWAY_FAILURES];

/** Fault of a failed or refused request, by its error code. */
export function domainOf(code: string): ErrorDomain {
  if (POLICY.has(code)) return 'policy';
  if (PROVIDER.has(code)) return 'provider';
  return GATEWAY.has(code) ? 'gateway' : 'caller';
}

export interface ErrorLine {
  readonly code: string;
  readonly domain: ErrorDomain;
  readonly requests: number;
}

/** Error codes of a range, the most frequent first. */
export function prepareErrors(buckets: readonly { group: string | null; requests: number }[]): readonly ErrorLine[] {
  return buckets
    .map(({ group, requests }) => ({ code: group ?? '', domain: domainOf(group ?? ''), requests }))
    .filter(({ code }) => code !== '')
    .sort((a, b) => b.requests - a.requests || (a.code < b.code ? -1 : 1));
}

/** Failures for which the caller is at fault. */
export const countCallerErrors = (buckets: readonly Pick<ErrorBucket, 'group' | 'errors'>[]): number =>
  buckets.reduce((sum, { group, errors }) => sum + (domainOf(group ?? '') === 'caller' ? errors : 0), 0);
