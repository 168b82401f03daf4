import { afterEach, describe, expect, test } from 'bun:test';
import { type DecodedRecord, encodeLogRecord } from '@llm0/core/logs/decode-log-record';
import type { LogRecord } from '@llm0/core/logs/log-record';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import type { StoredRecords } from '@llm0/core/tracing/span';
import { type Answer, type Collector, startCollector } from '@llm0/testing/fake-upstream/start-collector';
import { undisturbedMs } from '@llm0/testing/thread-time';
import { Metrics } from '../metrics';
import { createTelemetry, type TelemetryNeeds } from './create-telemetry';
import { requestRow, TRACE } from './request-row.fixture';

const SECRET = 'Basic c2VjcmV0LXRva2Vu';

const row = (more: Partial<LogRecord> = {}): DecodedRecord => encodeLogRecord(requestRow(more));
const rows = (count: number): StoredRecords => ({ requests: Array.from({ length: count }, () => row()), calls: [] });

let collector: Collector;
afterEach(() => collector.stop());

/** Nothing listens there; the port of a stopped server may be a neighbour's by now. */
const AWAY = { endpoint: 'http://127.0.0.1:1' };

function open(answer?: Answer, more: Partial<TelemetryNeeds['settings']> = {}) {
  collector = startCollector(answer);
  const metrics = new Metrics();
  const lines: unknown[] = [];
  const telemetry = createTelemetry({
    settings: {
      ...{ endpoint: collector.url, headers: { authorization: SECRET }, protocol: 'http/protobuf', traces: true },
      ...{ metrics: false, serviceName: 'gateway', resource: { team: 'a' }, content: false, onlyLatestNames: true },
      ...{ sampler: { name: 'always_on', ratio: 1 }, spanDelayMs: 20, metricsEveryMs: 60_000 },
      ...more,
    },
    ...{ version: '1.2.3', metrics, isKnown: () => true, nowMs: Date.now },
    log: { warn: (...line: unknown[]) => lines.push(line), info: (...line: unknown[]) => lines.push(line) },
    loadBodies: async () => new Map(),
  });
  const counted = async (metric: 'otlpExported' | 'otlpDrops' | 'otlpFailures') =>
    Object.fromEntries(
      (await metrics[metric].get()).values.map(({ labels, value }) => [Object.values(labels).join(' '), value]),
    );
  return { telemetry, metrics, lines, counted, received: collector.received };
}

describe.each(['http/protobuf', 'http/json'] as const)('spans over %s', (protocol) => {
  test('arrive as they were made', async () => {
    const { telemetry, received, counted } = open(undefined, { protocol });
    const given = row();
    telemetry.observer.take({ requests: [given], calls: [] });
    await telemetry.close(5_000);
    expect(received.headers[0]?.get('authorization')).toBe(SECRET);
    expect(received.spans.map(({ name, kind }) => [name, kind])).toEqual([
      ['POST /v1/chat/completions', 2],
      ['chat gpt-one', 3],
    ]);
    const [server, client] = received.spans;
    expect(server).toMatchObject({
      ...{
        traceId: TRACE,
        spanId: given.record.id.replaceAll('-', '').slice(16),
        parentSpanId: '',
        traceState: 'rojo=1',
      },
      ...{ startMs: 1_700_000_000_000.5, endMs: 1_700_000_000_100.75, status: { code: 0 } },
      resource: { 'service.name': 'gateway', 'service.version': '1.2.3', team: 'a' },
    });
    expect(client).toMatchObject({
      ...{ parentSpanId: server?.spanId, traceId: TRACE },
      attributes: {
        ...{ 'gen_ai.provider.name': 'openai', 'gen_ai.usage.input_tokens': 10, 'gen_ai.request.stream': true },
        'gen_ai.response.time_to_first_chunk': 0.035,
      },
    });
    expect(await counted('otlpExported')).toEqual({ traces: 1 });
  });

  test('a number has one type, whole or not', async () => {
    const { telemetry, received } = open(undefined, { protocol });
    const detail = { temperature: 1, topP: 1, topK: 4 };
    const trace = { startMs: 1_700_000_000_000.5, detail };
    const whole = { costNanoUsd: 0, savedNanoUsd: 2e9, ttftMs: 5, upstreamMs: 0, overheadMs: 3, similarityScore: 1 };
    telemetry.observer.take({ requests: [row({ trace, ...whole }), row({ trace, upstreamMs: 1.5 })], calls: [] });
    await telemetry.close(5_000);
    const [server, client] = received.spans;
    expect(server?.doubles.toSorted()).toEqual([
      ...['llm0.cache_similarity', 'llm0.cost_usd', 'llm0.overhead_ms', 'llm0.saved_usd', 'llm0.ttft_ms'],
      'llm0.upstream_ms',
    ]);
    expect(server?.attributes).toMatchObject({ 'llm0.cost_usd': 0, 'llm0.saved_usd': 2, 'llm0.tokens_in': 10 });
    expect(client?.doubles.toSorted()).toEqual([
      ...['gen_ai.request.temperature', 'gen_ai.request.top_p', 'gen_ai.response.time_to_first_chunk', 'llm0.cost_usd'],
    ]);
    expect(client?.attributes).toMatchObject({ 'gen_ai.request.temperature': 1, 'gen_ai.request.top_k': 4 });
  });

  test('metrics: those of the conventions, and ours', async () => {
    const { telemetry, metrics, received } = open(undefined, { protocol, metrics: true, traces: false });
    metrics.observeRecord(row().record);
    metrics.hedges.inc({ provider: 'openai' });
    telemetry.observer.take({ requests: [row(), row({ cacheHit: true, attempts: undefined })], calls: [] });
    await telemetry.close(5_000);
    const of = (name: string) => received.metrics.find((metric) => metric.name === name);
    expect(of('gen_ai.client.operation.duration')).toMatchObject({
      ...{ kind: 'histogram', unit: 's' },
      points: [{ attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-one' } }],
    });
    const tokens = of('gen_ai.client.token.usage')?.points.map(({ attributes, value }) => [
      attributes['gen_ai.token.type'],
      (value as { sum: number }).sum,
    ]);
    expect(tokens).toEqual([
      ['input', 10],
      ['output', 5],
    ]);
    expect(of('gen_ai.client.operation.time_to_first_chunk')?.points[0]?.value).toMatchObject({ sum: 0.04 });
    expect(of('llm0_hedges_superseded_total')).toMatchObject({
      ...{ kind: 'sum', points: [{ attributes: { provider: 'openai' }, value: 1 }] },
    });
    const duration = of('llm0_request_duration_ms')?.points[0]?.value as Record<
      'bucketCounts' | 'explicitBounds',
      number[]
    >;
    expect(duration).toMatchObject({ sum: 100.25 });
    expect(duration.bucketCounts.map(Number).reduce((all, one) => all + one)).toBe(1);
    expect(duration.bucketCounts.length).toBe(duration.explicitBounds.length + 1);
    expect(received.spans).toEqual([]);
  });
});

describe('a collector that', () => {
  test('is busy is asked again, when it says so', async () => {
    let asked = 0;
    const { telemetry, counted, received } = open(() => {
      asked += 1;
      return asked < 3 ? new Response(null, { status: 503, headers: { 'retry-after': '0' } }) : new Response();
    });
    telemetry.observer.take(rows(3));
    await telemetry.close(20_000);
    expect([received.posts, received.spans.length]).toEqual([3, 6]);
    expect([await counted('otlpExported'), await counted('otlpDrops')]).toEqual([{ traces: 3 }, {}]);
  }, 20_000);

  test.each([400, 401, 404, 413, 302])(
    'refuses with %d is not asked again, and the loss is counted',
    async (status) => {
      const { telemetry, counted, received, lines } = open(
        () => new Response('no', { status, headers: { location: 'http://127.0.0.1:1/' } }),
      );
      telemetry.observer.take(rows(2));
      await telemetry.close(5_000);
      expect([received.posts, await counted('otlpDrops')]).toEqual([1, { 'traces refused': 2 }]);
      expect(lines).toHaveLength(1);
      expect(JSON.stringify(lines)).not.toContain(SECRET);
    },
  );

  test('is down, or hangs, costs what waits and no more time than given', async () => {
    const hangs = () => new Promise<Response>(() => {});
    for (const answer of [hangs, () => new Response(null, { status: 503, headers: { 'retry-after': '3600' } })]) {
      const { telemetry, counted, lines } = open(answer);
      telemetry.observer.take(rows(5));
      const startMs = performance.now();
      await telemetry.close(300);
      expect(performance.now() - startMs).toBeLessThan(2_000);
      expect(Object.values(await counted('otlpDrops'))).toEqual([5]);
      expect(JSON.stringify(lines)).toMatch(/the gateway stops|answered with status 503/);
      expect(JSON.stringify(lines)).not.toContain(SECRET);
      collector.stop();
    }
    const { telemetry, counted } = open(undefined, AWAY);
    telemetry.observer.take(rows(5));
    await telemetry.close(300);
    // A busy machine may be told to stop before it knows why.
    expect(Object.values(await counted('otlpDrops'))).toEqual([5]);
  });

  test('is away is told at the first request that fails, once, and not waited for at the end', async () => {
    const { telemetry, counted, lines } = open(undefined, { ...AWAY, metrics: true, metricsEveryMs: 100 });
    const startMs = performance.now();
    telemetry.start(async () => {});
    telemetry.observer.take(rows(2));
    while (lines.length < 2 && performance.now() - startMs < 8_000) await Bun.sleep(20);
    await Bun.sleep(1_500);
    expect(lines).toHaveLength(2);
    for (const signal of ['metrics', 'traces']) {
      expect(lines).toContainEqual([
        { signal, reason: expect.stringContaining('cannot be reached') },
        'telemetry waits for the collector',
      ]);
      expect((await counted('otlpFailures'))[`${signal} unreachable`]).toBeGreaterThanOrEqual(1);
    }
    expect(await counted('otlpDrops')).toEqual({});
    const closingMs = performance.now();
    await telemetry.close(10_000);
    expect(performance.now() - closingMs).toBeLessThan(2_200);
    expect(Object.entries(await counted('otlpDrops')).find(([name]) => name.startsWith('traces'))?.[1]).toBe(2);
  }, 20_000);

  test('hangs is waited for no longer than a second at the end; one that answers is', async () => {
    const hanging = open(() => new Promise<Response>(() => {}), { metrics: true });
    hanging.telemetry.observer.take(rows(3));
    const startMs = performance.now();
    await hanging.telemetry.close(10_000);
    expect(performance.now() - startMs).toBeLessThan(2_200);
    expect((await hanging.counted('otlpDrops'))['traces shutdown']).toBe(3);
    collector.stop();
    const slow = open(async () => {
      await Bun.sleep(200);
      return Response.json({});
    });
    slow.telemetry.observer.take(rows(3));
    await slow.telemetry.close(10_000);
    expect(await slow.counted('otlpExported')).toEqual({ traces: 3 });
  }, 20_000);

  test('is found to be away at the end is not waited for either', async () => {
    const { telemetry, counted } = open(undefined, { ...AWAY, metrics: true });
    telemetry.observer.take(rows(3));
    const startMs = performance.now();
    await telemetry.close(10_000);
    expect(performance.now() - startMs).toBeLessThan(2_200);
    const lost = Object.entries(await counted('otlpDrops'));
    expect(lost.filter(([name]) => name.startsWith('traces')).reduce((sum, [, items]) => sum + items, 0)).toBe(3);
  }, 20_000);

  test('is slower than requests come: what waits is bounded, the rest counted at once', async () => {
    const hangs = () => new Promise<Response>(() => {});
    const { telemetry, counted } = open(hangs);
    const startMs = undisturbedMs();
    for (let i = 0; i < 20; i++) telemetry.observer.take(rows(1_000));
    expect(undisturbedMs() - startMs).toBeLessThan(1_000);
    const dropped = (await counted('otlpDrops'))['traces queue_full'] ?? 0;
    // What waits, and the batch in hand.
    expect(20_000 - dropped).toBeLessThanOrEqual(4_096 + 512);
    await telemetry.close(100);
    const all = Object.values(await counted('otlpDrops')).reduce((sum, one) => sum + one, 0);
    expect(all).toBe(20_000);
  });

  test('takes a part: the rest is counted', async () => {
    const partial = () => Response.json({ partialSuccess: { rejectedSpans: '1', errorMessage: 'too old' } });
    const { telemetry, counted } = open(partial, { protocol: 'http/json' });
    telemetry.observer.take(rows(2));
    await telemetry.close(5_000);
    expect([await counted('otlpExported'), await counted('otlpDrops')]).toEqual([
      { traces: 1 },
      { 'traces rejected': 1 },
    ]);
  });

  test.each([
    ['nonsense', 'nonsense'],
    ['endless', 'x'.repeat(200_000)],
  ])('answers %s has taken it', async (_what, text) => {
    const { telemetry, counted } = open(() => new Response(text));
    telemetry.observer.take(rows(2));
    await telemetry.close(5_000);
    expect(await counted('otlpExported')).toEqual({ traces: 2 });
  });
});

describe('rows', () => {
  test('unsampled traces and corrections make no spans', async () => {
    const { telemetry, received } = open();
    telemetry.observer.take({ requests: [row({ trace: undefined }), row({ corrects: true })], calls: [] });
    await telemetry.close(5_000);
    expect(received.posts).toBe(0);
  });

  test('calls have a gateway span and a server span, by the MCP conventions', async () => {
    const { telemetry, received } = open();
    const call: ToolCallRecord = {
      kind: 'tool_call',
      ...{ id: crypto.randomUUID(), createdAtMs: 1, projectId: 'p', apiKeyId: 'k', runId: 'run' },
      ...{ serverId: 's', server: 'web', tool: 'search', isError: true, durationMs: 10 },
      status: 'success',
      ...{ bytesIn: 1, bytesOut: 2, costNanoUsd: 1_000_000, traceId: TRACE, trace: { startMs: 1 } },
    };
    telemetry.observer.take({
      requests: [],
      calls: [
        call,
        { ...call, id: crypto.randomUUID(), errorCode: 'not_found' },
        { ...call, id: crypto.randomUUID(), tool: 'prompts/get', status: 'error', errorCode: 'rpc_-32602' },
      ],
    });
    await telemetry.close(5_000);
    expect(received.spans.map(({ name, kind }) => [name, kind])).toEqual([
      ['tools/call search', 2],
      ['tools/call search', 3],
      ['tools/call search', 2],
      ['prompts/get', 2],
      ['prompts/get', 3],
    ]);
    expect(received.spans[4]).toMatchObject({
      attributes: { 'error.type': '-32602', 'rpc.response.status_code': '-32602', 'mcp.method.name': 'prompts/get' },
    });
    expect(received.spans[1]).toMatchObject({
      parentSpanId: received.spans[0]?.spanId,
      attributes: {
        ...{ 'mcp.method.name': 'tools/call', 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search' },
        ...{ 'error.type': 'tool_error', 'llm0.mcp.server': 'web', 'llm0.cost_usd': 0.001 },
      },
    });
  });
});
