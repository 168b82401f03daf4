import type { LogRecord } from '@llm0/core/logs/log-record';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import type { Attributes } from '@llm0/core/tracing/span';
import { type KnownModel, modelLabel } from '../record-metrics';
import { attemptsOf } from './build-request-spans';
import { wasRefused } from './build-tool-spans';
import { operationOf } from './describe-http';
import { ATTR, METRIC, providerName } from './names';
import type { Rows } from './rows';
import { AttributeWriter } from './span-attributes';

/** Buckets of the conventions. Source: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/ */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** Maximum of series in one metric; further ones share an overflow series. */
const MOST_SERIES = 2_000;
const OVERFLOW: Attributes = { 'otel.metric.overflow': true };

/** One series of a histogram, cumulative since the process began. */
export interface Series {
  readonly attributes: Attributes;
  readonly counts: number[];
  count: number;
  sum: number;
}

/** A histogram with explicit bounds. */
export class GenAiHistogram {
  private readonly byKey = new Map<string, Series>();

  constructor(
    readonly name: string,
    readonly description: string,
    readonly unit: string,
    readonly bounds: readonly number[],
  ) {}

  observe(value: number, attributes: Attributes): void {
    const series = this.seriesOf(attributes);
    let index = 0;
    while (index < this.bounds.length && value > (this.bounds[index] ?? 0)) index++;
    series.counts[index] = (series.counts[index] ?? 0) + 1;
    series.count += 1;
    series.sum += value;
  }

  get series(): readonly Series[] {
    return [...this.byKey.values()];
  }

  private seriesOf(attributes: Attributes): Series {
    const key = JSON.stringify(attributes);
    const known = this.byKey.get(key);
    if (known !== undefined) return known;
    if (this.byKey.size >= MOST_SERIES && attributes !== OVERFLOW) return this.seriesOf(OVERFLOW);
    const counts = new Array<number>(this.bounds.length + 1).fill(0);
    const series = { attributes, counts, count: 0, sum: 0 };
    this.byKey.set(key, series);
    return series;
  }
}

/** The metrics of the GenAI and MCP conventions, from rows, sampled or not. */
export class GenAiMetrics {
  private readonly duration = new GenAiHistogram(METRIC.operationDuration, 'Duration of an operation.', 's', SECONDS);
  private readonly tokens = new GenAiHistogram(METRIC.tokenUsage, 'Tokens of an operation.', '{token}', TOKENS);
  private readonly firstChunk = new GenAiHistogram(
    METRIC.timeToFirstChunk,
    'Time until the first chunk of a streamed answer.',
    's',
    SECONDS,
  );
  private readonly toolDuration = new GenAiHistogram(METRIC.toolDuration, 'Duration of an MCP request.', 's', SECONDS);
  readonly histograms: readonly GenAiHistogram[] = [this.duration, this.tokens, this.firstChunk, this.toolDuration];

  constructor(private readonly options: { readonly isKnown: KnownModel; readonly onlyLatestNames: boolean }) {}

  take({ requests, calls }: Rows): void {
    for (const record of requests) if (record.corrects !== true) this.takeRequest(record);
    for (const call of calls) if (call.corrects !== true) this.takeCall(call);
  }

  /**
   * Reads the row, because without tracing the attempts have no numbers. Cache hits and requests without a model aren't
   * operations.
   */
  private takeRequest(record: LogRecord): void {
    const { finalProvider, provider = finalProvider, latencyMs, stream, ttftMs, status, errorCode } = record;
    const isAsked = finalProvider !== undefined || (record.attempts ?? []).length > 0 || attemptsOf(record).length > 0;
    if (record.dialect === 'infer' || provider === undefined || !isAsked || record.cacheHit || record.semanticCacheHit)
      return;
    const named = this.attributesOf(record, finalProvider ?? provider);
    const failed = status === 'success' ? named : { ...named, [ATTR.errorType]: errorCode ?? status };
    this.duration.observe(latencyMs / 1000, failed);
    if (finalProvider === undefined) return;
    this.tokens.observe(record.tokensIn, { ...named, [ATTR.tokenType]: 'input' });
    if (record.dialect !== 'openai-embeddings') {
      this.tokens.observe(record.tokensOut, { ...named, [ATTR.tokenType]: 'output' });
    }
    if (stream && ttftMs !== undefined) this.firstChunk.observe(ttftMs / 1000, named);
  }

  private attributesOf(record: LogRecord, provider: string): Attributes {
    const model = modelLabel(this.options.isKnown, provider, record.model);
    return new AttributeWriter(this.options.onlyLatestNames).add({
      operation: operationOf(record),
      provider: providerName(provider),
      ...{ requestModel: model, responseModel: model },
    }).attributes;
  }

  private takeCall(call: ToolCallRecord): void {
    const { tool, server, durationMs, errorCode, isError } = call;
    // Callers may invent names, so only names that reached a server count separately.
    const toolName = wasRefused(call) ? undefined : tool;
    const errorType = errorCode ?? (isError ? 'tool_error' : undefined);
    const { attributes } = new AttributeWriter(true)
      .add({ mcpMethod: 'tools/call', toolName, errorType })
      .addOwn({ toolServer: server });
    this.toolDuration.observe(durationMs / 1000, attributes);
  }
}
