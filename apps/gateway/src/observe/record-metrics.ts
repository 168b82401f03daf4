import type { LogRecord } from '@llm0/core/logs/log-record';
import type { Metric, Registry } from 'prom-client';

/** One sample as prom-client's registry prints it. */
interface Sample {
  readonly metricName?: string;
  readonly labels: Record<string, string | number>;
  readonly value: number;
}

const LATENCY_BUCKETS_MS = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000];
const OVERHEAD_BUCKETS_MS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100, 250];
const NANO_PER_USD = 1e9;

/** Counts by upper bound, as Prometheus wants them. */
export class Buckets {
  private readonly counts: Float64Array;
  private sum = 0;

  constructor(private readonly bounds: readonly number[]) {
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    let index = 0;
    while (index < this.bounds.length && value > (this.bounds[index] ?? 0)) index++;
    this.counts[index] = (this.counts[index] ?? 0) + 1;
    this.sum += value;
  }

  *samples(name: string, labels: Record<string, string>): Generator<Sample> {
    let total = 0;
    for (const [index, bound] of [...this.bounds, '+Inf' as const].entries()) {
      total += this.counts[index] ?? 0;
      yield { metricName: `${name}_bucket`, labels: { le: bound, ...labels }, value: total };
    }
    yield { metricName: `${name}_sum`, labels, value: this.sum };
    yield { metricName: `${name}_count`, labels, value: total };
  }
}

/** True for models in the price book or of a known server. */
export type KnownModel = (provider: string, model: string) => boolean;

/** One series per known model for ever; unknown names share one. */
export const modelLabel = (isKnown: KnownModel, provider: string, model: string): string =>
  model === '' || isKnown(provider, model) ? model : 'other';

/** Everything counted for one combination of labels. */
interface Cell {
  readonly labels: { provider: string; model: string; status: string; cache: string; dialect: string; stream: string };
  requests: number;
  tokensIn: number;
  tokensOut: number;
  costNanoUsd: number;
  savedNanoUsd: number;
  /** Shared with cells of fewer labels, from the first value on. */
  latency?: Buckets;
  overhead?: Buckets;
  ttft?: Buckets;
}

export type Family = { name: string; help: string; type: 'counter' | 'histogram'; samples: () => Iterable<Sample> };

/**
 * Metrics of each request. Plain cells count, and scrapes convert them: a labelled counter would cost a tenth of a
 * cached answer.
 */
export class RecordMetrics {
  private readonly cells = new Map<string, Cell>();
  private readonly latency: Observed = new Map();
  private readonly overhead: Observed = new Map();
  private readonly ttft: Observed = new Map();
  private readonly errors = new Map<string, number>();

  constructor(private readonly isKnown: KnownModel = () => true) {}

  /** Counts one finished request from its row; returns how the caches did. */
  observe(record: LogRecord): 'exact' | 'semantic' | 'miss' {
    const provider = record.finalProvider ?? record.provider ?? '';
    const cache = record.cacheHit ? 'exact' : record.semanticCacheHit ? 'semantic' : 'miss';
    const cell = this.cellOf(record, provider, cache);
    const requests = record.refusedCount ?? 1;
    cell.requests += requests;
    cell.latency ??= bucketsOf(this.latency, { provider, cache }, LATENCY_BUCKETS_MS);
    cell.latency.observe(record.latencyMs);
    if (record.overheadMs !== undefined) {
      cell.overhead ??= bucketsOf(this.overhead, { cache }, OVERHEAD_BUCKETS_MS);
      cell.overhead.observe(record.overheadMs);
    }
    if (record.errorCode !== undefined) {
      this.errors.set(record.errorCode, (this.errors.get(record.errorCode) ?? 0) + requests);
    }
    if (record.status !== 'success') return cache;
    if (record.stream && record.ttftMs !== undefined) {
      cell.ttft ??= bucketsOf(this.ttft, { provider }, LATENCY_BUCKETS_MS);
      cell.ttft.observe(record.ttftMs);
    }
    cell.tokensIn += record.tokensIn;
    cell.tokensOut += record.tokensOut;
    cell.costNanoUsd += record.costNanoUsd;
    cell.savedNanoUsd += record.savedNanoUsd;
    return cache;
  }

  private cellOf(record: LogRecord, provider: string, cache: string): Cell {
    const { status, dialect, stream } = record;
    const given = record.finalProvider === undefined ? '' : record.model;
    const rest = `${status} ${cache} ${dialect} ${stream}`;
    // Only known models have a cell of their own name.
    const own = this.cells.get(`${provider} ${given} ${rest}`);
    if (own !== undefined) return own;
    const model = modelLabel(this.isKnown, provider, given);
    const key = `${provider} ${model} ${rest}`;
    let cell = this.cells.get(key);
    if (cell === undefined) {
      const labels = { provider, model, status, cache, dialect, stream: String(stream) };
      cell = { labels, requests: 0, tokensIn: 0, tokensOut: 0, costNanoUsd: 0, savedNanoUsd: 0 };
      this.cells.set(key, cell);
    }
    return cell;
  }

  /** Adds the families to a registry. */
  register(registry: Registry): void {
    const counter = (name: string, help: string, samples: Family['samples']): Family =>
      ({ name, help, type: 'counter', samples }) as const;
    const histogram = (name: string, help: string, of: typeof this.latency): Family => ({
      name,
      help,
      type: 'histogram',
      samples: () => [...of.values()].flatMap(({ labels, buckets }) => [...buckets.samples(name, labels)]),
    });
    const families: readonly Family[] = [
      counter('llm0_requests_total', 'Requests that passed authentication, by outcome.', () =>
        [...this.cells.values()].map(({ labels, requests }) => ({ labels, value: requests })),
      ),
      counter('llm0_tokens_total', 'Tokens by direction.', () => [
        ...this.sumBy(['provider', 'model'], (cell) => cell.tokensIn, { direction: 'in' }),
        ...this.sumBy(['provider', 'model'], (cell) => cell.tokensOut, { direction: 'out' }),
      ]),
      counter('llm0_cost_usd_total', 'Cost of answers in USD.', () =>
        this.sumBy(['provider', 'model'], (cell) => cell.costNanoUsd / NANO_PER_USD),
      ),
      counter('llm0_saved_usd_total', 'USD that caches saved.', () =>
        this.sumBy(['cache'], (cell) => cell.savedNanoUsd / NANO_PER_USD),
      ),
      counter('llm0_errors_total', 'Failed or refused requests by error code.', () =>
        [...this.errors].map(([code, value]) => ({ labels: { code }, value })),
      ),
      histogram('llm0_request_duration_ms', 'Request duration in milliseconds.', this.latency),
      histogram('llm0_time_to_first_token_ms', 'Time to the first output in milliseconds, streams only.', this.ttft),
      histogram('llm0_overhead_ms', "Gateway's part of the time to first byte, in milliseconds.", this.overhead),
    ];
    for (const family of families) registry.registerMetric(asMetric(family));
  }

  private sumBy(names: readonly (keyof Cell['labels'])[], value: (cell: Cell) => number, more = {}): Sample[] {
    const sums = new Map<string, { labels: Record<string, string>; value: number }>();
    for (const cell of this.cells.values()) {
      const labels: Record<string, string> = { ...more };
      for (const name of names) labels[name] = cell.labels[name];
      sums.getOrInsertComputed(JSON.stringify(labels), () => ({ labels, value: 0 })).value += value(cell);
    }
    return [...sums.values()].filter((sum) => sum.value > 0);
  }
}

type Observed = Map<string, { labels: Record<string, string>; buckets: Buckets }>;

const bucketsOf = (observed: Observed, labels: Record<string, string>, bounds: readonly number[]): Buckets =>
  observed.getOrInsertComputed(JSON.stringify(labels), () => ({ labels, buckets: new Buckets(bounds) })).buckets;

/** A metric as prom-client's registry uses it. */
export function asMetric({ name, help, type, samples }: Family): Metric {
  const get = () => Promise.resolve({ name, help, type, aggregator: 'sum', values: [...samples()] });
  return { name, help, type, aggregator: 'sum', get, reset: () => {} } as unknown as Metric;
}

/** A histogram without labels that is cheap enough for every request and every chunk. */
export class PlainHistogram extends Buckets {
  constructor(options: {
    readonly name: string;
    readonly help: string;
    readonly bounds: readonly number[];
    readonly registry: Registry;
  }) {
    const { name, help, bounds, registry } = options;
    super(bounds);
    registry.registerMetric(asMetric({ name, help, type: 'histogram', samples: () => this.samples(name, {}) }));
  }
}
