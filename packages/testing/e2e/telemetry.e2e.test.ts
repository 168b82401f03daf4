import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type Collector, type ReceivedSpan, startCollector } from '../fake-upstream/start-collector';
import { startMcpServer, textTool } from '../fake-upstream/start-mcp-server';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { ask, logRow, ON_ONE_KIND, postChat, shareEnvironment, type TestEnvironment, waitUntil } from './environment';
import { testApart } from './test-apart';

const SETUP_MS = 60_000;
const CALLER = '00f067aa0ba902b7';
const PROMPT = 'the password of the vault is hunter2';
const HEADER_SECRET = 'Bearer collector-secret-token';
const SERVER = 2;
const CLIENT = 3;

const newTrace = () => crypto.randomUUID().replaceAll('-', '');

describe.each(ON_ONE_KIND)('OpenTelemetry on %s stores', (kind) => {
  let collector: Collector;
  let world: TestEnvironment;
  let apiKey: string;
  let model: string;
  let serial = 0;

  beforeAll(async () => {
    collector = startCollector();
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${encodeURIComponent(HEADER_SECRET)}`,
      OTEL_SERVICE_NAME: 'gateway-under-test',
      OTEL_SEMCONV_STABILITY_OPT_IN: 'http,gen_ai_latest_experimental',
      OTEL_METRIC_EXPORT_INTERVAL: '500',
      OTEL_BSP_SCHEDULE_DELAY: '20',
      REQUEST_TIMEOUT: '2s',
    };
    world = await shareEnvironment({ kind, env });
    apiKey = (await createTestKey(world.gateway)).apiKey;
  }, SETUP_MS);
  afterAll(async () => {
    await world.close();
    await collector.stop();
  }, SETUP_MS);

  beforeEach(async () => {
    world.upstream.control.reset();
    // A model of its own for each test, so that breakers do not meet: dated versions use their family's chain.
    serial += 1;
    model = `gpt-4o-mini-2023-${String(1 + (serial % 12)).padStart(2, '0')}-${String(1 + (serial % 28)).padStart(2, '0')}`;
    await callAdmin(world.gateway, `/models?provider=openai&model=${model}`, {
      method: 'PUT',
      body: { input_usd_per_million: 0.15, output_usd_per_million: 0.6 },
    });
  });

  const post = (traceId: string, more: Record<string, unknown> = {}, signal?: AbortSignal) =>
    postChat(world.gateway, apiKey, ask(`${PROMPT} ${serial}`, { model, ...more }), {
      headers: { traceparent: `00-${traceId}-${CALLER}-01`, tracestate: 'rojo=1' },
      signal,
    });
  /** The spans of a trace, once there are so many. */
  const spansOf = async (traceId: string, count: number): Promise<readonly ReceivedSpan[]> => {
    const found = () => collector.received.spans.filter((span) => span.traceId === traceId);
    await waitUntil(() => found().length >= count, 10_000);
    return found();
  };
  const check = (spans: readonly ReceivedSpan[]) => {
    const [server, ...attempts] = spans as [ReceivedSpan, ...ReceivedSpan[]];
    expect([server.kind, server.parentSpanId, server.traceState]).toEqual([SERVER, CALLER, 'rojo=1']);
    for (const attempt of attempts) {
      expect([attempt.kind, attempt.parentSpanId]).toEqual([CLIENT, server.spanId]);
      expect(attempt.startMs).toBeGreaterThanOrEqual(server.startMs);
      expect(attempt.endMs).toBeLessThanOrEqual(server.endMs + 0.01);
    }
    return { server, attempts };
  };

  test('a chat, its attempts after a failure, and one from the cache', async () => {
    world.upstream.control.setModel(model, { status: 500 });
    const traceId = newTrace();
    const answer = await post(traceId);
    expect(answer.status).toBe(200);
    const row = await logRow(world.gateway, answer.headers.get('x-request-id') ?? '');
    expect(row.trace_id).toBe(traceId);
    const { server, attempts } = check(await spansOf(traceId, 4));
    expect(server.resource).toMatchObject({ 'service.name': 'gateway-under-test' });
    expect(attempts.map(({ attributes, status }) => [attributes['error.type'], status.code])).toEqual([
      ['server_error', 2],
      ['server_error', 2],
      [undefined, 0],
    ]);
    const sent = world.upstream.requests.map(({ headers }) => headers.traceparent);
    expect(sent).toEqual(attempts.map(({ spanId }) => `00-${traceId}-${spanId}-01`));
    expect(attempts[2]?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
    });

    world.upstream.control.reset();
    const [filling, again] = [newTrace(), newTrace()];
    await (await post(filling, { temperature: 0.5 })).text();
    expect((await post(again, { temperature: 0.5 })).headers.get('x-cache-hit')).toBe('exact');
    const [, asked] = await spansOf(filling, 2);
    expect(asked?.attributes).toMatchObject({
      ...{ 'gen_ai.request.temperature': 0.5, 'gen_ai.response.finish_reasons': ['stop'] },
      'gen_ai.request.model': model,
      'gen_ai.response.id': expect.any(String),
    });
    const hit = check(await spansOf(again, 1));
    expect(hit.attempts).toEqual([]);
    expect(hit.server.attributes).toMatchObject({ 'llm0.cache': 'exact', 'llm0.cost_usd': 0 });
  }, 30_000);

  test('a native request of Gemini: its method, its path, and what it does', async () => {
    const traceId = newTrace();
    const path = '/v1beta/models/gemini-2.5-flash:generateContent';
    const answer = await fetch(`${world.gateway.url}${path}?key=${apiKey}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: `00-${traceId}-${CALLER}-01`, tracestate: 'rojo=1' },
      body: JSON.stringify({ contents: [{ parts: [{ text: PROMPT }] }] }),
    });
    expect(answer.status).toBe(200);
    await answer.text();
    const { server, attempts } = check(await spansOf(traceId, 2));
    expect(server.name).toBe('POST /v1beta/models/{model}:generateContent');
    expect(server.attributes).toMatchObject({
      ...{ 'http.request.method': 'POST', 'http.route': '/v1beta/models/{model}:generateContent', 'url.path': path },
    });
    expect(attempts.map(({ name }) => name)).toEqual(['generate_content gemini-2.5-flash']);
    expect(JSON.stringify([server, attempts])).not.toContain(apiKey);
  }, 30_000);

  test('a hedged pair: both attempts, one of which came second', async () => {
    const second = 'claude-haiku-4-5-20251001';
    const targets = [
      { provider: 'openai', model },
      { provider: 'anthropic', model: second },
    ];
    const alias = `hedged-${kind}`;
    await callAdmin(world.gateway, '/aliases', { body: { alias, targets, hedge_after_ms: 100 } });
    world.upstream.control.setModel(model, { firstDelayMs: 1500 });
    const traceId = newTrace();
    expect((await post(traceId, { model: alias })).status).toBe(200);
    const { attempts } = check(await spansOf(traceId, 3));
    const byModel = Object.fromEntries(attempts.map((span) => [String(span.attributes['gen_ai.request.model']), span]));
    expect(byModel[model]?.attributes['llm0.attempt.outcome']).toBe('superseded');
    expect(byModel[second]?.attributes['llm0.attempt.outcome']).toBe('ok');
    expect(byModel[second]?.startMs).toBeLessThan(byModel[model]?.endMs ?? 0);
    const sent = new Set(world.upstream.requests.map(({ headers }) => headers.traceparent));
    expect(sent).toEqual(new Set(attempts.map(({ spanId }) => `00-${traceId}-${spanId}-01`)));
  }, 30_000);

  test('a stream that its caller leaves', async () => {
    world.upstream.control.setModel(model, { text: 'one two three four five six', gapMs: 300 });
    const traceId = newTrace();
    const leaving = new AbortController();
    const answer = await post(traceId, { stream: true }, leaving.signal);
    const reader = answer.body?.getReader();
    await reader?.read();
    leaving.abort();
    await reader?.cancel().catch(() => {});
    const { server, attempts } = check(await spansOf(traceId, 2));
    expect(server.attributes).toMatchObject({ 'llm0.status': 'aborted', 'http.response.status_code': 499 });
    expect(attempts[0]?.attributes['error.type']).toBe('client_closed');
  }, 30_000);

  test('a request that nobody names a trace for, and one that is not to be sampled', async () => {
    const own = await postChat(world.gateway, apiKey, ask('one', { model }));
    const requestId = own.headers.get('x-request-id') ?? '';
    const traceId = newTrace();
    const unsampled = await postChat(world.gateway, apiKey, ask('two', { model }), {
      headers: { traceparent: `00-${traceId}-${CALLER}-00` },
    });
    expect((await logRow(world.gateway, unsampled.headers.get('x-request-id') ?? '')).trace_id).toBe(traceId);
    const later = newTrace();
    await post(later);
    await spansOf(later, 2);
    const [server] = await spansOf(requestId.replaceAll('-', ''), 2);
    expect([server?.parentSpanId, server?.attributes['llm0.request.id']]).toEqual(['', requestId]);
    expect(collector.received.spans.filter((span) => span.traceId === traceId)).toEqual([]);
  }, 30_000);

  test('a call of a tool, in the trace that its message names', async () => {
    const web = startMcpServer([textTool('search')]);
    try {
      await callAdmin(world.gateway, '/mcp/servers', {
        method: 'POST',
        body: { approve: 'all', alias: `web${kind}`, transport: 'http', url: web.url },
      });
      const { data } = (await callAdmin(world.gateway, '/projects')) as { data: { id: string }[] };
      const key = (await callAdmin(world.gateway, `/projects/${data[0]?.id}/keys`, {
        method: 'POST',
        body: { name: 'agent', allowed_tools: ['*'] },
      })) as { key: string };
      const client = new Client({ name: 'test', version: '1' });
      const requestInit = { headers: { Authorization: `Bearer ${key.key}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', world.gateway.url), { requestInit }));
      const traceId = newTrace();
      await client.callTool({
        name: `web${kind}__search`,
        arguments: { text: PROMPT },
        _meta: { traceparent: `00-${traceId}-${CALLER}-01`, tracestate: 'rojo=1' },
      });
      await client.close();
      const { attempts } = check(await spansOf(traceId, 2));
      expect(attempts[0]?.name).toBe('tools/call search');
      const called = web.seen.find(({ method }) => method === 'tools/call')?.params as {
        _meta: Record<string, string>;
      };
      expect(called._meta).toMatchObject({
        traceparent: `00-${traceId}-${attempts[0]?.spanId}-01`,
        tracestate: 'rojo=1',
      });
      const rows = (await callAdmin(world.gateway, `/tool-calls?trace_id=${traceId}`)) as { data: { tool: string }[] };
      expect(rows.data.map(({ tool }) => tool)).toEqual(['search']);
    } finally {
      await web.stop();
    }
  }, 30_000);

  test('metrics come too', async () => {
    const found = (name: string) => collector.received.metrics.find((metric) => metric.name === name);
    await waitUntil(() => found('gen_ai.client.token.usage') !== undefined, 10_000);
    for (const name of ['gen_ai.client.operation.duration', 'llm0_requests_total', 'llm0_store_up']) {
      expect(found(name)?.points.length).toBeGreaterThan(0);
    }
  }, 30_000);

  test('waiting spans are sent before the stop, without secrets and prompts', async () => {
    const traceId = newTrace();
    await post(traceId);
    await world.restart('stop');
    expect(collector.received.spans.filter((span) => span.traceId === traceId)).toHaveLength(2);
    expect(collector.received.headers.every((headers) => headers.get('authorization') === HEADER_SECRET)).toBe(true);
    const all = JSON.stringify([collector.received.spans, collector.received.metrics]);
    for (const secret of [PROMPT, 'hunter2', apiKey, 'sk-fake-upstream-key', 'collector-secret-token']) {
      expect(all).not.toContain(secret);
    }
  }, 60_000);
});

describe('two processes on one queue', () => {
  testApart(
    'each span goes out once, and metrics of both',
    async () => {
      const collector = startCollector();
      const env = {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_METRIC_EXPORT_INTERVAL: '300',
        GATEWAY_WORKERS: '2',
      };
      const world = await shareEnvironment({ kind: 'real', apart: true, env });
      try {
        const { apiKey } = await createTestKey(world.gateway);
        await Promise.all(
          Array.from({ length: 40 }, async (_, index) => {
            // A connection of its own, so that both are asked.
            const headers = { connection: 'close' };
            await (await postChat(world.gateway, apiKey, ask(`question ${index}`), { headers })).text();
          }),
        );
        await waitUntil(() => collector.received.spans.length >= 80, 15_000);
        await Bun.sleep(1_500);
        const ids = collector.received.spans.map(({ traceId, spanId }) => `${traceId} ${spanId}`);
        expect([ids.length, new Set(ids).size]).toEqual([80, 80]);
        const drainers = new Set(collector.received.spans.map(({ resource }) => resource['service.instance.id']));
        expect(drainers.size).toBe(1);
        expect(collector.received.metrics.filter(({ name }) => name === 'llm0_requests_total').length).toBeGreaterThan(
          0,
        );
      } finally {
        await world.close();
        await collector.stop();
      }
    },
    60_000,
  );
});
