import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { ollama } from '../openai-compatible/ollama';
import type { Provider } from '../provider';
import type { EncodeContext } from '../provider-request';
import { createProviderRegistry } from '../registry';
import { openai } from './index';

const CONTEXT: EncodeContext = {
  connection: { baseUrl: 'https://api.test/v1', apiKey: 'k', headers: { 'x-org': 'o' } },
  model: 'gpt-4o-mini',
  dropParams: false,
};

/** A request that came in this very format. */
function sameFormat(body: JsonObject, stream = false): ChatRequest {
  return { model: 'alias', messages: [], stream, extra: {}, wire: { format: 'openai-chat', body } };
}

function encode(request: ChatRequest, context: Partial<EncodeContext> = {}, provider: Provider = openai) {
  const encoded = provider.encodeRequest(request, { ...CONTEXT, ...context });
  return { ...encoded, json: JSON.parse(String(encoded.body)) as JsonObject };
}

describe('a request of the same format', () => {
  const body: JsonObject = {
    model: 'alias',
    messages: [{ role: 'user', content: 'Hi', odd: 1 }],
    temperature: 0,
    max_tokens: 5,
    unknown: { deep: [null] },
    stream_options: { include_obfuscation: false },
  };

  test('keeps every field; only model and delivery are set; the original stays as it was', () => {
    const before = structuredClone(body);
    const { json, url, headers } = encode(sameFormat(body, true));
    expect(json).toEqual({
      ...body,
      model: 'gpt-4o-mini',
      stream: true,
      stream_options: { include_obfuscation: false, include_usage: true },
    });
    expect(body).toEqual(before);
    expect(url).toBe('https://api.test/v1/chat/completions');
    expect(headers).toMatchObject({ authorization: 'Bearer k', 'x-org': 'o', 'content-type': 'application/json' });
  });

  test.each<[string, JsonObject, Partial<EncodeContext>, JsonObject]>([
    ['keeps the older limit', { max_tokens: 5 }, {}, { max_tokens: 5 }],
    ['keeps the newer limit', { max_completion_tokens: 5 }, {}, { max_completion_tokens: 5 }],
    ['sets a limit where none was sent', {}, { outputLimit: 9 }, { max_tokens: 9 }],
    ['null is no limit', { max_tokens: null }, { outputLimit: 9 }, { max_tokens: 9 }],
    ['never replaces the caller’s limit', { max_tokens: 5 }, { outputLimit: 9 }, { max_tokens: 5 }],
    ['reasoning models know the newer limit', { max_tokens: 5 }, { model: 'gpt-5-mini' }, { max_completion_tokens: 5 }],
    ['also the one that is set', {}, { model: 'o3', outputLimit: 9 }, { max_completion_tokens: 9 }],
    ['their default sampling is left out', { temperature: 1, top_p: 1 }, { model: 'o4-mini' }, {}],
    ['other sampling is the vendor’s to refuse', { temperature: 0.2 }, { model: 'o4-mini' }, { temperature: 0.2 }],
    ['or dropped when allowed', { temperature: 0.2 }, { model: 'o4-mini', dropParams: true }, {}],
    ['chat variants sample', { temperature: 1 }, { model: 'gpt-5-chat-latest' }, { temperature: 1 }],
    [
      'reasoning switched off samples too',
      { temperature: 1, reasoning_effort: 'none' },
      { model: 'gpt-5.1' },
      { temperature: 1, reasoning_effort: 'none' },
    ],
  ])('%s', (_name, sent, context, expected) => {
    const { model: _model, ...json } = encode(sameFormat({ model: 'alias', ...sent }), context).json;
    expect(json).toEqual(expected);
  });

  test('dropped fields are named', () => {
    const request = sameFormat({ temperature: 0.2, top_p: 1 });
    expect(encode(request, { model: 'o3', dropParams: true }).dropped).toEqual(['temperature']);
  });
});

describe('compatible servers', () => {
  test('get the limit under the name they know', () => {
    const { json } = encode(sameFormat({ max_completion_tokens: 5 }), {}, ollama);
    expect(json).toEqual({ model: 'gpt-4o-mini', max_tokens: 5 });
  });

  test.each(['http://host:1', 'http://host:1/v1', 'http://host:1/v1/'])('a local base URL %s', (baseUrl) => {
    expect(encode(sameFormat({}), { connection: { baseUrl } }, ollama).url).toBe('http://host:1/v1/chat/completions');
    expect(ollama.modelsUrl?.({ baseUrl }).url).toBe('http://host:1/v1/models');
  });

  test('no key, no authorization', () => {
    expect(encode(sameFormat({}), { connection: { baseUrl: 'http://h' } }, ollama).headers).not.toHaveProperty(
      'authorization',
    );
  });

  test('fields a server refuses or calls otherwise', () => {
    const { json } = encode(
      sameFormat({ seed: 7, stream_options: {} }, true),
      {},
      createProviderRegistry().get('mistral'),
    );
    expect(json).toEqual({ model: 'gpt-4o-mini', stream: true, random_seed: 7 });
  });
});

describe('a request of another format', () => {
  const request: ChatRequest = {
    model: 'alias',
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'S', cacheControl: { type: 'ephemeral' } }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'see' },
          { type: 'image', url: 'data:x', detail: 'low' },
        ],
      },
      {
        role: 'assistant',
        content: [],
        toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }],
        reasoning: [{ text: 'Hm', signature: 's' }],
      },
      { role: 'tool', toolCallId: 'c', content: [{ type: 'text', text: 'r' }], isError: true },
    ],
    stream: false,
    tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
    toolChoice: { type: 'tool', name: 'f' },
    responseFormat: { type: 'json_schema', name: 's', schema: {} },
    maxOutputTokens: 5,
    temperature: 0,
    stop: ['x'],
    extra: {},
  };

  test('is written from our own types', () => {
    expect(encode(request).json).toEqual({
      model: 'gpt-4o-mini',
      messages: [
        { role: 'system', content: 'S' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image_url', image_url: { url: 'data:x', detail: 'low' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', content: 'Error: r', tool_call_id: 'c' },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
      tool_choice: { type: 'function', function: { name: 'f' } },
      response_format: { type: 'json_schema', json_schema: { name: 's', schema: {} } },
      max_completion_tokens: 5,
      temperature: 0,
      stop: ['x'],
    });
  });

  test.each<[string, Partial<ChatRequest>]>([
    ['top_k', { topK: 5 }],
    ['container', { extra: { container: 'c1' } }],
    [
      'tools.web_search',
      {
        tools: [{ type: 'raw', format: 'anthropic-messages', value: { type: 'web_search', name: 'search' } }],
        toolChoice: { type: 'tool', name: 'search' },
      },
    ],
  ])('%s is refused, or dropped when allowed', (param, more) => {
    const asked = { ...request, toolChoice: undefined, ...more };
    expect(() => encode(asked)).toThrow(GatewayError);
    const { dropped } = encode(asked, { dropParams: true });
    expect(dropped).toEqual(['cache_control', 'messages.thinking', param]);
  });

  test.each([
    [1024, 'low'],
    [4096, 'medium'],
    [16384, 'high'],
  ])('a thinking budget of %d is effort %s', (budget_tokens, effort) => {
    const { json } = encode({ ...request, thinking: { type: 'enabled', budget_tokens } });
    expect(json.reasoning_effort).toBe(effort);
  });

  test('a model known not to think is not asked to, and that is told', () => {
    const priced = { provider: 'p', model: 'm', mode: 'chat', prices: {}, capabilities: ['vision'] } as const;
    const asked = { ...request, thinking: { type: 'enabled', budget_tokens: 2000 } };
    const { json, dropped } = encode(asked, { priced: priced as never });
    expect(json.reasoning_effort).toBeUndefined();
    expect(dropped).toContain('thinking');
  });

  test('a limit beyond what the model can write is the most it can', () => {
    const { json } = encode({ ...request, maxOutputTokens: 64_000 }, { priced: { maxOutputTokens: 16_384 } as never });
    expect(json.max_completion_tokens).toBe(16_384);
  });

  test('headers of another format are named as dropped', () => {
    const wire = { format: 'anthropic-messages', body: {}, headers: { 'x-beta': 'a' } } as const;
    expect(encode({ ...request, wire }).dropped).toContain('x-beta');
  });

  test('images of results follow in a user message after all results', () => {
    const image = { type: 'image', url: 'data:image/png;base64,AA' } as const;
    const messages: ChatRequest['messages'] = [
      { role: 'tool', toolCallId: 'a', content: [image] },
      { role: 'tool', toolCallId: 'b', content: [{ type: 'text', text: 'r' }] },
      { role: 'user', content: [{ type: 'text', text: 'and?' }] },
    ];
    expect(encode({ ...request, messages }).json.messages as unknown).toEqual([
      { role: 'tool', content: 'The result is shown below.', tool_call_id: 'a' },
      { role: 'tool', content: 'r', tool_call_id: 'b' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Shown by the tool call a:' },
          { type: 'image_url', image_url: { url: image.url } },
        ],
      },
      { role: 'user', content: 'and?' },
    ]);
  });

  test('files: text as text, images as images, the rest as data; remote ones travel along', () => {
    const file = (dataUrl: string, filename?: string) => ({ type: 'file', dataUrl, filename }) as const;
    const content = [
      file('data:text/plain;base64,R3LDvMOfZQ==', 'T'),
      file('data:image/png;base64,AA'),
      file('https://x.test/a.pdf', 'a.pdf'),
    ];
    const asked: ChatRequest = { ...request, messages: [{ role: 'user', content }] };
    expect(openai.remoteMedia?.(asked)).toEqual(['https://x.test/a.pdf']);
    const media = new Map([['https://x.test/a.pdf', { mimeType: 'application/pdf', dataBase64: 'BB' }]]);
    expect(encode(asked, { media }).json.messages as unknown).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'T\n\nGrüße' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
          { type: 'file', file: { file_data: 'data:application/pdf;base64,BB', filename: 'a.pdf' } },
        ],
      },
    ]);
  });
});
