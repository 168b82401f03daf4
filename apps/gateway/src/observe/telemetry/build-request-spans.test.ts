import { describe, expect, test } from 'bun:test';
import type { LogRecord } from '@llm0/core/logs/log-record';
import { serverOf } from '@llm0/core/tracing/request-trace';
import type { Span } from '@llm0/core/tracing/span';
import { attemptSpanId, requestSpanId } from '@llm0/core/tracing/trace-context';
import { runs } from '@llm0/testing/lane';
import * as registry from '@opentelemetry/semantic-conventions/incubating';
import fc from 'fast-check';
import { buildRequestSpans } from './build-request-spans';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = '00f067aa0ba902b7';
const ID = '01932e4c-5f60-7abc-9def-0123456789ab';
const ERROR_TEXT = 'the prompt was: my secret plan';

const ROW: LogRecord = {
  ...{ id: ID, createdAtMs: 1_700_000_000_010, projectId: 'p', apiKeyId: 'k', dialect: 'openai-chat' },
  ...{ model: 'gpt-one', requestedModel: 'fast', provider: 'openai', finalProvider: 'openai' },
  ...{ tokensIn: 10, tokensOut: 5, tokensCacheRead: 4, tokensCacheWrite: 0, tokensReasoning: 2 },
  ...{ costNanoUsd: 20_000, savedNanoUsd: 0, costEstimated: false, latencyMs: 100 },
  ...{ stream: false, cacheHit: false, semanticCacheHit: false, failoverCount: 0 },
  ...{ status: 'success', httpStatus: 200, traceId: TRACE },
  trace: { startMs: 1_700_000_000_000, holdNanoUsd: 50_000, detail: { temperature: 0.5, finishReasons: ['stop'] } },
  attempts: [{ provider: 'openai', model: 'gpt-one', outcome: 'ok', status: 200, startMs: 5, latencyMs: 60, span: 1 }],
};
const LATEST = { onlyLatestNames: true };
const build = (more: Partial<LogRecord> = {}, options = LATEST) => buildRequestSpans({ ...ROW, ...more }, options);
const [server, client] = build() as [Span, Span];

describe('the spans of a request', () => {
  test('one of the gateway, and under it one of the attempt', () => {
    expect(server).toMatchObject({
      ...{ traceId: TRACE, spanId: requestSpanId(ID), kind: 'server', name: 'POST /v1/chat/completions' },
      ...{ startMs: 1_700_000_000_000, endMs: 1_700_000_000_100 },
    });
    expect(server.parentSpanId).toBeUndefined();
    expect(client).toMatchObject({
      ...{ traceId: TRACE, spanId: attemptSpanId(ID, 1), parentSpanId: requestSpanId(ID) },
      ...{ kind: 'client', name: 'chat gpt-one', startMs: 1_700_000_000_005, endMs: 1_700_000_000_100 },
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'gpt-one',
        'gen_ai.request.temperature': 0.5,
        'gen_ai.response.model': 'gpt-one',
        'gen_ai.response.finish_reasons': ['stop'],
        'gen_ai.usage.input_tokens': 10,
        'gen_ai.usage.output_tokens': 5,
        'gen_ai.usage.cache_read.input_tokens': 4,
        'llm0.cost_usd': 0.00002,
      },
    });
    expect(server.attributes).toMatchObject({
      ...{ 'http.response.status_code': 200, 'llm0.cache': 'miss', 'llm0.cost_usd': 0.00002, 'llm0.hold_usd': 0.00005 },
      ...{ 'llm0.requested_model': 'fast', 'llm0.request.id': ID },
    });
    expect(Object.keys(server.attributes).filter((name) => name.startsWith('gen_ai.'))).toEqual([]);
  });

  test('a plain HTTP backend is no model: its attempt is a call of HTTP', () => {
    const attempts = [
      { provider: 'infer:py', model: 'py', outcome: 'server_error', status: 503, startMs: 1, latencyMs: 2, span: 1 },
      { provider: 'infer:py', model: 'py', outcome: 'ok', status: 404, startMs: 5, latencyMs: 60, span: 2 },
    ];
    const named = { provider: 'infer:py', finalProvider: 'infer:py', model: 'py', requestedModel: 'GET /predict' };
    const failed = { status: 'error', httpStatus: 404, errorCode: 'upstream_rejected' } as const;
    const [server, first, second] = build({ dialect: 'infer', ...named, ...failed, attempts });
    expect([server?.name, first?.name, second?.name]).toEqual(['GET /infer/{backend}/*', 'GET', 'GET']);
    expect(first?.attributes).toEqual({
      ...{ 'http.request.method': 'GET', 'http.response.status_code': 503, 'error.type': '503' },
      ...{ 'llm0.provider': 'infer:py', 'llm0.attempt.number': 1, 'llm0.attempt.outcome': 'server_error' },
    });
    expect(second).toMatchObject({
      error: '404',
      attributes: { 'http.response.status_code': 404, 'error.type': '404', 'llm0.cost_usd': 0.00002 },
    });
  });

  test('a plain HTTP backend is told by its scheme, host and port', () => {
    const attempts = [
      { provider: 'infer:py', model: 'py', outcome: 'ok', status: 200, startMs: 1, latencyMs: 2, span: 1 },
    ];
    const server = serverOf('https://user:pass@[::1]:8443/secret?key=x');
    const [, call] = build({
      ...{ dialect: 'infer', provider: 'infer:py', model: 'py', requestedModel: 'GET /predict', attempts },
      trace: { startMs: 1, server },
    });
    expect(call?.attributes).toMatchObject({ 'url.scheme': 'https', 'server.address': '::1', 'server.port': 8443 });
    expect(JSON.stringify(call)).not.toMatch(/user|pass|secret/);
  });

  test.each([
    ['http://py.internal/x', { scheme: 'http', address: 'py.internal', port: 80 }],
    ['https://10.0.0.7', { scheme: 'https', address: '10.0.0.7', port: 443 }],
    ['nowhere', undefined],
    ['mailto:a@b', undefined],
  ])('%s leads to %p', (url, server) => expect(serverOf(url)).toEqual(server));

  test('names of models are bounded, and have no control characters in them', () => {
    const model = `m\n\u0000\u009f\u2028${'😀'.repeat(300)}`;
    const kept = `m${'😀'.repeat(255)}`;
    const made = { provider: 'openai', model, outcome: 'ok', status: 200, startMs: 5, latencyMs: 60, span: 1 };
    const skipped = { provider: 'openai', model, outcome: 'breaker_open', startMs: 1, latencyMs: 0 };
    const [server, call] = build({ model, requestedModel: model, attempts: [skipped, made] });
    expect(call).toMatchObject({
      name: `chat ${kept}`,
      attributes: { 'gen_ai.request.model': kept, 'gen_ai.response.model': kept },
    });
    expect(server?.attributes).toMatchObject({ 'llm0.model': kept, 'llm0.requested_model': kept });
    expect(server?.events?.[0]?.attributes).toMatchObject({ 'llm0.model': kept });
  });

  test('the caller is the parent, and its state goes along', () => {
    const [span] = build({ trace: { startMs: 1, parent: CALLER, state: 'rojo=1' } });
    expect(span).toMatchObject({ parentSpanId: CALLER, isParentRemote: true, state: 'rojo=1' });
  });

  test('none where the trace is not exported', () => {
    expect(build({ trace: undefined })).toEqual([]);
  });

  test('failover: each attempt under the request, usage on the one that answered alone', () => {
    const spans = build({
      ...{ failoverCount: 1, finalProvider: 'gemini', model: 'gemini-two', costNanoUsd: 30_000 },
      costDetail: { input: 20_000, other_attempts: 10_000 },
      attempts: [
        { provider: 'slow', model: 'm', outcome: 'breaker_open', startMs: 1, latencyMs: 0 },
        {
          provider: 'openai',
          model: 'gpt-one',
          outcome: 'timeout',
          startMs: 1,
          latencyMs: 40,
          costNanoUsd: 10_000,
          span: 1,
        },
        { provider: 'gemini', model: 'gemini-two', outcome: 'ok', status: 200, startMs: 45, latencyMs: 50, span: 2 },
      ],
    });
    expect(spans.map(({ name, parentSpanId, error }) => [name, parentSpanId, error])).toEqual([
      ['POST /v1/chat/completions', undefined, undefined],
      ['chat gpt-one', requestSpanId(ID), 'timeout'],
      ['chat gemini-two', requestSpanId(ID), undefined],
    ]);
    expect(spans.map(({ attributes }) => attributes['gen_ai.usage.input_tokens'])).toEqual([undefined, undefined, 10]);
    expect(spans.slice(1).map(({ attributes }) => attributes['gen_ai.provider.name'])).toEqual([
      'openai',
      'gcp.gemini',
    ]);
    expect(spans.map(({ attributes }) => attributes['llm0.cost_usd'])).toEqual([0.00003, 0.00001, 0.00002]);
    expect(spans[1]?.attributes['error.type']).toBe('timeout');
    expect(spans[1]?.endMs).toBe(1_700_000_000_041);
    expect(spans[0]?.events?.map(({ name, attributes }) => [name, attributes['llm0.provider']])).toEqual([
      ['llm0.target.skipped', 'slow'],
    ]);
  });

  test('a hedged pair overlaps; the slower one is no answer', () => {
    const spans = build({
      attempts: [
        { provider: 'a', model: 'm', outcome: 'superseded', startMs: 1, latencyMs: 60, span: 1 },
        { provider: 'b', model: 'm', outcome: 'ok', startMs: 30, latencyMs: 31, span: 2 },
      ],
    });
    const [, first, second] = spans as [Span, Span, Span];
    expect(second.startMs).toBeLessThan(first.endMs);
    expect([first.error, second.error]).toEqual(['superseded', undefined]);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(3);
  });

  test('a hit is one span alone', () => {
    const spans = build({ attempts: undefined, cacheHit: true, savedNanoUsd: 20_000, costNanoUsd: 0 });
    expect(spans).toHaveLength(1);
    expect(spans[0]?.attributes).toMatchObject({ 'llm0.cache': 'exact', 'llm0.saved_usd': 0.00002 });
  });

  test('a stream that its caller left: the attempt ends with the request, and says why', () => {
    const [whole, attempt] = build({
      ...{ stream: true, status: 'aborted', httpStatus: 499, errorCode: 'client_closed', ttftMs: 25, latencyMs: 900 },
    }) as [Span, Span];
    expect([whole.error, attempt.error]).toEqual([undefined, 'client_closed']);
    expect(attempt.endMs - whole.startMs).toBe(900);
    expect(attempt.attributes).toMatchObject({
      ...{ 'gen_ai.response.time_to_first_chunk': 0.02, 'error.type': 'client_closed', 'gen_ai.request.stream': true },
    });
  });

  test('a refusal is one span, and no error of the gateway; a failure of all targets is one', () => {
    const refused = build({
      attempts: undefined,
      finalProvider: undefined,
      httpStatus: 429,
      errorCode: 'rate_limit_exceeded',
    });
    expect(refused.map(({ error, attributes }) => [error, attributes['error.type']])).toEqual([
      [undefined, 'rate_limit_exceeded'],
    ]);
    expect(build({ httpStatus: 502, status: 'error', errorCode: 'upstream_error' })[0]?.error).toBe('upstream_error');
    // Nothing was asked because the caller wanted it so.
    expect(build({ httpStatus: 504, status: 'aborted', errorCode: 'not_cached' })[0]?.error).toBeUndefined();
  });

  test('a native request has one attempt, from what its row says', () => {
    const spans = build({ dialect: 'passthrough', attempts: undefined, upstreamMs: 80 });
    expect(spans.map(({ name, startMs }) => [name, startMs])).toEqual([
      ['HTTP /passthrough/{provider}/*', 1_700_000_000_000],
      ['passthrough gpt-one', 1_700_000_000_020],
    ]);
    expect(build({ dialect: 'passthrough', attempts: undefined, upstreamMs: undefined })).toHaveLength(1);
  });

  test.each([
    [
      'POST',
      '/v1beta/models/gemini-1:streamGenerateContent',
      '/v1beta/models/{model}:streamGenerateContent',
      'generate_content',
    ],
    ['POST', '/v1beta/models/gemini-1:made-up', '/v1beta/models/{model}:{method}', 'passthrough'],
    ['POST', '/x1/models/a%2Fb:embedContent', '/{version}/models/{model}:embedContent', 'embeddings'],
    ['POST', '/passthrough/gemini/v1beta/models/g:generateContent', '/passthrough/{provider}/*', 'generate_content'],
    ['POST', '/passthrough/openai/v1/chat/completions', '/passthrough/{provider}/*', 'chat'],
    ['GET', '/passthrough/openai/v1/files', '/passthrough/{provider}/*', 'passthrough'],
    ['BREW', '/passthrough/openai/v1/constructor', '/passthrough/{provider}/*', 'passthrough'],
  ])('a native request %s %s is described as it came', (method, path, route, operation) => {
    const trace = { startMs: 1_700_000_000_000, http: { method, path } };
    const native = { dialect: 'passthrough', attempts: undefined, upstreamMs: 80, trace } as const;
    const [inside, outside] = build(native);
    const shown = method === 'BREW' ? '_OTHER' : method;
    expect(inside).toMatchObject({
      name: `${method === 'BREW' ? 'HTTP' : method} ${route}`,
      attributes: { 'http.request.method': shown, 'http.route': route, 'url.path': path },
    });
    expect([outside?.name, outside?.attributes['gen_ai.operation.name']]).toEqual([`${operation} gpt-one`, operation]);
  });

  test('events name rule and count of findings', () => {
    const mark = { rule: 'no-cards', on: 'input', part: 'user', check: 'pii', action: 'redact', count: 2, ms: 0.1 };
    const [span] = build({ guardrails: [mark, { ...mark, shadow: true }] } as Partial<LogRecord>);
    expect(span?.attributes).toMatchObject({
      ...{ 'llm0.guardrail.rules': ['no-cards'], 'llm0.guardrail.actions': ['redact'] },
    });
    expect(span?.events).toMatchObject([
      { name: 'llm0.guardrail.found', attributes: { 'llm0.guardrail.rule': 'no-cards', 'llm0.guardrail.count': 2 } },
      { attributes: { 'llm0.guardrail.shadow': true } },
    ]);
    expect(server.attributes['llm0.guardrail.rules']).toBeUndefined();
  });

  test('names of before go beside the latest unless those alone are wanted', () => {
    expect(client.attributes['gen_ai.system']).toBeUndefined();
    const [, both] = build({}, { onlyLatestNames: false });
    expect([both?.attributes['gen_ai.system'], both?.attributes['gen_ai.provider.name']]).toEqual(['openai', 'openai']);
  });

  test('content and words that may repeat it go out only where somebody asked', () => {
    const failed = { ...ROW, errorCode: 'upstream_rejected', errorMessage: ERROR_TEXT };
    expect(JSON.stringify(buildRequestSpans(failed, LATEST))).not.toContain('secret plan');
    const asked = buildRequestSpans(failed, { ...LATEST, content: { input: '[{"role":"user"}]', output: '[]' } });
    expect(asked[1]?.attributes).toMatchObject({ 'gen_ai.input.messages': '[{"role":"user"}]' });
    expect(asked[0]?.attributes['llm0.error.message']).toBe(ERROR_TEXT);
  });

  test('any row gives one tree of spans with known names', () => {
    const known = new Set(
      Object.entries(registry).flatMap(([name, value]) => (name.startsWith('ATTR_') ? [value as unknown] : [])),
    );
    const outcome = fc.constantFrom('ok', 'timeout', 'rate_limited', 'superseded', 'aborted');
    const attempts = fc.array(
      fc.record({ outcome, startMs: fc.double({ min: 0, max: 1e5, noNaN: true }), isMade: fc.boolean() }),
    );
    const row = fc.record({
      ...{ status: fc.constantFrom('success', 'error', 'aborted'), httpStatus: fc.integer({ min: 200, max: 599 }) },
      latencyMs: fc.double({ min: 0, max: 1e5, noNaN: true }),
      labels: fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }),
      ...{ stream: fc.boolean(), ttftMs: fc.option(fc.double({ min: 0, max: 1e5, noNaN: true }), { nil: undefined }) },
    });
    fc.assert(
      fc.property(fc.uuid(), row, attempts, (id, given, made) => {
        const listed = made.map(({ outcome, startMs, isMade }, index) => ({
          ...{ provider: 'p', model: 'm', outcome, startMs, latencyMs: 5 },
          ...(isMade ? { span: index + 1 } : {}),
        }));
        const spans = buildRequestSpans({ ...ROW, ...(given as Partial<LogRecord>), id, attempts: listed }, LATEST);
        const [root, ...children] = spans;
        expect(children).toHaveLength(made.filter(({ isMade }) => isMade).length);
        expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
        for (const child of children) expect([child.parentSpanId, child.traceId]).toEqual([root?.spanId, TRACE]);
        for (const { attributes, startMs, endMs } of spans) {
          expect(endMs).toBeGreaterThanOrEqual(startMs);
          for (const name of Object.keys(attributes)) expect(known.has(name) || name.startsWith('llm0.')).toBe(true);
        }
      }),
      { numRuns: runs(50) },
    );
  });
});
