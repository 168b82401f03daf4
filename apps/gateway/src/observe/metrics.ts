import type { WarmOutcome } from '@llm0/core/cache/warm-cache';
import type { LogRecord } from '@llm0/core/logs/log-record';
import type { TargetStatus } from '@llm0/core/routing/target-health';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { PlainHistogram } from './plain-histogram';
import { RecordMetrics } from './record-metrics';

const STORE_BUCKETS_MS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 80, 100, 250, 1000];
const GAP_BUCKETS_MS = [0.5, 1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000];
const JOB_BUCKETS_MS = [1, 5, 25, 100, 500, 1000, 5000, 30_000, 120_000, 600_000];

const BREAKER_STATE = { closed: 0, half_open: 1, open: 2 } as const satisfies Record<TargetStatus['mode'], number>;

/** Prometheus metrics. Labels are bounded: no project, key, customer or free text ever becomes one. */
export class Metrics {
  readonly registry = new Registry();
  private readonly of = { registers: [this.registry] };

  readonly upstreamFailures = new Counter({
    name: 'llm0_upstream_failures_total',
    help: 'Failed upstream attempts.',
    labelNames: ['provider', 'failure'] as const,
    ...this.of,
  });
  readonly breakerState = new Gauge({
    name: 'llm0_breaker_state',
    help: 'Circuit breaker of a target that was in trouble: 0 closed, 1 half-open, 2 open, as all gateways see it.',
    labelNames: ['provider', 'model'] as const,
    aggregator: 'max',
    ...this.of,
  });
  readonly coolDown = new Gauge({
    name: 'llm0_target_cool_down_ms',
    help: 'Milliseconds until a target is asked again after a 429.',
    labelNames: ['provider', 'model'] as const,
    aggregator: 'max',
    ...this.of,
  });
  readonly breakerOpened = new Counter({
    name: 'llm0_breaker_opened_total',
    help: 'Times this process opened the circuit breaker of a target.',
    labelNames: ['provider', 'model'] as const,
    ...this.of,
  });
  readonly hedges = new Counter({
    name: 'llm0_hedges_superseded_total',
    help: 'Upstream attempts given up because the other one of a hedged pair was faster, by the slower provider.',
    labelNames: ['provider'] as const,
    ...this.of,
  });
  readonly unchecked = new Counter({
    name: 'llm0_unchecked_requests_total',
    help: 'Requests of projects with on_store_failure open, served while the hot store could not decide.',
    ...this.of,
  });
  readonly admitMs = new PlainHistogram({
    name: 'llm0_hot_store_admit_ms',
    help: 'Decisions of the hot store, as long as requests wait for them, in milliseconds.',
    bounds: STORE_BUCKETS_MS,
    registry: this.registry,
  });
  readonly chunkGapMs = new PlainHistogram({
    name: 'llm0_inter_chunk_gap_ms',
    help: 'Time between two chunks of a streamed answer, in milliseconds.',
    bounds: GAP_BUCKETS_MS,
    registry: this.registry,
  });
  readonly loopLagMs = new PlainHistogram({
    name: 'llm0_event_loop_lag_ms',
    help: 'How late a timer of this process fires, sampled twice a second, in milliseconds.',
    bounds: GAP_BUCKETS_MS,
    registry: this.registry,
  });
  readonly storeUp = new Gauge({
    name: 'llm0_store_up',
    help: 'Whether a store answers: hot_store, postgres.',
    labelNames: ['store'] as const,
    ...this.of,
  });
  readonly storePing = new Gauge({
    name: 'llm0_store_ping_ms',
    help: 'Round trip to a store in milliseconds, measured when this page is read.',
    labelNames: ['store'] as const,
    ...this.of,
  });
  readonly storeHolds = new Gauge({
    name: 'llm0_store_holds_open',
    help: 'Holds in the hot store, of all processes.',
    ...this.of,
  });
  readonly cacheEntries = new Gauge({ name: 'llm0_cache_entries', help: 'Answers in the hot cache tier.', ...this.of });
  readonly cacheBytes = new Gauge({ name: 'llm0_cache_bytes', help: 'Bytes of the hot cache tier.', ...this.of });
  readonly residentBytes = new Gauge({
    name: 'llm0_resident_memory_bytes',
    help: 'Resident memory of this process.',
    ...this.of,
  });
  readonly jobRuns = new Counter({
    name: 'llm0_job_runs_total',
    help: 'Runs of background jobs by this process.',
    labelNames: ['job', 'outcome'] as const,
    ...this.of,
  });
  readonly jobMs = new Histogram({
    name: 'llm0_job_duration_ms',
    help: 'Duration of background jobs in milliseconds.',
    labelNames: ['job'] as const,
    buckets: JOB_BUCKETS_MS,
    ...this.of,
  });
  readonly recordsStored = new Counter({
    name: 'llm0_log_records_stored_total',
    help: 'Log entries moved from the queue to gateway_logs by this process.',
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
  readonly keptAnswerDrops = new Counter({
    name: 'llm0_kept_answer_drops_total',
    help: 'Answers not kept for later requests because too many waited.',
    ...this.of,
  });
  readonly semanticLookUps = new Histogram({
    name: 'llm0_semantic_cache_lookup_ms',
    help: 'Look-ups in the semantic cache by outcome, in milliseconds.',
    labelNames: ['outcome'] as const,
    buckets: STORE_BUCKETS_MS,
    ...this.of,
  });
  readonly semanticRefusals = new Counter({
    name: 'llm0_semantic_cache_refusals_total',
    help: 'Near matches that were not served, by the guard that refused.',
    labelNames: ['guard'] as const,
    ...this.of,
  });
  readonly semanticSkips = new Counter({
    name: 'llm0_semantic_cache_skips_total',
    help: 'Requests of projects with a semantic cache that have no question to look up, by reason.',
    labelNames: ['reason'] as const,
    ...this.of,
  });
  readonly semanticDrops = new Counter({
    name: 'llm0_semantic_cache_drops_total',
    help: 'Answers not written to the semantic cache: too many waited, or they got no vector.',
    ...this.of,
  });
  readonly bodyDrops = new Counter({
    name: 'llm0_log_bodies_drops_total',
    help: 'Prompts and answers (LOG_BODIES) that were not kept.',
    ...this.of,
  });
  /** Hits of the warm tier, for `/cachez`; they count as exact hits too. */
  warmHits = 0;
  readonly cache = { exact: 0, semantic: 0, miss: 0 };
  private readonly records = new RecordMetrics();

  constructor() {
    this.records.register(this.registry);
  }

  /** Takes over the state of all targets that are or were in trouble. */
  showTargets(targets: readonly TargetStatus[]): void {
    this.breakerState.reset();
    this.coolDown.reset();
    for (const { provider, model, mode, coolForMs } of targets) {
      this.breakerState.set({ provider, model }, BREAKER_STATE[mode]);
      this.coolDown.set({ provider, model }, Math.round(coolForMs));
    }
  }

  observeWarmLookUp(outcome: WarmOutcome, ms: number): void {
    this.warmLookUps.observe({ outcome }, ms);
    if (outcome === 'hit') this.warmHits += 1;
  }

  /** Counts one finished request from its row. */
  observeRecord(record: LogRecord): void {
    const cache = this.records.observe(record);
    if (record.status === 'success') this.cache[cache] += 1;
  }
}
