import { domainOf, type ErrorDomain, failureRate } from '@llm0/core/errors/outcome';
import type { LatencyBucket, Overview } from '../../api/stats';
import { countOf, formatCompact, formatCount, formatEstimate, formatShare } from '../../format/format-number';
import { formatUsd } from '../../format/format-usd';
import { OUTCOME_LABELS } from '../../format/outcome-labels';
import { formatCompactParts } from '../../format/round-parts';
import { SAVED } from '../../format/saved-labels';
import { requestsLink } from '../../range/use-show-requests';
import type { Place } from '../../ui/place-link';
import { statsOf } from '../../ui/prepare-stat';
import type { Stat } from '../../ui/stat-card';
import { hitRate } from '../cache/prepare-cache';
import { pagePlace } from '../shell/page-place';

function successRate(counts: Overview): number | null {
  const rate = failureRate(counts);
  return rate === null ? null : 1 - rate;
}

const UNMEASURED = { p50: null, p95: null, p99: null };

/** Totals with the durations of providers' answers; undefined while they load, without durations if those fail. */
export function withLatency(
  totals: Overview | undefined,
  slow: {
    readonly data?: { readonly buckets: readonly Pick<LatencyBucket, 'latency_ms' | 'ttft_ms'>[] } | undefined;
    readonly error: Error | null;
  },
): Overview | undefined {
  if (totals === undefined || (slow.data === undefined && slow.error === null)) return undefined;
  const { latency_ms = UNMEASURED, ttft_ms = UNMEASURED } = slow.data?.buckets[0] ?? {};
  return { ...totals, latency_ms, ttft_ms };
}

/** The cards of the overview, each with the same number of the previous period. */
export const prepareStats = (now: Overview | undefined, before: Overview | undefined): Stat[] => [
  ...countStats(now, before),
  ...speedStats(now, before),
];

function countStats(now: Overview | undefined, before: Overview | undefined): Stat[] {
  const stat = statsOf(now, before);
  const [tokensIn, tokensOut] = formatCompactParts([now?.tokens_in ?? 0, now?.tokens_out ?? 0]);
  return [
    stat({
      label: 'Spend',
      pick: (o) => o.cost_usd,
      show: formatUsd,
      detail: now && describeUnitCost(now),
      to: pagePlace('/money'),
    }),
    stat({
      label: 'Requests',
      pick: (o) => o.requests,
      show: formatCount,
      detail: now && `${formatCount(now.failures)} failed`,
      to: requestsLink({}),
    }),
    stat({
      label: 'Success',
      pick: successRate,
      show: (share) => formatShare(share, 2),
      isShare: true,
      better: 'more',
      detail: now && describeLeftOut(now),
      hasLongDetail: true,
      to: requestsLink({ outcome: 'success' }),
    }),
    stat({
      label: 'Tokens',
      pick: (o) => o.tokens_in + o.tokens_out,
      show: formatCompact,
      detail: now && `${tokensIn} in, ${tokensOut} out`,
      to: requestsLink({ sort: '-tokens_total' }),
    }),
  ];
}

function speedStats(now: Overview | undefined, before: Overview | undefined): Stat[] {
  const stat = statsOf(now, before);
  const duration = (label: string, of: 'latency_ms' | 'ttft_ms' | 'overhead_ms', to: Place, whose = '') =>
    stat({
      ...{ label, pick: (o) => o[of].p95, show: formatEstimate, better: 'less', isBinned: true, to },
      detail: now && `p50 ${formatEstimate(now[of].p50)}${whose}`,
    });
  return [
    duration('Latency p95', 'latency_ms', pagePlace('/latency'), ', of providers'),
    duration('Time to first token p95', 'ttft_ms', pagePlace('/latency', { metric: 'ttft' }), ', of providers'),
    duration('Gateway overhead p95', 'overhead_ms', pagePlace('/latency', { metric: 'overhead' })),
    stat({
      label: 'Cache hits',
      pick: hitRate,
      show: formatShare,
      isShare: true,
      better: 'more',
      detail: now && `${formatUsd(now.saved_usd)} ${SAVED.byCache.toLowerCase()}`,
      to: pagePlace('/cache'),
    }),
  ];
}

const describeUnitCost = ({ cost_usd: cost, requests }: Overview) =>
  requests === 0 ? undefined : `${formatUsd((cost / requests) * 1000)} per 1,000 requests`;

/** What the share of successes leaves out, by outcome. */
function describeLeftOut(now: Overview): string | undefined {
  const named = (outcome: 'rate_limited' | 'cap_exceeded' | 'aborted') =>
    now[outcome] === 0 ? [] : [`${formatCount(now[outcome])} ${OUTCOME_LABELS[outcome].toLowerCase()}`];
  const callers = now.caller_errors === 0 ? [] : [countOf(now.caller_errors, 'caller error')];
  const parts = [...callers, ...named('rate_limited'), ...named('cap_exceeded'), ...named('aborted')];
  return parts.length === 0 ? undefined : `without ${parts.join(', ')}`;
}

export const DOMAIN_LABELS = {
  caller: 'Caller',
  aborted: OUTCOME_LABELS.aborted,
  policy: 'Limits',
  provider: 'Provider',
  gateway: 'Gateway',
} as const satisfies Record<ErrorDomain, string>;

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
