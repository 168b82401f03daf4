import { describe, expect, test } from 'bun:test';
import { sendChat } from './send-chat';

const wish = { apiKey: 'k', model: 'm', prompt: 'Hello', stream: true };

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

const SSE = [
  'data: {"choices":[{"delta":{"role":"assistant"}}]}',
  'data: {"choices":[{"delta":{"content":"Grüß "}}]}',
  'data: {"choices":[{"delta":{"content":"Gott"}}]}',
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":null}],"usage":{"prompt_tokens":3,"completion_tokens":2},"cost_usd":0.000001}',
  'data: [DONE]',
  '',
].join('\r\n\r\n');

describe('the playground', () => {
  test.each([1, 2, 7, 10_000])('puts a stream together, in pieces of %p bytes', async (size) => {
    const seen: string[] = [];
    const answer = async () =>
      new Response(streamOf(SSE, size), { headers: { 'x-cache-hit': 'miss', 'content-length': '9' } });
    const outcome = await sendChat({ ...wish, onText: (text) => seen.push(text) }, answer as unknown as typeof fetch);
    expect(outcome).toMatchObject({
      ok: true,
      status: 200,
      text: 'Grüß Gott',
      costUsd: 0.000001,
      tokensIn: 3,
      tokensOut: 2,
    });
    expect(outcome.headers).toEqual([['x-cache-hit', 'miss']]);
    expect(seen).toEqual(['Grüß ', 'Grüß Gott']);
    expect(outcome.ttftMs).not.toBeNull();
  });

  test('sends what an application would, and no cookie', async () => {
    let sent: RequestInit | undefined;
    const answer = async (_: string, init: RequestInit) => {
      sent = init;
      return Response.json({
        choices: [{ message: { content: 'Hi' } }],
        usage: { prompt_tokens: 1, completion_tokens: 1 },
      });
    };
    const outcome = await sendChat({ ...wish, stream: false, system: 'Be brief' }, answer as unknown as typeof fetch);
    expect(outcome.text).toBe('Hi');
    expect(sent).toMatchObject({ credentials: 'omit', headers: { authorization: 'Bearer k' } });
    expect(JSON.parse(String(sent?.body))).toEqual({
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'Hello' },
      ],
    });
  });

  test('a refusal is shown as it was put, also in the middle of a stream', async () => {
    const refuse = async () => Response.json({ error: { message: 'Too many.' } }, { status: 429 });
    expect(await sendChat(wish, refuse as unknown as typeof fetch)).toMatchObject({
      ok: false,
      status: 429,
      text: 'Too many.',
    });
    const cut = async () =>
      new Response('data: {"choices":[{"delta":{"content":"Half"}}]}\n\ndata: {"error":{"message":" broke"}}\n\n');
    expect(await sendChat(wish, cut as unknown as typeof fetch)).toMatchObject({
      ok: false,
      status: 200,
      text: 'Half broke',
    });
  });
});
