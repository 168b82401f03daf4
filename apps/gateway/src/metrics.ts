import type { WarmOutcome } from '@llm0/core/cache/warm-cache';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

const LATENCY_BUCKETS_MS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000];
const OVERHEAD_BUCKETS_MS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100, 250];
const STORE_BUCKETS_MS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 80, 100, 250, 1000];
const NANO_PER_USD = 1e9;

/** Prometheus metrics. Labels are bounded: no project, key, customer or free text ever becomes one. */
export class Metrics {
  readonly registry = new Registry();
  private readonly of = { registers: [this.registry] };

  readonly requests = new Counter({
    name: 'llm0_requests_total',
    help: 'Requests that passed authentication, by outcome.',
    labelNames: ['provider', 'model', 'status', 'cache', 'dialect', 'stream'] as const,
    ...this.of,
  });
  readonly tokens = new Counter({
    name: 'llm0_tokens_total',
    help: 'Tokens by direction.',
    labelNames: ['provider', 'model', 'direction'] as const,
    ...this.of,
  });
  readonly cost = new Counter({
    name: 'llm0_cost_usd_total',
    help: 'Cost of answers in USD.',
    labelNames: ['provider', 'model'] as const,
    ...this.of,
  });
  readonly saved = new Counter({
    name: 'llm0_saved_usd_total',
    help: 'USD not spent because a cache answered.',
    labelNames: ['cache'] as const,
    ...this.of,
  });
  readonly latency = new Histogram({
    name: 'llm0_request_duration_ms',
    help: 'Request duration in milliseconds.',
    labelNames: ['provider', 'cache'] as const,
    buckets: LATENCY_BUCKETS_MS,
    ...this.of,
  });
  readonly ttft = new Histogram({
    name: 'llm0_time_to_first_token_ms',
    help: 'Time to the first output in milliseconds, streams only.',
    labelNames: ['provider'] as const,
    buckets: LATENCY_BUCKETS_MS,
    ...this.of,
  });
  readonly overhead = new Histogram({
    name: 'llm0_overhead_ms',
    help: "The gateway's own part of the time to first byte, in milliseconds.",
    labelNames: ['cache'] as const,
    buckets: OVERHEAD_BUCKETS_MS,
    ...this.of,
  });
  readonly errors = new Counter({
    name: 'llm0_errors_total',
    help: 'Failed or refused requests by error code.',
    labelNames: ['code'] as const,
    ...this.of,
  });
  readonly upstreamFailures = new Counter({
    name: 'llm0_upstream_failures_total',
    help: 'Failed upstream attempts.',
    labelNames: ['provider', 'failure'] as const,
    ...this.of,
  });
  readonly unchecked = new Counter({
    name: 'llm0_unchecked_requests_total',
    help: 'Requests of projects with on_store_failure open, served while the hot store could not decide.',
    ...this.of,
  });
  readonly inFlight = new Gauge({ name: 'llm0_requests_in_flight', help: 'Requests under way.', ...this.of });
  readonly openHolds = new Gauge({ name: 'llm0_holds_open', help: 'Holds of this process.', ...this.of });
  readonly queueDepth = new Gauge({ name: 'llm0_log_queue_entries', help: 'Log entries not yet stored.', ...this.of });
  readonly queueAge = new Gauge({ name: 'llm0_log_queue_oldest_ms', help: 'Age of the oldest log entry.', ...this.of });
  readonly drops = new Counter({ name: 'llm0_log_drops_total', help: 'Log entries lost; always 0.', ...this.of });
  readonly warmLookUps = new Histogram({
    name: 'llm0_warm_cache_lookup_ms',
    help: 'Look-ups in the warm cache tier by outcome, in milliseconds.',
    labelNames: ['outcome'] as const,
    buckets: STORE_BUCKETS_MS,
    ...this.of,
  });
  readonly warmDrops = new Counter({
    name: 'llm0_warm_cache_drops_total',
    help: 'Answers not written to the warm cache tier because too many waited.',
    ...this.of,
  });
  /** Hits of the warm tier, for `/cachez`; they count as exact hits too. */
  warmHits = 0;
  readonly cache = { exact: 0, semantic: 0, miss: 0 };

  observeWarmLookUp(outcome: WarmOutcome, ms: number): void {
    this.warmLookUps.observe({ outcome }, ms);
    if (outcome === 'hit') this.warmHits += 1;
  }

  /** Counts one finished request from its row. */
  observeRecord(record: LogRecord): void {
    const provider = record.finalProvider ?? record.provider ?? '';
    const model = record.finalProvider === undefined ? '' : record.model;
    const cache = record.cacheHit ? 'exact' : record.semanticCacheHit ? 'semantic' : 'miss';
    const { status, dialect } = record;
    this.requests.inc({ provider, model, status, cache, dialect, stream: String(record.stream) });
    this.latency.observe({ provider, cache }, record.latencyMs);
    if (record.overheadMs !== undefined) this.overhead.observe({ cache }, record.overheadMs);
    if (record.errorCode !== undefined) this.errors.inc({ code: record.errorCode });
    if (status !== 'success') return;
    this.cache[cache] += 1;
    if (record.stream && record.ttftMs !== undefined) this.ttft.observe({ provider }, record.ttftMs);
    this.tokens.inc({ provider, model, direction: 'in' }, record.tokensIn);
    this.tokens.inc({ provider, model, direction: 'out' }, record.tokensOut);
    if (record.costNanoUsd > 0) this.cost.inc({ provider, model }, record.costNanoUsd / NANO_PER_USD);
    if (record.savedNanoUsd > 0) this.saved.inc({ cache }, record.savedNanoUsd / NANO_PER_USD);
  }
}
