import type { Log } from '../../api/logs';

export interface WaterfallBar {
  readonly label: string;
  readonly kind: 'gateway' | 'ok' | 'failed';
  /** Shares (0…1) of the whole request. */
  readonly start: number;
  readonly length: number;
  readonly ms: number;
  readonly detail: string;
}

/** Attempts of a request on its time line; always inside it, however clocks went. */
export function prepareWaterfall(log: Pick<Log, 'latency_ms' | 'attempts'>): readonly WaterfallBar[] {
  const wholeMs = Math.max(
    log.latency_ms,
    ...(log.attempts ?? []).map(({ start_ms: start, latency_ms: ms }) => start + ms),
    0.001,
  );
  const clamp = (share: number) => Math.min(1, Math.max(0, share));
  return (log.attempts ?? []).map((attempt) => {
    const start = clamp(attempt.start_ms / wholeMs);
    return {
      label: `${attempt.provider} / ${attempt.model}`,
      kind: attempt.outcome === 'ok' ? 'ok' : 'failed',
      start,
      length: Math.max(0.004, Math.min(1 - start, attempt.latency_ms / wholeMs)),
      ms: attempt.latency_ms,
      detail: attempt.status === null ? attempt.outcome : `${attempt.outcome} (${attempt.status})`,
    };
  });
}

/** What a request cost, part by part, largest first. */
export function prepareCostParts(
  detail: Log['cost_detail'],
): readonly { readonly name: string; readonly usd: number }[] {
  return Object.entries(detail ?? {})
    .flatMap(([name, value]) =>
      typeof value === 'number' && value > 0 ? [{ name: name.replaceAll('_', ' '), usd: value }] : [],
    )
    .sort((a, b) => b.usd - a.usd);
}

export type CacheOutcome = 'exact' | 'semantic' | 'miss';

export const cacheOutcome = (log: Pick<Log, 'cache_hit' | 'semantic_cache_hit'>): CacheOutcome =>
  log.semantic_cache_hit ? 'semantic' : log.cache_hit ? 'exact' : 'miss';
