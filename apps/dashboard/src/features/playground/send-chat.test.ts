import { describe, expect, test } from 'bun:test';
import { sendChat } from './send-chat';

const wish = { sender: { apiKey: 'k' }, body: { model: 'm', stream: true } };

function streamOf(text: string, size: number): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull: (controller) => {
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.slice(at, at + size));
      at += size;
    },
  });
}

const answering = (answer: () => Response, seen: [string, RequestInit][] = []) =>
  (async (path: string, init: RequestInit) => {
    seen.push([path, init]);
    return answer();
  }) as unknown as typeof fetch;
const events = (...data: object[]) => data.map((one) => `data: ${JSON.stringify(one)}\r\n\r\n`).join('');
const stream = (text: string, size = 10_000, headers = {}) =>
  new Response(streamOf(text, size), { headers: { 'content-type': 'text/event-stream', ...headers } });

const SSE = `${events(
  { choices: [{ delta: { role: 'assistant', reasoning_content: 'Hm' } }] },
  { choices: [{ delta: { content: 'Grüß ' } }] },
  { choices: [{ delta: { content: 'Gott' } }] },
  { choices: [{ delta: { tool_calls: [{ index: 0, id: 'c1', function: { name: 'f', arguments: '{"a"' } }] } }] },
  { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }, finish_reason: 'tool_calls' }] },
  { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 }, cost_usd: 0.000001 },
)}data: [DONE]\r\n\r\n`;

describe('the playground', () => {
  test.each([1, 2, 7, 10_000])('puts a stream together, in pieces of %p bytes', async (size) => {
    const seen: string[] = [];
    const answer = () => stream(SSE, size, { 'x-cache-hit': 'miss', 'x-request-id': 'r', 'content-length': '9' });
    const outcome = await sendChat(
      { ...wish, onPart: ({ text }) => seen.push(text), onHeaders: (headers) => seen.push(headers.join(' ')) },
      answering(answer),
    );
    expect(outcome).toMatchObject({
      ...{ status: 200, text: 'Grüß Gott', reasoning: 'Hm', fault: null, finishReason: 'tool_calls', requestId: 'r' },
      ...{ costUsd: 0.000001, tokensIn: 3, tokensOut: 2 },
      toolCalls: [{ id: 'c1', name: 'f', arguments: '{"a":1}' }],
    });
    expect(outcome.headers).toEqual([
      ['x-cache-hit', 'miss'],
      ['x-request-id', 'r'],
    ]);
    expect(seen).toEqual(['x-cache-hit,miss x-request-id,r', '', 'Grüß ', 'Grüß Gott', 'Grüß Gott', 'Grüß Gott']);
    expect(outcome.ttftMs).not.toBeNull();
  });

  test('with a pasted key as an application would, without a cookie; with a chosen one by the session', async () => {
    const seen: [string, RequestInit][] = [];
    const answer = answering(() => Response.json({ choices: [{ message: { content: 'Hi' } }] }), seen);
    expect((await sendChat(wish, answer)).text).toBe('Hi');
    await sendChat({ ...wish, sender: { projectId: 'p', keyId: 'q' }, headers: { 'X-Customer-Id': 'c' } }, answer);
    expect(seen[0]).toMatchObject([
      '/v1/chat/completions',
      { credentials: 'omit', headers: { authorization: 'Bearer k' } },
    ]);
    expect(seen[1]?.[0]).toBe('/admin/v1/projects/p/keys/q/chat/completions');
    expect(seen[1]?.[1]).toMatchObject({
      ...{ credentials: 'same-origin', body: JSON.stringify(wish.body) },
      headers: { 'X-Customer-Id': 'c', 'content-type': 'application/json' },
    });
    expect(JSON.stringify(seen[1])).not.toContain('authorization');
  });

  test('a refusal is shown as it was put, also in the middle of a stream', async () => {
    const error = {
      ...{ message: 'Too many.', code: 'rate_limit_exceeded', param: 'key', retry_after: 7 },
      attempts: [{ provider: 'openai', model: 'm', failure: 'server_error', status: 500 }],
    };
    const refused = await sendChat(
      wish,
      answering(() => Response.json({ error }, { status: 429 })),
    );
    expect(refused).toMatchObject({
      status: 429,
      fault: {
        ...{ message: 'Too many.', code: 'rate_limit_exceeded', param: 'key', retryAfterSeconds: 7 },
        attempts: ['openai/m: server_error (500)'],
      },
    });
    const cut = events({ choices: [{ delta: { content: 'Half' } }] }, { error: { message: 'broke', code: 'x' } });
    const broken = await sendChat(
      wish,
      answering(() => stream(cut)),
    );
    expect([broken.text, broken.fault?.message]).toEqual(['Half', 'broke']);
  });

  test('a gateway that is gone, and an answer that is none, are said to be so', async () => {
    const gone = (async () => {
      throw new TypeError('Failed to fetch');
    }) as unknown as typeof fetch;
    expect(await sendChat(wish, gone)).toMatchObject({ status: 0, fault: { code: 'unreachable' } });
    const html = answering(() => new Response('<html>', { status: 502 }));
    expect((await sendChat(wish, html)).fault?.message).toBe('The answer has status 502.');
  });
});
