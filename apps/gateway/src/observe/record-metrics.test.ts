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

test('models that nobody but a caller knows share a series, in every metric', async () => {
  const metrics = new Metrics((provider, model) => provider === 'openai' && model === 'gpt-4o-mini');
  metrics.observeRecord(record({}));
  for (let n = 0; n < 100; n++) {
    const invented = { provider: 'openai', model: `invented-${n}` };
    metrics.observeRecord(record({ model: invented.model }));
    metrics.countOpened(invented);
    const mode = n === 50 ? ('open' as const) : ('closed' as const);
    metrics.showTargets([{ ...invented, mode, openForMs: 0, coolForMs: n }]);
  }
  metrics.showTargets([
    { provider: 'openai', model: 'x', mode: 'open', openForMs: 9, coolForMs: 0 },
    { provider: 'openai', model: 'y', mode: 'closed', openForMs: 0, coolForMs: 70 },
  ]);
  const text = await metrics.registry.metrics();
  expect(text).not.toContain('invented');
  expect(text).toContain('llm0_breaker_opened_total{provider="openai",model="other"} 100');
  expect(text).toContain('llm0_breaker_state{provider="openai",model="other"} 2');
  expect(text).toContain('llm0_target_cool_down_ms{provider="openai",model="other"} 70');
  expect(text.match(/^llm0_requests_total\{.*model="other".*\} 100$/m)).not.toBeNull();
  expect(text.match(/^llm0_requests_total\{/gm)).toHaveLength(2);
});

test('guardrail metrics have check and action, never rule or project', async () => {
  const metrics = new Metrics();
  const mark = { rule: 'mail', on: 'input', part: 'user', check: 'pii', action: 'redact', count: 2, ms: 1 } as const;
  const failed = { ...mark, check: 'webhook', action: 'block', count: 0, error: 'timeout' } as const;
  metrics.observeRecord(record({ guardrails: [mark, { ...mark, part: 'system' }, { ...mark, shadow: true }, failed] }));
  const text = await metrics.registry.metrics();
  const finds = 'llm0_guardrail_finds_total{check="pii",action="redact",side="input",outcome=';
  expect(text).toContain(`${finds}"done"} 4`);
  expect(text).toContain(`${finds}"watched"} 2`);
  expect(text).toContain('llm0_guardrail_failures_total{check="webhook",side="input",outcome="timeout"} 1');
  expect(text).not.toContain('mail');
});

test('label values that could break the format are escaped', async () => {
  const metrics = new Metrics();
  metrics.observeRecord(record({ model: 'a"b\\c\nd' }));
  expect(await metrics.registry.metrics()).toContain('model="a\\"b\\\\c\\nd"');
});
