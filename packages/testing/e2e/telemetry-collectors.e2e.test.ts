import { describe, expect, test } from 'bun:test';
import { startCollector } from '../fake-upstream/start-collector';
import { isAll } from '../lane';
import { createTestKey } from '../stores/start-gateway';
import { ask, logRow, postChat, shareEnvironment, waitUntil } from './environment';

const CLIENT = 3;

describe('content', () => {
  test('goes out where it is asked for, without secrets', async () => {
    const collector = startCollector();
    const world = await shareEnvironment({
      kind: 'real',
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true',
        LOG_BODIES: 'true',
      },
    });
    try {
      const { apiKey } = await createTestKey(world.gateway);
      await postChat(world.gateway, apiKey, ask('say it: sk-abcdefghijklmnop123456'));
      const chat = () => collector.received.spans.find(({ kind }) => kind === CLIENT);
      await waitUntil(() => chat() !== undefined, 15_000);
      expect(chat()?.attributes['gen_ai.input.messages']).toBe(
        '[{"role":"user","parts":[{"type":"text","content":"say it: [redacted]"}]}]',
      );
      expect(JSON.parse(String(chat()?.attributes['gen_ai.output.messages']))).toMatchObject([
        { role: 'assistant', finish_reason: 'stop', parts: [{ type: 'text' }] },
      ]);
    } finally {
      await world.close();
      await collector.stop();
    }
  }, 60_000);
});

describe('a collector', () => {
  const COLLECTORS = [
    ['that hangs', () => new Promise<Response>(() => {})],
    ['that refuses', () => new Response('no', { status: 403 })],
    ['that is busy for ever', () => new Response(null, { status: 503 })],
  ] as const;
  test.each(isAll ? COLLECTORS : COLLECTORS.slice(0, 1))(
    '%s touches no request, and holds up no end',
    async (_what, answer) => {
      const collector = startCollector(answer);
      const env = {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_METRIC_EXPORT_INTERVAL: '200',
        DRAIN_TIMEOUT: '1s',
      };
      const world = await shareEnvironment({ kind: 'real', env });
      try {
        const { apiKey } = await createTestKey(world.gateway);
        const answers = await Promise.all(
          Array.from({ length: 60 }, (_, index) => postChat(world.gateway, apiKey, ask(`question ${index}`))),
        );
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
        const rows = await Promise.all(
          answers.map((one) => logRow(world.gateway, one.headers.get('x-request-id') ?? '')),
        );
        expect(rows.every(({ trace_id: traceId }) => traceId !== null)).toBe(true);
        await waitUntil(() => collector.received.posts > 0, 10_000);
        const startMs = performance.now();
        await world.restart('stop');
        expect(performance.now() - startMs).toBeLessThan(15_000);
      } finally {
        await world.close();
        await collector.stop();
      }
    },
    60_000,
  );
});
