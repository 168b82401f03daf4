import { expect } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import { SseDecoder } from '@llm0/core/sse/decode-sse';

const DELTAS: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  tool_use: ['input_json_delta'],
  server_tool_use: ['input_json_delta'],
};

/** Checks everything accumulators rely on, and gives the message they would make of it. */
export function readShape(text: string): JsonObject & { content: JsonObject[] } {
  const events = new SseDecoder().push(new TextEncoder().encode(text));
  const payloads = events.map(({ event, data }) => {
    const payload = JSON.parse(data) as JsonObject;
    expect(payload.type).toBe(event as string);
    return payload;
  });
  const [start, ...rest] = payloads;
  expect(start?.type).toBe('message_start');
  const message = { ...(start?.message as JsonObject) };
  expect(message).toMatchObject({ type: 'message', role: 'assistant', content: [], stop_reason: null });
  expect(message.usage).toMatchObject({ input_tokens: expect.any(Number), output_tokens: expect.any(Number) });
  const content: JsonObject[] = [];
  let open: { block: JsonObject; json: string } | undefined;
  let ended = 0;
  for (const payload of rest) {
    if (payload.type === 'ping') continue;
    if (payload.type === 'content_block_start') {
      expect([open, ended, payload.index]).toEqual([undefined, 0, content.length]);
      open = { block: { ...(payload.content_block as JsonObject) }, json: '' };
      content.push(open.block);
    } else if (payload.type === 'content_block_delta') {
      expect(payload.index).toBe(content.length - 1);
      if (open === undefined) throw new Error('a piece of no block');
      addDelta(open, payload.delta as JsonObject);
    } else if (payload.type === 'content_block_stop') {
      expect([payload.index, open === undefined]).toEqual([content.length - 1, false]);
      if (open !== undefined && open.json !== '') open.block.input = JSON.parse(open.json);
      open = undefined;
    } else if (payload.type === 'message_delta') {
      expect([open, ended]).toEqual([undefined, 0]);
      ended = 1;
      Object.assign(message, payload.delta);
      message.usage = { ...(message.usage as JsonObject), ...(payload.usage as JsonObject) };
    } else {
      expect([payload.type, ended]).toEqual(['message_stop', 1]);
      ended = 2;
    }
  }
  expect(ended).toBe(2);
  return { ...message, content };
}

function addDelta(open: { block: JsonObject; json: string }, delta: JsonObject): void {
  const { block } = open;
  expect(DELTAS[String(block.type)]).toContain(String(delta.type));
  if (delta.type === 'text_delta') block.text = String(block.text) + String(delta.text);
  if (delta.type === 'thinking_delta') block.thinking = String(block.thinking) + String(delta.thinking);
  if (delta.type === 'signature_delta') block.signature = delta.signature ?? '';
  if (delta.type === 'citations_delta') {
    block.citations = [...((block.citations ?? []) as JsonObject[]), delta.citation as JsonObject];
  }
  if (delta.type === 'input_json_delta') open.json += String(delta.partial_json);
}
