import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { anthropicMessages } from '../../dialects/anthropic-messages/index';
import type { Dialect } from '../../dialects/dialect';
import { openaiChat } from '../../dialects/openai-chat/index';
import { fails, MODEL, openPipeline, type Pipeline, SECRET, says, streams } from '../open-pipeline.fixture';
import { handleChat } from './handle-chat';

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await openPipeline();
});
afterEach(() => pipeline.close());

const BODY = { model: MODEL, messages: [{ role: 'user', content: 'What is one and one?' }] };

interface Post {
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
  readonly dialect?: Dialect;
}

function post({ body = BODY, headers = {}, signal, dialect = openaiChat }: Post = {}): Promise<Response> {
  const request = new Request('http://gateway.test/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRET}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    signal,
  });
  return handleChat(pipeline.services, dialect, request);
}

const errorOf = async (response: Response) => ((await response.json()) as { error: Record<string, unknown> }).error;

describe('the whole path', () => {
  test('a plain answer is sent, booked, and cached', async () => {
    pipeline.world.scripts = [says('two')];
    const first = await post({ headers: { 'x-customer-id': 'c', 'x-llm0-team': 'blue' } });
    expect(first.status).toBe(200);
    expect(await first.json()).toMatchObject({ choices: [{ message: { content: 'two' } }], cost_usd: 0.00002 });
    const again = await post();
    expect([again.headers.get('x-cache-hit'), pipeline.world.asked.length]).toEqual(['exact', 1]);
    expect(await again.json()).toMatchObject({ choices: [{ message: { content: 'two' } }], cost_usd: 0 });
    expect(await pipeline.rows()).toMatchObject([
      {
        id: first.headers.get('x-request-id'),
        status: 'success',
        costNanoUsd: 20_000,
        customerId: 'c',
        labels: { team: 'blue' },
      },
      {
        id: again.headers.get('x-request-id'),
        status: 'success',
        costNanoUsd: 0,
        savedNanoUsd: 20_000,
        cacheHit: true,
      },
    ]);
    expect([await pipeline.hotStore.openHolds(), pipeline.services.openRequests.count]).toEqual([0, 0]);
  });

  test('a streamed answer is open until its last byte', async () => {
    const stream = streams();
    pipeline.world.scripts = [stream.script];
    stream.send('two');
    const response = await post({ body: { ...BODY, stream: true } });
    expect([pipeline.services.openRequests.count, await pipeline.hotStore.openHolds()]).toEqual([1, 1]);
    stream.finish();
    const body = await response.text();
    expect(body).toContain('"content":"two"');
    expect(body).toEndWith('data: [DONE]\n\n');
    expect(await pipeline.rows()).toMatchObject([
      { status: 'success', stream: true, costNanoUsd: 20_000, tokensOut: 5 },
    ]);
    expect([pipeline.services.openRequests.count, await pipeline.hotStore.openHolds()]).toEqual([0, 0]);
  });

  test('of a stream broken after its first output', async () => {
    const stream = streams();
    pipeline.world.scripts = [stream.script];
    stream.send('half');
    const response = await post({ body: { ...BODY, stream: true } });
    stream.breakOff();
    const body = await response.text();
    expect([body.includes('"content":"half"'), body.includes('[DONE]'), body.includes('"error"')]).toEqual([
      true,
      false,
      true,
    ]);
    expect((await pipeline.rows()).map(({ status }) => status)).toEqual(['error']);
  });
});

describe('an error comes in the envelope of its dialect', () => {
  test('without a key, and leaves no row', async () => {
    const response = await post({ headers: { authorization: '' } });
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(await errorOf(response)).toMatchObject({ code: 'missing_api_key', type: 'authentication_error' });
    expect(await pipeline.rows()).toEqual([]);
  });

  test.each([
    ['no JSON', '{', 400, 'invalid_json', null, ''],
    ['a field at fault', { ...BODY, temperature: 3 }, 400, 'invalid_request', 'temperature', MODEL],
    ['a model nobody has', { ...BODY, model: 'unheard-of' }, 404, 'model_not_found', 'model', 'unheard-of'],
  ] as const)('for %s, and leaves its row', async (_name, body, status, code, param, model) => {
    const response = await post({ body });
    expect([response.status, await errorOf(response)]).toMatchObject([status, { code, param }]);
    expect(await pipeline.rows()).toMatchObject([
      {
        httpStatus: status,
        errorCode: code,
        costNanoUsd: 0,
        requestedModel: model,
        id: response.headers.get('x-request-id'),
      },
    ]);
    expect(pipeline.world.asked).toEqual([]);
  });

  test('in the words of another format', async () => {
    const response = await post({ body: { ...BODY, max_tokens: 0 }, dialect: anthropicMessages });
    const requestId = response.headers.get('x-request-id');
    expect([response.status, response.headers.get('request-id')]).toEqual([400, requestId]);
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', param: 'max_tokens' },
      request_id: requestId,
    });
  });

  test('for a limit, with the time to wait and where it stands', async () => {
    await pipeline.close();
    pipeline = await openPipeline({ key: { rateLimitPerMinute: 1, rateLimitBurst: 1 } });
    await post();
    const response = await post({ body: { ...BODY, user: 'another' } });
    expect([response.status, (await errorOf(response)).code]).toEqual([429, 'rate_limit_exceeded']);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(50);
    expect([response.headers.get('x-ratelimit-limit'), response.headers.get('x-ratelimit-remaining')]).toEqual([
      '1',
      '0',
    ]);
    expect((await pipeline.rows()).map(({ httpStatus }) => httpStatus)).toEqual([200, 429]);
  });

  test('for an upstream that fails: its attempts are told and logged, and the hold is gone', async () => {
    pipeline.world.scripts = [fails(500)];
    const response = await post();
    expect([response.status, await errorOf(response)]).toMatchObject([502, { code: 'upstream_error' }]);
    const [row] = await pipeline.rows();
    expect(row?.attempts?.map(({ outcome, status }) => [outcome, status])).toEqual([
      ['server_error', 500],
      ['server_error', 500],
    ]);
    expect([await pipeline.hotStore.openHolds(), pipeline.services.openRequests.count]).toEqual([0, 0]);
  });

  test('for a bug: logged whole, shown without details', async () => {
    pipeline.services.flights.join = () => {
      throw new TypeError('secret detail');
    };
    const response = await post();
    const body = await response.text();
    expect([response.status, body.includes('secret detail'), pipeline.world.logged.length]).toEqual([500, false, 1]);
    expect(await pipeline.rows()).toMatchObject([{ errorCode: 'internal', httpStatus: 500 }]);
  });
});

describe('a caller who leaves', () => {
  test('while the upstream is silent cancels it, and is booked as an abort', async () => {
    const stream = streams();
    pipeline.world.scripts = [stream.script];
    const controller = new AbortController();
    const asking = post({ body: { ...BODY, stream: true }, signal: controller.signal });
    while (pipeline.world.asked.length === 0) await Bun.sleep(1);
    controller.abort();
    expect((await asking).status).toBe(499);
    await stream.cancelled;
    expect(await pipeline.rows()).toMatchObject([{ status: 'aborted', errorCode: 'client_closed' }]);
    expect([await pipeline.hotStore.openHolds(), pipeline.services.openRequests.count]).toEqual([0, 0]);
  });
});

describe('an Idempotency-Key', () => {
  const headers = { 'idempotency-key': 'once', 'x-llm0-cache': 'off' };

  test('is answered once: the second answer is a replay, for nothing', async () => {
    pipeline.world.scripts = [says('one'), says('two')];
    const first = await post({ headers });
    const again = await post({ headers });
    expect([first.headers.get('x-idempotent-replay'), again.headers.get('x-idempotent-replay')]).toEqual([
      null,
      'true',
    ]);
    expect([again.headers.get('x-cost-usd'), await again.text()]).toEqual(['0.000000000', await first.text()]);
    expect([pipeline.world.asked.length, (await pipeline.rows()).map(({ costNanoUsd }) => costNanoUsd)]).toEqual([
      1,
      [20_000, 0],
    ]);
  });

  test('is free again after a failure', async () => {
    pipeline.world.scripts = [fails(401), says('two')];
    expect((await post({ headers })).status).toBe(502);
    expect(await (await post({ headers })).json()).toMatchObject({ choices: [{ message: { content: 'two' } }] });
  });
});

test.each([openaiChat, anthropicMessages])(
  'a small body that trickles is 408 in the envelope, and has its row',
  async (dialect) => {
    const slow = await openPipeline({ bodyGraceMs: 20 });
    try {
      const text = JSON.stringify(BODY);
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          await Bun.sleep(5);
          controller.enqueue(new TextEncoder().encode(' '));
        },
      });
      const headers = { authorization: `Bearer ${SECRET}`, 'content-length': String(text.length) };
      const request = new Request('http://gateway.test/v1/chat/completions', { method: 'POST', headers, body });
      const response = await handleChat(slow.services, dialect, request);
      expect([response.status, response.headers.get('connection')]).toEqual([408, 'close']);
      expect((await errorOf(response)).message).toContain('took too long to arrive');
      expect(await slow.rows()).toMatchObject([{ status: 'error', httpStatus: 408 }]);
      expect([slow.services.openRequests.count, slow.services.bodyDeadlines.count]).toEqual([0, 0]);
    } finally {
      await slow.close();
    }
  },
);
