import { failureRate } from '@llm0/core/errors/outcome';
import type { Chain, ChainInput, Provider } from '../../api/routing';
import type { LatencyBucket, ProviderHealth } from '../../api/stats';
import { countOf } from '../../format/format-number';
import { formatTarget } from '../../format/format-target';
import { isUntilNow, type TimeRange } from '../../range/time-range';
import type { Tone } from '../../ui/badge';
import type { WeightedTarget } from './prepare-targets';

export interface ProviderLine extends Provider {
  readonly health: { readonly label: string; readonly tone: Tone };
  /** Answered or failed there in the range of the page. */
  readonly requests: number;
  /** Of them, those that failed there. */
  readonly failed: number;
  /** Left it, failed or skipped while it was paused, and were answered by another target. */
  readonly elsewhere: number;
  /** Share of failures, those answered elsewhere included; null without requests. */
  readonly errorRate: number | null;
  readonly p95Ms: number | null;
}

const DEGRADED = 0.05;
const FAILING = 0.5;

interface Fared {
  /** The last hour: health is how a provider fares now. */
  readonly now: readonly ProviderHealth[];
  readonly health: readonly ProviderHealth[];
  readonly latency: readonly LatencyBucket[];
}

/** Providers with how they fared lately; configured ones first. */
export function prepareProviders(providers: readonly Provider[], { now, health, latency }: Fared): ProviderLine[] {
  const latest = new Map(now.map((bucket) => [bucket.provider, rateOf(bucket)]));
  const fared = new Map(health.map((bucket) => [bucket.provider, bucket]));
  const slow = new Map(latency.map((bucket) => [bucket.group, bucket]));
  return providers
    .map((provider): ProviderLine => {
      const own = fared.get(provider.name);
      const requests = own === undefined ? 0 : own.answered + own.failed;
      return {
        ...provider,
        health: healthOf(provider, { errorRate: latest.get(provider.name) ?? null, isAsked: requests > 0 }),
        requests,
        failed: own?.failed ?? 0,
        elsewhere: own?.answered_elsewhere ?? 0,
        errorRate: own === undefined ? null : rateOf(own),
        p95Ms: slow.get(provider.name)?.upstream_ms.p95 ?? null,
      };
    })
    .sort(
      (a, b) =>
        Number(b.is_configured) - Number(a.is_configured) || b.requests - a.requests || (a.name < b.name ? -1 : 1),
    );
}

const rateOf = ({ answered, failed }: ProviderHealth) => failureRate({ success: answered, failures: failed });

/** The one name of each state, on all pages. */
export const TARGET_STATES = {
  closed: { text: 'working again', tone: 'good' },
  open: { text: 'paused', tone: 'bad' },
  half_open: { text: 'paused', tone: 'bad' },
  cooling_down: { text: 'cooling down', tone: 'warn' },
} as const satisfies Record<Provider['targets'][number]['state'], { text: string; tone: Tone }>;

function healthOf(
  provider: Provider,
  { errorRate, isAsked }: { readonly errorRate: number | null; readonly isAsked: boolean },
): ProviderLine['health'] {
  // One that is asked all the same lost its key, or its requests are made-up ones.
  if (!provider.is_configured) return { label: 'not set up', tone: isAsked ? 'warn' : 'neutral' };
  if (!provider.is_active) return { label: 'off', tone: 'neutral' };
  if (provider.drain) return { label: 'drained by operator', tone: 'warn' };
  if (provider.health_check === 'failing') return { label: 'health check fails', tone: 'bad' };
  if (provider.key_problem !== null) return { label: 'key cannot be read', tone: 'bad' };
  const { targets } = provider;
  const stateOf = (state: keyof typeof TARGET_STATES) => {
    const { text: label, tone } = TARGET_STATES[state];
    return { label, tone };
  };
  // One that is due for its next try is still paused, as the banner says.
  if (targets.some(({ state }) => state === 'open' || state === 'half_open')) return stateOf('open');
  const usable = provider.keys.filter(({ state }) => state === 'ok');
  if (provider.keys.length > 0 && usable.length === 0) return { label: 'no usable key', tone: 'bad' };
  if (targets.some(({ state }) => state === 'cooling_down')) return stateOf('cooling_down');
  if (errorRate === null) return { label: 'ready', tone: 'good' };
  if (errorRate >= FAILING) return { label: 'failing', tone: 'bad' };
  return errorRate >= DEGRADED ? { label: 'degraded', tone: 'warn' } : { label: 'healthy', tone: 'good' };
}

interface Routes {
  readonly targets: readonly { readonly provider: string }[];
}

/** `Used by 3 aliases and 2 chains, 41 requests in the last 24 hours.` */
export function describeUse(
  { name, requests }: Pick<ProviderLine, 'name' | 'requests'>,
  { aliases, chains, range }: Used,
): string {
  const using = (routes: readonly Routes[]) =>
    routes.filter(({ targets }) => targets.some(({ provider }) => provider === name)).length;
  const users = `${countOf(using(aliases), 'alias', 'aliases')} and ${countOf(using(chains), 'chain')}`;
  return `Used by ${users}, ${countOf(requests, 'request')} in the ${isUntilNow(range) ? `last ${range.label}` : 'chosen range'}.`;
}

interface Used {
  readonly aliases: readonly Routes[];
  readonly chains: readonly Routes[];
  /** Of the requests. */
  readonly range: Pick<TimeRange, 'label'>;
}

export interface TargetLine {
  readonly model: string;
  readonly label: string;
  readonly tone: Tone;
}

/** A provider's models with failures, worst first; recovered ones last. */
export function prepareTargets(targets: Provider['targets'], nowMs: number): TargetLine[] {
  const order = ['open', 'half_open', 'cooling_down', 'closed'];
  return targets
    .toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state) || (a.model < b.model ? -1 : 1))
    .map(({ model, state, until }) => {
      const { text, tone } = TARGET_STATES[state];
      const seconds = until === null ? 0 : Math.max(0, Math.ceil((Date.parse(until) - nowMs) / 1000));
      if (state === 'half_open') return { model, tone, label: `${text}, retries with the next request` };
      if (seconds === 0) return { model, tone, label: text };
      return { model, tone, label: `${text}, ${state === 'open' ? `retries in ${seconds} s` : `${seconds} s left`}` };
    });
}

/** Targets → the API's chain; hidden fields stay unchanged. */
export function toChain(typed: readonly WeightedTarget[], chain: Chain | null): ChainInput {
  const matches = new Map(chain?.targets.map((target) => [formatTarget(target), target.matches]));
  const targets = typed.map(pathOf).map((target) => {
    const known = matches.get(formatTarget(target));
    return known === undefined ? target : { ...target, matches: known };
  });
  return { targets, local_tier: chain?.local_tier ?? null, hedge_after_ms: chain?.hedge_after_ms ?? null };
}

export const pathOf = ({ provider, model }: WeightedTarget) => ({ provider, model });
