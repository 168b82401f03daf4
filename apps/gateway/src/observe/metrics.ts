import type { WarmOutcome } from '@llm0/core/cache/warm-cache';
import type { GuardrailMark } from '@llm0/core/guardrails/policy';
import type { LogRecord } from '@llm0/core/logs/log-record';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import { checkedProvider, failingChecks } from '@llm0/core/routing/checked-provider';
import { type Target, targetKey } from '@llm0/core/routing/target';
import type { TargetStatus } from '@llm0/core/routing/target-health';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type KnownModel, modelLabel, PlainHistogram, RecordMetrics } from './record-metrics';
import { ToolCallMetrics } from './tool-call-metrics';

const STORE_BUCKETS_MS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 80, 100, 250, 1000];
const GAP_BUCKETS_MS = [0.5, 1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000];
const JOB_BUCKETS_MS = [1, 5, 25, 100, 500, 1000, 5000, 30_000, 120_000, 600_000];

const BREAKER_STATE = { closed: 0, half_open: 1, open: 2 } as const satisfies Record<TargetStatus['mode'], number>;

/** Prometheus metrics. Labels are bounded: no project, key, customer or free text ever becomes one. */
export class Metrics {
  readonly registry = new Registry();
  private readonly registers = [this.registry];
  private readonly counter = <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
    new Counter({ name, help, labelNames, registers: this.registers });
  /** `aggregator`: how the values of several processes make one. */
  private readonly gauge = <L extends string = never>(
    name: string,
    help: string,
    labelNames: L[] = [],
    aggregator: 'sum' | 'max' = 'sum',
  ) => new Gauge({ name, help, labelNames, aggregator, registers: this.registers });
  private readonly histogram = <L extends string>(name: string, help: string, buckets: number[], labelNames: L[]) =>
    new Histogram({ name, help, labelNames, buckets, registers: this.registers });
  private readonly plainHistogram = (name: string, help: string, bounds: readonly number[]) =>
    new PlainHistogram({ name, help, bounds, registry: this.registry });

  readonly upstreamFailures = this.counter('llm0_upstream_failures_total', 'Failed upstream attempts.', [
    'provider',
    'failure',
  ]);
  readonly breakerState = this.gauge(
    'llm0_breaker_state',
    'Circuit breaker of a target that failed, across all gateways: 0 closed, 1 half-open, 2 open.',
    ['provider', 'model'],
    'max',
  );
  readonly coolDown = this.gauge(
    'llm0_target_cool_down_ms',
    'Milliseconds until the next attempt after a 429.',
    ['provider', 'model'],
    'max',
  );
  readonly fullProviders = this.counter(
    'llm0_provider_full_total',
    'Attempts skipped because a provider or its keys had max_concurrency requests under way.',
    ['provider'],
  );
  readonly providerChecks = this.counter(
    'llm0_provider_checks_total',
    'Health checks by this process: ok, failed, unknown.',
    ['provider', 'outcome'],
  );
  private readonly failingCheck = this.gauge(
    'llm0_provider_check_failing',
    'Providers whose last health check failed: 1.',
    ['provider'],
    'max',
  );
  private readonly drained = this.gauge(
    'llm0_provider_drained',
    'Providers that the operator drained: 1.',
    ['provider'],
    'max',
  );
  private readonly breakerOpened = this.counter(
    'llm0_breaker_opened_total',
    'Times this process opened the circuit breaker of a target.',
    ['provider', 'model'],
  );
  readonly hedges = this.counter(
    'llm0_hedges_superseded_total',
    'Cancelled attempts of hedged pairs, by the slower provider.',
    ['provider'],
  );
  readonly unchecked = this.counter(
    'llm0_unchecked_requests_total',
    'Requests of projects with on_store_failure open, served without limits.',
  );
  readonly floodRefusals = this.counter(
    'llm0_flood_refusals_total',
    'Requests refused before authentication, by limit: global, client, concurrency.',
    ['limit'],
  );
  readonly admitMs = this.plainHistogram(
    'llm0_hot_store_admit_ms',
    "Wait of requests for the hot store's decision in milliseconds.",
    STORE_BUCKETS_MS,
  );
  readonly chunkGapMs = this.plainHistogram(
    'llm0_inter_chunk_gap_ms',
    'Time between two chunks of a streamed answer, in milliseconds.',
    GAP_BUCKETS_MS,
  );
  readonly loopLagMs = this.plainHistogram(
    'llm0_event_loop_lag_ms',
    "Delay of this process's timers in milliseconds, sampled twice a second.",
    GAP_BUCKETS_MS,
  );
  readonly storeUp = this.gauge('llm0_store_up', 'Whether a store answers: hot_store, postgres.', ['store']);
  readonly storePing = this.gauge(
    'llm0_store_ping_ms',
    'Round trip to a store in milliseconds, measured when this page is read.',
    ['store'],
  );
  readonly storeHolds = this.gauge('llm0_store_holds_open', 'Holds in the hot store, of all processes.');
  readonly cacheEntries = this.gauge('llm0_cache_entries', 'Answers in the hot cache tier.');
  readonly cacheBytes = this.gauge('llm0_cache_bytes', 'Bytes of the hot cache tier.');
  readonly residentBytes = this.gauge('llm0_resident_memory_bytes', 'Resident memory of this process.');
  readonly jobRuns = this.counter('llm0_job_runs_total', 'Runs of background jobs by this process.', [
    'job',
    'outcome',
  ]);
  readonly jobMs = this.histogram(
    'llm0_job_duration_ms',
    'Duration of background jobs in milliseconds.',
    JOB_BUCKETS_MS,
    ['job'],
  );
  readonly recordsStored = this.counter(
    'llm0_log_records_stored_total',
    'Log entries moved from the queue to gateway_logs by this process.',
  );
  readonly inferCache = this.counter('llm0_infer_cache_total', 'Cache results of HTTP backends: hit, miss, stale.', [
    'backend',
    'outcome',
  ]);
  readonly inFlight = this.gauge('llm0_requests_in_flight', 'Open requests.');
  readonly openHolds = this.gauge('llm0_holds_open', 'Holds of this process.');
  readonly queued = this.gauge('llm0_requests_queued', 'Requests that wait for a rate or concurrency limit.');
  readonly queueDepth = this.gauge('llm0_log_queue_entries', 'Log entries not yet stored.');
  readonly queueAge = this.gauge('llm0_log_queue_oldest_ms', 'Age of the oldest log entry.');
  readonly sinkLag = this.gauge(
    'llm0_log_sink_lag_ms',
    "Age of a sink's oldest missing row, in milliseconds.",
    ['sink'],
    'max',
  );
  readonly sinkRejected = this.counter(
    'llm0_log_sink_rejected_total',
    'Rows that a collector took and rejected as spans.',
    ['sink'],
  );
  readonly drops = this.counter('llm0_log_drops_total', 'Log entries lost; always 0.');
  readonly warmLookUps = this.histogram(
    'llm0_warm_cache_lookup_ms',
    'Look-ups in the warm cache tier by outcome, in milliseconds.',
    STORE_BUCKETS_MS,
    ['outcome'],
  );
  readonly warmDrops = this.counter(
    'llm0_warm_cache_drops_total',
    "Answers that the warm cache tier didn't store because too many waited.",
  );
  readonly keptAnswerDrops = this.counter(
    'llm0_kept_answer_drops_total',
    "Answers that weren't stored because too many waited.",
  );
  readonly semanticLookUps = this.histogram(
    'llm0_semantic_cache_lookup_ms',
    'Look-ups in the semantic cache by outcome, in milliseconds.',
    STORE_BUCKETS_MS,
    ['outcome'],
  );
  readonly semanticRefusals = this.counter('llm0_semantic_cache_refusals_total', 'Refused near matches, by guard.', [
    'guard',
  ]);
  readonly semanticSkips = this.counter(
    'llm0_semantic_cache_skips_total',
    'Requests without a question for the semantic cache, by reason.',
    ['reason'],
  );
  readonly semanticDrops = this.counter(
    'llm0_semantic_cache_drops_total',
    "Answers that the semantic cache didn't store: too many waited, or no vector.",
  );
  private readonly guardrailFinds = this.counter(
    'llm0_guardrail_finds_total',
    'Guardrail matches by type: done, watched.',
    ['check', 'action', 'side', 'outcome'],
  );
  private readonly guardrailFailures = this.counter(
    'llm0_guardrail_failures_total',
    'Failed guardrail checks by type: failed, timeout.',
    ['check', 'side', 'outcome'],
  );
  readonly otlpExported = this.counter(
    'llm0_otlp_exported_total',
    'Rows and metric rounds that the collector accepted.',
    ['signal'],
  );
  readonly otlpDrops = this.counter('llm0_otlp_drops_total', 'Rows and metric rounds that were dropped, by reason.', [
    'signal',
    'reason',
  ]);
  readonly otlpFailures = this.counter(
    'llm0_otlp_failures_total',
    'Failed requests to the collector, by reason: unreachable, busy, refused.',
    ['signal', 'reason'],
  );
  readonly bodyDrops = this.counter(
    'llm0_log_bodies_drops_total',
    "Prompts and answers (LOG_BODIES) that weren't stored.",
  );
  /** Hits of the warm tier for `/cachez`; they also count as exact hits. */
  warmHits = 0;
  readonly cache = { exact: 0, semantic: 0, miss: 0 };
  private readonly records: RecordMetrics;
  private readonly toolCalls = new ToolCallMetrics();

  /** `isKnown`: whether the operator's price book or a local server lists it; callers may invent any other name. */
  constructor(private readonly isKnown: KnownModel = () => true) {
    this.records = new RecordMetrics(isKnown);
    this.records.register(this.registry);
    this.toolCalls.register(this.registry);
  }

  /** Takes over the state of all targets that are or were in trouble. */
  showTargets(targets: readonly TargetStatus[]): void {
    this.breakerState.reset();
    this.coolDown.reset();
    const worst = new Map<string, { labels: Target; state: number; coolMs: number }>();
    this.failingCheck.reset();
    for (const provider of failingChecks(targets)) this.failingCheck.set({ provider }, 1);
    for (const { provider, model, mode, coolForMs } of targets) {
      if (checkedProvider({ provider }) !== undefined) continue;
      const labels = { provider, model: modelLabel(this.isKnown, provider, model) };
      const known = worst.get(targetKey(labels));
      worst.set(targetKey(labels), {
        labels,
        state: Math.max(known?.state ?? 0, BREAKER_STATE[mode]),
        coolMs: Math.max(known?.coolMs ?? 0, Math.round(coolForMs)),
      });
    }
    for (const { labels, state, coolMs } of worst.values()) {
      this.breakerState.set({ ...labels }, state);
      this.coolDown.set({ ...labels }, coolMs);
    }
  }

  /** Takes over the names of all drained providers. */
  showDrained(providers: readonly string[]): void {
    this.drained.reset();
    for (const provider of providers) this.drained.set({ provider }, 1);
  }

  countOpened({ provider, model }: Target): void {
    this.breakerOpened.inc({ provider, model: modelLabel(this.isKnown, provider, model) });
  }

  observeWarmLookUp(outcome: WarmOutcome, ms: number): void {
    this.warmLookUps.observe({ outcome }, ms);
    if (outcome === 'hit') this.warmHits += 1;
  }

  /** Counts one finished request from its row. */
  observeRecord(record: LogRecord): void {
    if (record.guardrails !== undefined) this.observeGuardrails(record.guardrails);
    const cache = this.records.observe(record);
    if (record.status === 'success' && record.dialect !== 'infer') this.cache[cache] += 1;
  }

  /** Counts one finished call of a tool from its row. */
  observeToolCall(record: ToolCallRecord): void {
    if (record.guardrails !== undefined) this.observeGuardrails(record.guardrails);
    this.toolCalls.observe(record);
  }

  observeGuardrails(marks: readonly GuardrailMark[]): void {
    for (const { check, action, on: side, count, shadow, error } of marks) {
      if (error === undefined) {
        this.guardrailFinds.inc({ check, action, side, outcome: shadow === true ? 'watched' : 'done' }, count);
      } else this.guardrailFailures.inc({ check, side, outcome: error });
    }
  }
}
