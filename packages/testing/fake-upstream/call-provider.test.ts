import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { collectBatches } from '@llm0/core/chat/testing/collect-events';
import { GatewayError, type UpstreamFailure } from '@llm0/core/errors/gateway-error';
import { openai } from '@llm0/providers/openai/index';
import { callProvider, type ProviderCall } from '@llm0/providers/transport/call-provider';
import type { FakeBehaviour } from './behaviour';
import { startFakeUpstream } from './start-fake-upstream';

const upstream = startFakeUpstream();
afterAll(() => upstream.stop());
beforeEach(() => upstream.control.reset());

const KEY = 'sk-very-secret-1234567890';

function call(stream: boolean, more: Partial<ProviderCall> & { body?: JsonObject } = {}) {
  const body: JsonObject = { model: 'gpt-x', messages: [{ role: 'user', content: 'Hi' }], ...more.body };
  const request: ChatRequest = {
    model: 'gpt-x',
    messages: [],
    stream,
    extra: {},
    wire: { format: 'openai-chat', body },
  };
  return callProvider({
    provider: openai,
    request,
    context: { connection: { baseUrl: upstream.baseUrl, apiKey: KEY }, model: 'gpt-x', dropParams: false },
    timeoutMs: 2000,
    idleTimeoutMs: 2000,
    maxAnswerBytes: 64 * 1024 * 1024,
    signal: new AbortController().signal,
    fetch,
    ...more,
  });
}

/** The whole text of an answer by script. */
async function textOf(behaviour: FakeBehaviour, stream = true): Promise<string | null | undefined> {
  upstream.control.enqueue(behaviour);
  const { events } = await call(stream);
  return (await collectBatches(events)).choices[0]?.text;
}

/** How an answer by script fails, and what came before. */
async function failureOf(behaviour: FakeBehaviour, more: Partial<ProviderCall> & { stream?: boolean } = {}) {
  upstream.control.enqueue(behaviour);
  let text = '';
  try {
    const { events } = await call(more.stream ?? true, more);
    for await (const batch of events) for (const event of batch.events) if (event.type === 'text') text += event.text;
  } catch (error) {
    if (error instanceof GatewayError) return { failure: error.failure, kind: error.kind, error, text };
    throw error;
  }
  throw new Error('the call did not fail');
}

const TEXT = 'Grüße 😀 an 漢字';

/** Sends the headers of a stream after a while, and then nothing: a fake on `Bun.serve` holds them back until the body. */
function startSilentServer(headersAfterMs: number) {
  let open = 0;
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: () => {
        open += 1;
      },
      data: (socket) => void setTimeout(() => socket.write(head), headersAfterMs),
      close: () => {
        open -= 1;
      },
    },
  });
  return {
    port: server.port,
    get open() {
      return open;
    },
    async [Symbol.asyncDispose]() {
      server.stop(true);
    },
  };
}

/** A 503 whose body never ends. */
function startDrippingError() {
  const encoder = new TextEncoder();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            await Bun.sleep(50);
            controller.enqueue(encoder.encode(' '));
          },
        }),
        { status: 503 },
      ),
  });
  return { port: server.port, [Symbol.asyncDispose]: async () => void (await server.stop(true)) };
}

async function eventually(check: () => boolean): Promise<void> {
  for (let i = 0; i < 100 && !check(); i++) await Bun.sleep(10);
  expect(check()).toBe(true);
}

describe('calling a provider', () => {
  test.each<[string, FakeBehaviour]>([
    ['ordinary', {}],
    ['CRLF', { lineEnd: 'crlf' }],
    ['CR alone', { lineEnd: 'cr' }],
    ['comments', { comments: true }],
    ['half characters', { splitCharacters: true }],
    ['single bytes', { byteByByte: true, lineEnd: 'crlf' }],
    ['no [DONE]', { noDone: true }],
    ['usage on the finish chunk', { usageOn: 'finish-chunk' }],
    ['a plain body for a stream', { plainForStream: true }],
    ['slow', { gapMs: 2, jitterMs: 2, firstDelayMs: 10 }],
  ])('%s: the whole text arrives', async (_name, behaviour) => {
    expect(await textOf({ ...behaviour, text: TEXT, chunks: 6 })).toBe(TEXT);
  });

  test('a plain answer is read once, however often somebody looks for it', async () => {
    const answer = await call(false);
    expect(answer.whole).toBeDefined();
    expect((await answer.events.next()).done).toBe(false);
    expect((await answer.events.next()).done).toBe(true);
  });

  test('plain answers come through the same iterator', async () => {
    upstream.control.enqueue({ text: TEXT, usage: { prompt: 7, completion: 3, cached: 2 } });
    const answer = await call(false);
    const response = await collectBatches(answer.events);
    expect(response.choices[0]?.text).toBe(TEXT);
    expect(response.usage).toMatchObject({ inputTokens: 5, cacheReadTokens: 2, outputTokens: 3 });
    expect(answer.status).toBe(200);
  });

  test('tools arrive whole, streamed or not', async () => {
    for (const stream of [true, false]) {
      upstream.control.enqueue({
        toolCalls: [
          { name: 'f', arguments: '{"a":1}' },
          { name: 'g', arguments: '{}' },
        ],
      });
      const { events } = await call(stream);
      const calls = (await collectBatches(events)).choices[0]?.toolCalls;
      expect(calls?.map((one) => [one.name, one.arguments])).toEqual([
        ['f', '{"a":1}'],
        ['g', '{}'],
      ]);
    }
  });

  test('usage is asked for, and the key goes in its header', async () => {
    await collectBatches((await call(true)).events);
    expect(upstream.requests[0]?.body.stream_options).toEqual({ include_usage: true });
    expect(upstream.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  });

  test.each<[string, FakeBehaviour, UpstreamFailure, string]>([
    ['429', { status: 429, retryAfter: '3' }, 'rate_limited', ''],
    ['500', { status: 500 }, 'server_error', ''],
    ['401', { status: 401 }, 'auth', ''],
    ['404', { status: 404 }, 'not_found', ''],
    ['400', { status: 400 }, 'rejected', ''],
    ['302', { status: 302 }, 'malformed', ''],
    ['a page with 200', { html: true }, 'malformed', ''],
    ['nothing at all', { empty: true }, 'malformed', ''],
    ['an error after 3 chunks', { errorAfter: 3, text: 'abcdef', chunks: 6 }, 'server_error', 'abc'],
    ['a reset after 3 chunks', { resetAfter: 3, text: 'abcdef', chunks: 6 }, 'connection', 'abc'],
    ['an early end after 3 chunks', { truncateAfter: 3, text: 'abcdef', chunks: 6 }, 'truncated', 'abc'],
  ])('%s fails clearly', async (_name, behaviour, failure, text) => {
    const seen = await failureOf(behaviour);
    expect(seen.failure).toBe(failure);
    expect(seen.text).toBe(text);
    expect(seen.error.message).not.toContain(KEY);
    expect(seen.error.message).toStartWith('openai ');
    if (failure === 'rate_limited') expect(seen.error.retryAfterMs).toBe(3000);
  });

  test('an upstream that is not there is a connection failure that hides the URL', async () => {
    const gone = startFakeUpstream();
    await gone.stop();
    const connection = { baseUrl: gone.baseUrl, apiKey: KEY };
    const { failure, error } = await failureOf({}, { context: { connection, model: 'm', dropParams: false } });
    expect(failure).toBe('connection');
    expect(error.message).not.toContain('127.0.0.1');
  });

  test('no headers in time: timeout, and the upstream sees the caller leave', async () => {
    const { failure, kind } = await failureOf({ hang: true }, { timeoutMs: 80 });
    expect([failure, kind]).toEqual(['timeout', 'upstream_timeout']);
    await eventually(() => upstream.control.counters.cancelled === 1);
  });

  test(
    'headers in time, but no first byte: timeout after what is left, whatever the idle time-out',
    async () => {
      await using silent = startSilentServer(400);
      const startMs = performance.now();
      const connection = { baseUrl: `http://127.0.0.1:${silent.port}/v1`, apiKey: KEY };
      const { failure, kind, error } = await failureOf(
        {},
        { context: { connection, model: 'm', dropParams: false }, timeoutMs: 1000, idleTimeoutMs: 20_000 },
      );
      expect([failure, kind]).toEqual(['timeout', 'upstream_timeout']);
      expect(error.message).toContain('sent nothing');
      expect(performance.now() - startMs).toBeLessThan(1360);
      await eventually(() => silent.open === 0);
    },
    { retry: 2 },
  );

  test("an error's words that drip in for ever: the error is told in time all the same", async () => {
    await using dripping = startDrippingError();
    const startMs = performance.now();
    const connection = { baseUrl: `http://127.0.0.1:${dripping.port}/v1`, apiKey: KEY };
    const context = { connection, model: 'm', dropParams: false };
    const { failure, error } = await failureOf({}, { context, timeoutMs: 800 });
    expect([failure, error.upstreamStatus]).toEqual(['server_error', 503]);
    expect(performance.now() - startMs).toBeLessThan(3000);
  });

  test('after the first byte the idle time-out holds, be it longer or shorter', async () => {
    const pausing = { text: 'ab', chunks: 2, gapMs: 150 };
    upstream.control.enqueue(pausing);
    const { events } = await call(true, { timeoutMs: 100, idleTimeoutMs: 2000 });
    expect((await collectBatches(events)).choices[0]?.text).toBe('ab');
    const stalled = { hangAfter: 1, text: 'ab', chunks: 2, gapMs: 1 };
    const startMs = performance.now();
    expect((await failureOf(stalled, { timeoutMs: 5000, idleTimeoutMs: 80 })).failure).toBe('timeout');
    expect(performance.now() - startMs).toBeLessThan(1000);
  });

  test('silence within the answer: timeout, and the upstream is cancelled', async () => {
    const { failure, text } = await failureOf({ hangAfter: 2, text: 'abcdef', chunks: 6 }, { idleTimeoutMs: 80 });
    expect([failure, text]).toEqual(['timeout', 'ab']);
    await eventually(() => upstream.control.counters.cancelled === 1);
  });

  test('a slow reader is no silence', async () => {
    upstream.control.enqueue({ text: 'abcd', chunks: 4, gapMs: 5 });
    const { events } = await call(true, { idleTimeoutMs: 60 });
    let text = '';
    for await (const batch of events) {
      await Bun.sleep(100);
      for (const event of batch.events) if (event.type === 'text') text += event.text;
    }
    expect(text).toBe('abcd');
  });

  test.each<[string, (events: AsyncIterableIterator<unknown>, abort: () => void) => Promise<unknown>]>([
    [
      'breaks out of the loop',
      async (events) => {
        for await (const _ of events) break;
      },
    ],
    ['returns before the first batch', (events) => events.return?.() ?? Promise.resolve()],
    [
      'aborts while waiting',
      async (events, abort) => {
        await events.next();
        setTimeout(abort, 20);
        await expect(
          (async () => {
            for await (const _ of events);
          })(),
        ).rejects.toMatchObject({ kind: 'client_closed' });
      },
    ],
  ])('a consumer that %s cancels the upstream within a second', async (_name, leave) => {
    upstream.control.enqueue({ hangAfter: 3, text: 'abcdef', chunks: 6, gapMs: 1 });
    const controller = new AbortController();
    const { events } = await call(true, { signal: controller.signal });
    await leave(events, () => controller.abort());
    await eventually(() => upstream.control.counters.cancelled === 1);
    expect((await events.next()).done).toBe(true);
  });

  test('an abort before the headers', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 20);
    const { kind } = await failureOf({ hang: true }, { signal: controller.signal });
    expect(kind).toBe('client_closed');
    await eventually(() => upstream.control.counters.cancelled === 1);
  });

  test('a gate holds every answer until it opens', async () => {
    upstream.control.hold();
    const answers = [call(true), call(false)];
    await eventually(() => upstream.control.counters.waiting === 2);
    upstream.control.release();
    for (const answer of answers) expect((await collectBatches((await answer).events)).choices).toHaveLength(1);
  });

  test('a request can say itself how it wants to be treated', async () => {
    const { events } = await call(true, { body: { x_fake: { text: 'as asked' } } });
    expect((await collectBatches(events)).choices[0]?.text).toBe('as asked');
  });
});
