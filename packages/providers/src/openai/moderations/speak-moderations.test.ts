import { describe, expect, test } from 'bun:test';
import type { ChatRequest } from '@llm0/core/chat/request';
import { openai } from '../index';

const context = {
  connection: { baseUrl: 'https://api.openai.com/v1', apiKey: 'k' },
  model: 'omni-moderation-latest',
  dropParams: false,
} as const;
const request: ChatRequest = {
  model: 'openai/omni-moderation-latest',
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'left out' }] },
    { role: 'user', content: [{ type: 'text', text: 'hello' }] },
  ],
  stream: false,
  extra: {},
};
const decode = (body: object) => openai.decodeResponse(new TextEncoder().encode(JSON.stringify(body)), request);

describe('a moderation model', () => {
  test('is sent the text of the last message, at the endpoint for it', () => {
    const { url, body } = openai.encodeRequest(request, context);
    expect(url).toBe('https://api.openai.com/v1/moderations');
    expect(JSON.parse(String(body))).toEqual({ model: 'omni-moderation-latest', input: 'hello' });
  });

  test('answers with a verdict', () => {
    const categories = { hate: true, violence: false };
    expect(decode({ results: [{ flagged: true, categories }] }).events).toMatchObject([
      { type: 'start' },
      { type: 'text', text: '{"flagged":true,"categories":["hate"]}' },
      { type: 'finish', reason: 'stop' },
    ]);
    // Some tell the categories alone.
    expect(decode({ results: [{ categories: { hate: false } }], usage: { prompt_tokens: 4 } }).events).toMatchObject([
      { type: 'start' },
      { type: 'text', text: '{"flagged":false,"categories":[]}' },
      { type: 'finish' },
      { type: 'usage', usage: { inputTokens: 4 } },
    ]);
    expect(() => decode({ results: [] })).toThrow('without a verdict');
  });

  test('other models are asked as before', () => {
    const { url } = openai.encodeRequest({ ...request, model: 'gpt-4o' }, { ...context, model: 'gpt-4o' });
    expect(url).toBe('https://api.openai.com/v1/chat/completions');
    expect(openai.moderates?.('gpt-4o')).toBe(false);
  });
});
