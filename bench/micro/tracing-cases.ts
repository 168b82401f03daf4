import type { LogRecord } from '@llm0/core/logs/log-record';
import { makeSpans, passTraces } from '@llm0/core/tracing/request-trace';
import { createSampler } from '@llm0/core/tracing/sampler';
import { buildRequestSpans } from '@llm0/gateway/observe/telemetry/build-request-spans';
import { OtlpEncoder } from '@llm0/gateway/observe/telemetry/encode-otlp';
import type { MicroCase } from './cases';

const ID = '01932e4c-5f60-7abc-9def-0123456789ab';
const TRACE = '0af7651916cd43dd8448eb211c80319c';

const ROW: LogRecord = {
  ...{ id: ID, createdAtMs: 1_700_000_000_010, projectId: ID, apiKeyId: ID, dialect: 'openai-chat' },
  ...{ model: 'gpt-4o-mini', requestedModel: 'gpt-4o-mini', provider: 'openai', finalProvider: 'openai' },
  ...{ tokensIn: 900, tokensOut: 420, tokensCacheRead: 300, tokensCacheWrite: 0, tokensReasoning: 0 },
  ...{ costNanoUsd: 20_000, savedNanoUsd: 0, costEstimated: false, latencyMs: 100.25, ttftMs: 40, overheadMs: 0.5 },
  ...{ stream: true, cacheHit: false, semanticCacheHit: false, failoverCount: 0, status: 'success', httpStatus: 200 },
  costDetail: { input: 10_000, output: 10_000, price_source: 'seed' },
  traceId: TRACE,
  trace: { startMs: 1_700_000_000_000, holdNanoUsd: 50_000, detail: { temperature: 0, finishReasons: ['stop'] } },
  attempts: [
    { provider: 'openai', model: 'gpt-4o-mini', outcome: 'ok', status: 200, startMs: 5, latencyMs: 60, span: 1 },
  ],
};
const ROWS = 100;

/** What tracing costs on the path of a request, and what a row costs once it is stored. */
export function tracingCases(): readonly MicroCase[] {
  const on = makeSpans(createSampler('parentbased_always_on', 1), Date.now);
  const [bare, traced] = [new Headers(), new Headers({ traceparent: `00-${TRACE}-00f067aa0ba902b7-01` })];
  const options = { onlyLatestNames: false };
  const spans = Array.from({ length: ROWS }, () => buildRequestSpans(ROW, options)).flat();
  const encoder = new OtlpEncoder({
    ...{ protocol: 'http/protobuf', version: '1' },
    resource: { 'service.name': 'bench' },
  });
  return [
    { name: 'trace: off, none given', run: () => passTraces.begin(bare, ID) === undefined },
    { name: 'trace: on, one given', run: () => on.begin(traced, ID)?.headersFrom(1) },
    { name: 'trace: both spans of a row', run: () => buildRequestSpans(ROW, options) },
    { name: `trace: encode the spans of ${ROWS} rows`, run: () => encoder.encodeSpans(spans) },
  ];
}
