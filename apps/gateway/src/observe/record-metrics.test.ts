import { expect, test } from 'bun:test';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { Metrics } from './metrics';

const record = (more: Partial<LogRecord>): LogRecord => ({
  id: 'x',
  createdAtMs: 0,
  projectId: 'p',
  apiKeyId: 'k',
  dialect: 'openai-chat',
  model: 'gpt-4o-mini',
  requestedModel: 'gpt-4o-mini',
  provider: 'openai',
  finalProvider: 'openai',
  tokensIn: 10,
  tokensOut: 5,
  tokensCacheRead: 0,
  tokensCacheWrite: 0,
  tokensReasoning: 0,
  costNanoUsd: 2_000_000_000,
  savedNanoUsd: 0,
  costEstimated: false,
  latencyMs: 7,
  overheadMs: 0.3,
  ttftMs: 3,
  stream: true,
  cacheHit: false,
  semanticCacheHit: false,
  failoverCount: 0,
  status: 'success',
  httpStatus: 200,
  ...more,
});

test('requests, tokens, money and durations come out as Prometheus text', async () => {
  const metrics = new Metrics();
  metrics.observeRecord(record({}));
  metrics.observeRecord(record({ stream: false, latencyMs: 40 }));
  metrics.observeRecord(record({ cacheHit: true, costNanoUsd: 0, savedNanoUsd: 500_000_000, latencyMs: 100_000 }));
  metrics.observeRecord(record({ status: 'error', errorCode: 'upstream_error', finalProvider: undefined }));
  const text = await metrics.registry.metrics();
  expect(text).toContain(
    'llm0_requests_total{provider="openai",model="gpt-4o-mini",status="success",cache="miss",dialect="openai-chat",stream="true"} 1',
  );
  expect(text).toContain('llm0_tokens_total{direction="in",provider="openai",model="gpt-4o-mini"} 30');
  expect(text).toContain('llm0_cost_usd_total{provider="openai",model="gpt-4o-mini"} 4');
  expect(text).toContain('llm0_saved_usd_total{cache="exact"} 0.5');
  expect(text).toContain('llm0_errors_total{code="upstream_error"} 1');
  expect(text).toContain('llm0_request_duration_ms_bucket{le="10",provider="openai",cache="miss"} 2');
  expect(text).toContain('llm0_request_duration_ms_bucket{le="+Inf",provider="openai",cache="exact"} 1');
  expect(text).toContain('llm0_request_duration_ms_count{provider="openai",cache="miss"} 3');
  expect(text).toContain('# TYPE llm0_overhead_ms histogram');
  expect(metrics.cache).toEqual({ exact: 1, semantic: 0, miss: 2 });
});

test('label values that could break the format are escaped', async () => {
  const metrics = new Metrics();
  metrics.observeRecord(record({ model: 'a"b\\c\nd' }));
  expect(await metrics.registry.metrics()).toContain('model="a\\"b\\\\c\\nd"');
});
