import { failureRate } from '@llm0/core/errors/outcome';
import type { ListedModel } from '../../api/models';
import type { ErrorBucket, LatencyBucket, SpendBucket } from '../../api/stats';
import type { BubblePoint } from '../../charts/bubbles/prepare-bubbles';
import { countOf, formatEstimate, formatShare } from '../../format/format-number';
import { formatTarget } from '../../format/format-target';
import { formatUsd } from '../../format/format-usd';

/** Use of a model at its provider in the range. */
export interface ModelUse {
  readonly requests: number;
  /** Of them, those that were answered. */
  readonly success: number;
  /** Of them, those that failed in the end. */
  readonly failures: number;
  /** Share (0…1) of all requests to models. */
  readonly share: number;
  /** Share of failures among answers and failures; null without either. */
  readonly errorRate: number | null;
  /** Null if the gateway answered all of them. */
  readonly p95Ms: number | null;
  /** USD of a million tokens as they were paid; null without tokens. */
  readonly paidUsd: number | null;
}

/** A model at its provider, with its price, its use, or both. */
export interface ModelLine {
  /** `openai/gpt-4o`. */
  readonly target: string;
  readonly provider: string;
  readonly model: string;
  /** Null without a price. */
  readonly listed: ListedModel | null;
  /** Null without requests in the range. */
  readonly use: ModelUse | null;
}

/** Statistics by target. */
export interface UsedTargets {
  readonly errors: readonly ErrorBucket[];
  readonly latency: readonly LatencyBucket[];
  readonly spend: readonly SpendBucket[];
}

/** Models in use, the busiest first, then all others as they are listed. */
export function prepareModels(models: readonly ListedModel[], used: UsedTargets): ModelLine[] {
  const listed = new Map(models.map((model) => [formatTarget(model), model]));
  const uses = prepareUses(used, (target) => listed.has(target));
  const busy = [...uses].map(([target, use]): ModelLine => {
    const cut = target.indexOf('/');
    const at = { provider: target.slice(0, cut), model: target.slice(cut + 1) };
    return { target, ...at, listed: listed.get(target) ?? null, use };
  });
  const idle = models.map((model): ModelLine => {
    return { target: formatTarget(model), provider: model.provider, model: model.model, listed: model, use: null };
  });
  return [...busy, ...idle.filter(({ target }) => !uses.has(target))];
}

/** A name with only errors of callers is a mistyped one, unless it has a price. */
function prepareUses({ errors, latency, spend }: UsedTargets, isListed: (target: string) => boolean) {
  const counted = errors.filter(
    ({ group, requests, success, failures }) =>
      requests > 0 && group !== null && group.indexOf('/') > 0 && (success + failures > 0 || isListed(group)),
  );
  const total = counted.reduce((sum, { requests }) => sum + requests, 0);
  const slow = new Map(latency.map(({ group, upstream_ms: { p95 } }) => [group, p95]));
  const paid = new Map(spend.map((bucket) => [bucket.group, paidPerMillion(bucket)]));
  const uses = counted
    .toSorted((a, b) => b.requests - a.requests || ((a.group ?? '') < (b.group ?? '') ? -1 : 1))
    .map(({ group, requests, success, failures }): [string, ModelUse] => [
      group ?? '',
      {
        ...{ requests, success, failures, share: requests / total, errorRate: failureRate({ success, failures }) },
        ...{ p95Ms: slow.get(group) ?? null, paidUsd: paid.get(group) ?? null },
      },
    ]);
  return new Map(uses);
}

function paidPerMillion({ cost_usd: cost, tokens_in: input, tokens_out: output }: SpendBucket): number | null {
  const tokens = input + output;
  return tokens === 0 ? null : (cost / tokens) * 1e6;
}

interface Measured extends ModelUse {
  readonly p95Ms: number;
  readonly paidUsd: number;
}

/** A model in use whose price and speed are known. */
export type MeasuredLine = ModelLine & { readonly use: Measured };

export const isMeasured = (line: ModelLine): line is MeasuredLine =>
  line.use !== null && (line.use.p95Ms ?? 0) > 0 && line.use.paidUsd !== null;

/** Price to the right, slowness upwards, requests as area. */
export const toPoint = (name: string, { use }: MeasuredLine): BubblePoint => ({
  ...{ name, x: use.paidUsd, y: use.p95Ms, size: use.requests },
});

/** By a name that no other point has. */
export const describePoint = (name: string, { use: { paidUsd, p95Ms, requests, share } }: MeasuredLine): string =>
  `${name}: ${formatUsd(paidUsd)} per 1M tokens, upstream p95 ${formatEstimate(p95Ms)}, ${countOf(requests, 'request')} (${formatShare(share)})`;
