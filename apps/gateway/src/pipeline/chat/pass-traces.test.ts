import { afterEach, describe, expect, test } from 'bun:test';
import { makeSpans, passTraces } from '@llm0/core/tracing/request-trace';
import { createSampler } from '@llm0/core/tracing/sampler';
import { attemptSpanId } from '@llm0/core/tracing/trace-context';
import { openaiChat } from '../../dialects/openai-chat/index';
import { fails, MODEL, openPipeline, type Pipeline, SECRET, says } from '../open-pipeline.fixture';
import { handleChat } from './handle-chat';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = '00f067aa0ba902b7';
const PARENT = `00-${TRACE}-${CALLER}-01`;
const always = makeSpans(createSampler('parentbased_always_on', 1), Date.now);

let pipeline: Pipeline;
afterEach(() => pipeline.close());

const post = async (headers: Record<string, string> = {}) => {
  const body = JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'hello' }] });
  const request = new Request('http://gateway.test/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRET}`, ...headers },
    body,
  });
  const response = await handleChat(pipeline.services, openaiChat, request);
  const [row] = await pipeline.rows();
  if (row === undefined) throw new Error('there is no row');
  return { response, row, upstream: pipeline.world.headers };
};

describe('with tracing off', () => {
  test('a trace goes on as it came and stands on the row', async () => {
    pipeline = await openPipeline({ tracing: passTraces });
    pipeline.world.scripts = [says('two')];
    const { row, upstream } = await post({ traceparent: PARENT, tracestate: 'rojo=1, congo=2' });
    expect([upstream[0]?.get('traceparent'), upstream[0]?.get('tracestate')]).toEqual([PARENT, 'rojo=1,congo=2']);
    expect([row.traceId, row.trace, row.attempts?.[0]?.span]).toEqual([TRACE, undefined, undefined]);
  });

  const unusable: readonly Record<string, string>[] = [
    ...[{}, { traceparent: 'nonsense', tracestate: 'a=1' }, { tracestate: 'a=1' }],
  ];
  test.each(unusable.map((headers) => ({ headers })))(
    'without one nothing is sent or kept: $headers',
    async ({ headers }) => {
      pipeline = await openPipeline({ tracing: passTraces });
      pipeline.world.scripts = [says('two')];
      const { response, row, upstream } = await post(headers);
      expect([response.status, upstream[0]?.has('traceparent'), upstream[0]?.has('tracestate')]).toEqual([
        ...[200, false, false],
      ]);
      expect('traceId' in row).toBe(false);
    },
  );
});

describe('with tracing on', () => {
  test('each attempt is a span of its own under the trace that came', async () => {
    pipeline = await openPipeline({ tracing: always });
    pipeline.world.scripts = [fails(500), says('two')];
    const { row, upstream } = await post({ traceparent: PARENT, tracestate: 'rojo=1' });
    expect(upstream.map((headers) => headers.get('traceparent'))).toEqual([
      `00-${TRACE}-${attemptSpanId(row.id, 1)}-01`,
      `00-${TRACE}-${attemptSpanId(row.id, 2)}-01`,
    ]);
    expect(upstream[1]?.get('tracestate')).toBe('rojo=1');
    expect(row.attempts?.map(({ outcome, span }) => [outcome, span])).toEqual([
      ['server_error', 1],
      ['ok', 2],
    ]);
    expect(row).toMatchObject({ traceId: TRACE, trace: { parent: CALLER, state: 'rojo=1' } });
  });

  test('a request without a trace begins one', async () => {
    pipeline = await openPipeline({ tracing: always });
    pipeline.world.scripts = [says('two')];
    const { row, upstream } = await post();
    const traceId = row.id.replaceAll('-', '');
    expect(upstream[0]?.get('traceparent')).toBe(`00-${traceId}-${attemptSpanId(row.id, 1)}-03`);
    expect([row.traceId, row.trace?.parent]).toEqual([traceId, undefined]);
  });

  test('a replay is marked as one', async () => {
    pipeline = await openPipeline({ tracing: always });
    pipeline.world.scripts = [says('two')];
    const first = await post({ 'idempotency-key': 'once' });
    const again = await post({ 'idempotency-key': 'once' });
    expect([first.row.trace?.isReplay, again.row.trace?.isReplay]).toEqual([undefined, true]);
  });

  test('unsampled traces say so and leave no span', async () => {
    pipeline = await openPipeline({ tracing: always });
    pipeline.world.scripts = [says('two')];
    const { row, upstream } = await post({ traceparent: PARENT.replace(/01$/, '00') });
    expect(upstream[0]?.get('traceparent')).toBe(`00-${TRACE}-${attemptSpanId(row.id, 1)}-00`);
    expect([row.traceId, row.trace]).toEqual([TRACE, undefined]);
  });

  test('a refused request has its trace too, and so has what is logged of a failure', async () => {
    pipeline = await openPipeline({ tracing: always, key: { allowedModels: ['another'] } });
    const { response, row } = await post({ traceparent: PARENT });
    expect([response.status, row.traceId, row.trace?.parent]).toEqual([403, TRACE, CALLER]);
    await pipeline.close();
    pipeline = await openPipeline({ tracing: always });
    const bug = () => {
      throw new TypeError('a bug');
    };
    Object.assign(pipeline.services.flights, { start: bug });
    const failed = await post({ traceparent: PARENT });
    expect(failed.response.status).toBe(500);
    expect(pipeline.world.logged).toMatchObject([{ trace_id: TRACE, request_id: failed.row.id }]);
  });
});
