import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { Held, Room } from '@llm0/core/async/room';
import type { CachedAnswer } from '@llm0/core/cache/cached-answer';
import type { IdempotencyClaim } from '@llm0/core/cache/idempotency/idempotency-keys';
import type { EventBatch } from '@llm0/core/chat/event';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { hashSecret } from '@llm0/core/keys/api-key';
import { anthropicMessages } from '../../dialects/anthropic-messages/index';
import { openaiChat } from '../../dialects/openai-chat/index';
import { Meter } from '../metering/meter';
import { admit, chatRequest, MODEL, openPipeline, type Pipeline, SECRET } from '../open-pipeline.fixture';
import type { Completion } from '../upstream/completion';
import type { RespondInput } from './finish-completion';
import { respond } from './respond';

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await openPipeline();
});
afterEach(() => pipeline.close());

const text = (value: string): EventBatch => ({ events: [{ type: 'text', choice: 0, text: value }] });
const END: EventBatch = {
  events: [
    { type: 'finish', choice: 0, reason: 'stop' },
    { type: 'usage', usage: { ...ZERO_USAGE, inputTokens: 10, outputTokens: 5 } },
  ],
};

interface Steps {
  /** What happened, in order. */
  readonly log: string[];
  readonly controller: AbortController;
  readonly input: RespondInput;
}

/** One admitted request whose answer consists of these batches; an error among them is thrown there. */
async function prepare(
  batches: readonly (EventBatch | Error)[],
  given: Partial<RespondInput & { stream: boolean }> = {},
): Promise<Steps> {
  const log: string[] = [];
  const ctx = {
    requestId: Bun.randomUUIDv7(),
    startMs: performance.now(),
    controls: { cache: 'normal' as const, dropParams: false },
    held: new Held(new Room()),
  };
  const principal = { ...structuredClone(pipeline.world.stored), keyHash: hashSecret(SECRET) };
  const request = chatRequest('What is one and one?', { stream: given.stream === true });
  const admission = await admit(pipeline.services, { ctx, principal, dialect: 'openai-chat', request });
  const meter = new Meter(pipeline.services, { ctx, dialect: 'openai-chat', admission });
  const left = [...batches];
  const answer: Completion = {
    target: { provider: 'openai', model: MODEL },
    ...{
      cache: 'miss',
      attempts: [],
      failoverCount: 0,
      wastedNanoUsd: 0,
      firstWaitMs: 0,
      savedNanoUsd: 0,
      dropped: [],
    },
    pays: () => true,
    received: () => batches.filter((one): one is EventBatch => !(one instanceof Error)),
    next: async () => {
      const batch = left.shift() ?? null;
      if (batch instanceof Error) throw batch;
      return batch;
    },
    leave: () => log.push('leave'),
    ...given.answer,
  };
  meter.attach(answer);
  const settle = pipeline.hotStore.settle.bind(pipeline.hotStore);
  pipeline.hotStore.settle = (settlement) => {
    log.push('settle');
    return settle(settlement);
  };
  const claim: IdempotencyClaim<CachedAnswer> = {
    complete: (describe) => {
      log.push(`claim ${describe().response.choices[0]?.text}`);
      return undefined;
    },
    fail: ({ kind }) => log.push(`claim fails ${kind}`),
    release: () => log.push('claim released'),
  };
  pipeline.services.bodyLog.keep = (describe) => void log.push(`body ${describe().response?.slice(0, 15)}`);
  const controller = new AbortController();
  return {
    ...{ log, controller },
    input: {
      ...{ dialect: openaiChat, ctx, admission, answer, meter, claim },
      httpRequest: new Request('http://gateway.test/', { signal: controller.signal }),
      onEnd: () => log.push('end'),
      ...given,
    },
  };
}

const framesOf = (body: string) => body.split('\n\n').filter((frame) => frame !== '');

describe('a plain answer', () => {
  test('is one JSON body with cost and tokens in its headers', async () => {
    const { input } = await prepare([text('two'), END]);
    const response = await respond(pipeline.services, input);
    const { headers } = response;
    expect([response.status, headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(headers.get('x-request-id')).toBe(input.ctx.requestId);
    expect([headers.get('x-provider'), headers.get('x-model'), headers.get('x-cache-hit')]).toEqual([
      'openai',
      MODEL,
      'miss',
    ]);
    expect([Number(headers.get('x-cost-usd')), headers.get('x-tokens-total')]).toEqual([0.00002, '15']);
    expect(await response.json()).toMatchObject({
      choices: [{ message: { role: 'assistant', content: 'two' }, finish_reason: 'stop' }],
      ...{ usage: { total_tokens: 15 }, cost_usd: 0.00002 },
    });
  });

  test('is settled, claimed and logged before it is sent, in this order', async () => {
    const { input, log } = await prepare([text('two'), END]);
    await respond(pipeline.services, input);
    expect(log).toEqual(['settle', 'claim two', 'body {"id":"chatcmpl', 'leave', 'end']);
  });

  test('names its id where clients of the format look for it', async () => {
    const { input } = await prepare([text('two'), END], { dialect: anthropicMessages });
    const response = await respond(pipeline.services, input);
    expect(response.headers.get('request-id')).toBe(input.ctx.requestId);
    expect(await response.json()).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'two' }] });
  });

  test('a broken stream throws and closes its reader', async () => {
    const broken = new GatewayError('upstream_error', 'broke');
    const { input, log } = await prepare([text('tw'), broken]);
    await expect(Promise.resolve(respond(pipeline.services, input))).rejects.toBe(broken);
    expect(log).toEqual(['leave', 'end']);
  });

  test('without waiting callers ends as aborted', async () => {
    const { input, controller } = await prepare([text('two'), END]);
    controller.abort();
    await expect(Promise.resolve(respond(pipeline.services, input))).rejects.toMatchObject({ kind: 'client_closed' });
  });
});

describe.each([false, true])('an answer ends only once its settlement is handed over (streamed: %p)', (stream) => {
  test('waits for the store', async () => {
    const { input } = await prepare([text('two'), END], { stream });
    const handedOver = Promise.withResolvers<void>();
    const settle = pipeline.hotStore.settle;
    pipeline.services.hotStore.settle = (settlement) => {
      void settle(settlement);
      return handedOver.promise;
    };
    const body = Promise.resolve(respond(pipeline.services, input)).then((response) => response.text());
    expect(await Promise.race([body, Bun.sleep(20)])).toBeUndefined();
    handedOver.resolve();
    expect(await body).toContain(stream ? '[DONE]' : '"content":"two"');
  });
});

describe('a streamed answer', () => {
  test('is chunks, one with the metadata, and the end', async () => {
    const { input } = await prepare([text('one '), text('two'), END], { stream: true });
    const response = await respond(pipeline.services, input);
    const { headers } = response;
    expect(headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect([headers.get('cache-control'), headers.get('x-accel-buffering')]).toEqual(['no-cache, no-transform', 'no']);
    expect(headers.has('x-cost-usd')).toBe(false);
    const frames = framesOf(await response.text());
    expect(frames.at(-1)).toBe('data: [DONE]');
    const chunks = frames.slice(0, -1).map((frame) => JSON.parse(frame.slice('data: '.length)));
    expect(chunks.map(({ choices }) => choices[0]?.delta.content).filter((piece) => piece)).toEqual(['one ', 'two']);
    expect(chunks.at(-1)).toMatchObject({
      choices: [{ index: 0, delta: {}, finish_reason: null }],
      usage: { total_tokens: 15 },
      cost_usd: 0.00002,
      provider: 'openai',
    });
  });

  test('is settled, claimed and logged as a plain one is, before its last bytes', async () => {
    const { input, log } = await prepare([text('two'), END], { stream: true });
    const response = await respond(pipeline.services, input);
    expect(log).toEqual([]);
    let seen = '';
    for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
      const piece = new TextDecoder().decode(bytes);
      if (piece.includes('[DONE]')) seen = log.join(', ');
    }
    expect(seen).toBe('settle, claim two, body {"id":"chatcmpl, leave, end');
    expect((await pipeline.rows()).map(({ status }) => status)).toEqual(['success']);
  });

  test('that fails after its first output ends with an error and books its output', async () => {
    const broken = new GatewayError('upstream_error', 'broke', { failure: 'truncated' });
    const { input, log } = await prepare([text('half'), broken], { stream: true });
    const response = await respond(pipeline.services, input);
    const frames = framesOf(await response.text());
    expect(response.status).toBe(200);
    expect(frames.at(-1)).not.toContain('[DONE]');
    expect(JSON.parse(frames.at(-1)?.slice('data: '.length) ?? '')).toMatchObject({
      error: { code: 'upstream_error', message: 'broke' },
    });
    expect(log).toEqual(['settle', 'claim fails upstream_error', 'body {"incomplete":"', 'leave', 'end']);
    const [row] = await pipeline.rows();
    expect([row?.status, row?.errorCode, (row?.tokensOut ?? 0) > 0]).toEqual(['error', 'upstream_error', true]);
  });

  test('an abandoned request is cancelled and booked as an abort', async () => {
    const { input, log } = await prepare([text('half'), text('more'), END], { stream: true });
    const response = await respond(pipeline.services, input);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await reader.cancel();
    expect(log.slice(0, 2)).toEqual(['settle', 'claim released']);
    expect(log.slice(-2)).toEqual(['leave', 'end']);
    expect((await pipeline.rows())[0]).toMatchObject({ status: 'aborted', httpStatus: 499, stream: true });
  });

  test('a caller gone before the first byte is an abort too', async () => {
    const { input, log, controller } = await prepare([text('half'), END], { stream: true });
    controller.abort();
    const response = await respond(pipeline.services, input);
    expect(await response.text()).toBe('');
    expect(log.filter((step) => step === 'settle')).toHaveLength(1);
    expect((await pipeline.rows())[0]?.status).toBe('aborted');
  });

  test('a bug in it is shown without its details, and settled', async () => {
    const { input } = await prepare([text('half'), new TypeError('secret detail')], { stream: true });
    const body = await (await respond(pipeline.services, input)).text();
    expect(body).toContain('"code":"internal"');
    expect(body).not.toContain('secret detail');
    expect([pipeline.world.logged.length, (await pipeline.rows())[0]?.errorCode]).toEqual([1, 'internal']);
  });
});
