import type { Budget, Overview } from '../../api/stats';
import { formatCompact, formatMs, formatShare, NOTHING } from '../../format/format-number';
import { formatUsd } from '../../format/format-usd';
import type { Stat } from '../../ui/stat-card';

const shareOf = (part: number, whole: number) => (whole === 0 ? null : part / whole);

/** The cards of the overview, each with the same number of the previous period. */
export function prepareStats(now: Overview | undefined, before: Overview | undefined): Stat[] {
  const of = <T>(pick: (overview: Overview) => T) => ({
    now: now === undefined ? null : pick(now),
    before: before === undefined ? null : pick(before),
  });
  const spend = of((o) => o.cost_usd);
  const requests = of((o) => o.requests);
  const success = of((o) => shareOf(o.success, o.requests));
  const tokens = of((o) => o.tokens_in + o.tokens_out);
  const p50 = of((o) => o.latency_ms.p50);
  const p95 = of((o) => o.latency_ms.p95);
  const ttft = of((o) => o.ttft_ms.p95);
  const overhead = of((o) => o.overhead_ms.p95);
  const hits = of((o) => shareOf(o.cache_hits + o.semantic_hits, o.requests));
  const ms = (value: number | null) => formatMs(value);
  return [
    { label: 'Spend', value: spend.now === null ? NOTHING : formatUsd(spend.now), ...spend },
    { label: 'Requests', value: requests.now === null ? NOTHING : formatCompact(requests.now), ...requests },
    { label: 'Success', value: formatShare(success.now, 2), ...success, better: 'more' },
    {
      label: 'Tokens',
      value: tokens.now === null ? NOTHING : formatCompact(tokens.now),
      ...tokens,
      detail: now && `${formatCompact(now.tokens_in)} in, ${formatCompact(now.tokens_out)} out`,
    },
    { label: 'Latency p95', value: ms(p95.now), ...p95, better: 'less', detail: now && `p50 ${ms(p50.now)}` },
    { label: 'Time to first token p95', value: ms(ttft.now), ...ttft, better: 'less' },
    { label: 'Gateway overhead p95', value: ms(overhead.now), ...overhead, better: 'less' },
    {
      label: 'Cache hits',
      value: formatShare(hits.now),
      ...hits,
      better: 'more',
      detail: now && `${formatUsd(now.saved_usd)} saved`,
    },
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
  'customer_spend_limit',
  'request_over_limit',
  'model_not_priced',
  'model_not_allowed',
  'key_expired',
  'project_inactive',
]);
const GATEWAY = new Set(['internal', 'overloaded', 'store_unavailable', 'gateway_lost']);
const PROVIDER = new Set(['upstream_error', 'upstream_unavailable', 'upstream_timeout']);

/** Whose fault a failed or refused request is, by its error code. */
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

const SCOPES = { project: 'Project', key: 'Key', customer: 'Customer' } as const;
const PERIODS = { day: 'today', month: 'this month', total: 'in total' } as const;

/** What a budget is of, in words. */
export function describeBudget(budget: Budget, projectName: string): string {
  const of = budget.scope === 'project' ? '' : ` in ${projectName}`;
  return `${SCOPES[budget.scope]}${of}, ${PERIODS[budget.period]}`;
}
