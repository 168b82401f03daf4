import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatMessage, ChatRequest, ContentPart, Tool } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { PricedModel } from '@llm0/core/pricing/price-book';
import type { EncodeContext } from '../provider-request';
import { cohere } from './index';

const CONTEXT: EncodeContext = {
  connection: { baseUrl: 'https://api.test', apiKey: 'k' },
  model: 'command-a-03-2025',
  dropParams: false,
};

const text = (words: string): ContentPart[] => [{ type: 'text', text: words }];
const user = (words: string): ChatMessage => ({ role: 'user', content: text(words) });
const ask = (more: Partial<ChatRequest> = {}): ChatRequest => ({
  ...{ model: 'alias', messages: [user('Hi')], stream: false, extra: {} },
  ...more,
});

function encode(request: ChatRequest, context: Partial<EncodeContext> = {}) {
  const encoded = cohere.encodeRequest(request, { ...CONTEXT, ...context });
  return { ...encoded, json: JSON.parse(String(encoded.body)) as JsonObject };
}

/** What is sent beside the model and the messages. */
function settings(more: Partial<ChatRequest>, context?: Partial<EncodeContext>): JsonObject {
  const { model: _model, messages: _messages, stream: _stream, ...rest } = encode(ask(more), context).json;
  return rest;
}

function refusal(request: ChatRequest, context: Partial<EncodeContext> = {}): GatewayError {
  try {
    encode(request, context);
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error('the request was not refused');
}

describe('delivery', () => {
  test.each(['https://api.test', 'https://api.test/', 'https://api.test/v2', 'https://api.test/compatibility/v1/'])(
    'of %s: to the chat of the host, the key in its header',
    (baseUrl) => {
      const { url, headers, json } = encode(ask({ stream: true }), { connection: { baseUrl, apiKey: 'k' } });
      expect(url).toBe('https://api.test/v2/chat');
      expect(headers.authorization).toBe('Bearer k');
      expect(json).toEqual({
        model: 'command-a-03-2025',
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
        stream: true,
      });
      expect(cohere.probeUrl?.({ baseUrl, apiKey: 'k' }).url).toBe('https://api.test/v1/models?page_size=1');
    },
  );
});

describe('messages', () => {
  test('what the system says comes first, wherever it stands; alone it is the input', () => {
    const { json } = encode(
      ask({
        messages: [
          { role: 'system', content: text('A') },
          user('a'),
          { role: 'developer', content: text('B') },
          { role: 'assistant', content: text('b') },
        ],
      }),
    );
    expect(json.messages).toEqual([
      {
        role: 'system',
        content: [
          { type: 'text', text: 'A' },
          { type: 'text', text: 'B' },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'a' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'b' }] },
    ]);
    const alone = encode(ask({ messages: [{ role: 'system', content: text('Go') }] })).json;
    expect(alone.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Go' }] }]);
    expect(refusal(ask({ messages: [user('')] })).param).toBe('messages');
  });

  test('text beside calls is their plan; each result has a message, its image is the user’s', () => {
    const { json } = encode(
      ask({
        messages: [
          user('a'),
          {
            role: 'assistant',
            content: text('calling'),
            toolCalls: [
              { id: 'c1', name: 'f', arguments: '{"x": 12345678901234567890}' },
              { id: 'c2', name: 'my tool', arguments: '' },
              { id: 'c3', name: 'free', arguments: 'words', custom: true },
            ],
          },
          { role: 'tool', toolCallId: 'c2', content: [...text('two'), { type: 'image', url: 'data:,x' }] },
          { role: 'tool', toolCallId: 'c1', content: text('broke'), isError: true },
          { role: 'tool', toolCallId: 'c3', content: [] },
          user('b'),
        ],
      }),
    );
    const [, said, ...rest] = json.messages as JsonObject[];
    const calls = said?.tool_calls as { id: string; function: { name: string; arguments: string } }[];
    expect(said).toMatchObject({ role: 'assistant', tool_plan: 'calling' });
    expect(said?.content).toBeUndefined();
    expect(calls.map(({ id, function: { arguments: args } }) => [id, args])).toEqual([
      ['c1', '{"x": 12345678901234567890}'],
      ['c2', '{}'],
      ['c3', '{"input":"words"}'],
    ]);
    expect(calls[1]?.function.name).toMatch(/^my_tool_\w{8}$/);
    expect(rest).toEqual([
      { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'two' }] },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'Error: broke' }] },
      { role: 'tool', tool_call_id: 'c3', content: '' },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'data:,x' } },
          { type: 'text', text: 'b' },
        ],
      },
    ]);
  });

  test('arguments that are no JSON are named', () => {
    const toolCalls = [{ id: 'c1', name: 'f', arguments: '{' }];
    expect(refusal(ask({ messages: [user('a'), { role: 'assistant', content: [], toolCalls }] })).message).toContain(
      'c1',
    );
  });

  test('images keep their detail; audio and files are refused', () => {
    const said = (part: ContentPart) => ask({ messages: [{ role: 'user', content: [part] }] });
    const { json } = encode(said({ type: 'image', url: 'https://x.test/a.png', detail: 'low' }));
    expect(json.messages).toEqual([
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'https://x.test/a.png', detail: 'low' } }],
      },
    ]);
    for (const part of [
      { type: 'audio', dataBase64: 'AAAA', format: 'wav' },
      { type: 'file', dataUrl: 'data:application/pdf;base64,AAAA' },
      { type: 'raw', format: 'openai-chat', value: { type: 'odd' } },
    ] as const) {
      expect(refusal(said(part))).toMatchObject({ kind: 'unsupported_parameter', param: 'messages' });
    }
  });
});

describe('tools', () => {
  const tools: readonly Tool[] = [
    { type: 'function', name: 'f', description: 'F', parameters: { type: 'object', properties: { x: {} } } },
    { type: 'function', name: 'g' },
  ];
  const F = {
    type: 'function',
    function: { name: 'f', description: 'F', parameters: { type: 'object', properties: { x: {} } } },
  };
  const G = { type: 'function', function: { name: 'g', parameters: { type: 'object', properties: {} } } };

  test.each([
    [undefined, [F, G], undefined],
    [{ type: 'auto' }, [F, G], undefined],
    [{ type: 'none' }, [F, G], 'NONE'],
    [{ type: 'required' }, [F, G], 'REQUIRED'],
    // The vendor takes no names: the tool that has to be called is the only one.
    [{ type: 'tool', name: 'g' }, [G], 'REQUIRED'],
  ] as const)('chosen by %j', (toolChoice, sent, choice) => {
    const { tools: offered, tool_choice } = settings({ tools, toolChoice });
    expect([offered, tool_choice]).toEqual([sent as unknown as JsonObject[], choice]);
  });

  test('a choice without tools is none; tools of other vendors are left out by name', () => {
    expect(settings({ toolChoice: { type: 'required' } })).toEqual({});
    const raw = { type: 'raw', format: 'openai-responses', value: { type: 'web_search' } } as const;
    const { json, dropped } = encode(ask({ tools: [...tools, raw] }));
    expect([json.tools, dropped]).toEqual([[F, G], ['tools.web_search']]);
  });
});

describe('the form of the answer', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };

  test('JSON, with a schema or without', () => {
    expect(settings({ responseFormat: { type: 'text' } })).toEqual({});
    expect(settings({ responseFormat: { type: 'json_object' } })).toEqual({ response_format: { type: 'json_object' } });
    expect(settings({ responseFormat: { type: 'json_schema', name: 'n', schema, strict: true } })).toEqual({
      response_format: { type: 'json_object', json_schema: schema },
    });
  });

  test('beside tools it is refused, or dropped by name', () => {
    const request = ask({ responseFormat: { type: 'json_object' }, tools: [{ type: 'function', name: 'f' }] });
    expect(refusal(request).param).toBe('response_format');
    const { json, dropped } = encode(request, { dropParams: true });
    expect([json.response_format, dropped]).toEqual([undefined, ['response_format']]);
  });
});

describe('reasoning', () => {
  test.each<[Partial<ChatRequest>, JsonObject]>([
    [{ reasoningEffort: 'none' }, { type: 'disabled' }],
    [{ reasoningEffort: 'minimal' }, { type: 'enabled', token_budget: 1024 }],
    [{ reasoningEffort: 'medium' }, { type: 'enabled', token_budget: 4096 }],
    [{ reasoningEffort: 'high' }, { type: 'enabled' }],
    [{ thinking: { type: 'disabled' } }, { type: 'disabled' }],
    [{ thinking: { type: 'adaptive' } }, { type: 'enabled' }],
    [{ thinking: { type: 'enabled', budget_tokens: 2000 } }, { type: 'enabled', token_budget: 2000 }],
  ])('%j', (more, thinking) => {
    expect(settings(more)).toEqual({ thinking });
  });

  test('a model known not to think is not asked to', () => {
    const priced: PricedModel = { provider: 'cohere', model: 'm', mode: 'chat', prices: {}, capabilities: [] };
    expect(refusal(ask({ reasoningEffort: 'low' }), { priced }).param).toBe('reasoning_effort');
    expect(refusal(ask({ thinking: { type: 'enabled' } }), { priced }).param).toBe('thinking');
    expect(settings({ reasoningEffort: 'none' }, { priced })).toEqual({});
    expect(refusal(ask({ reasoningEffort: 'odd' })).param).toBe('reasoning_effort');
  });
});

describe('settings', () => {
  test('by the vendor’s names and within its bounds', () => {
    expect(
      settings({
        ...{ temperature: 1.5, topP: 1, topK: 1000, seed: 7, frequencyPenalty: 0.5, presencePenalty: 0 },
        ...{ maxOutputTokens: 9, stop: ['END', ''] },
      }),
    ).toEqual({
      ...{ temperature: 1, p: 0.99, k: 500, seed: 7, frequency_penalty: 0.5, presence_penalty: 0 },
      ...{ max_tokens: 9, stop_sequences: ['END'] },
    });
    const priced = { provider: 'cohere', model: 'm', mode: 'chat', prices: {}, capabilities: [], maxOutputTokens: 8 };
    expect(settings({}, { outputLimit: 20 })).toEqual({ max_tokens: 20 });
    expect(settings({ maxOutputTokens: 9 }, { priced })).toEqual({ max_tokens: 8 });
  });

  test.each<[string, Partial<ChatRequest>]>([
    ['frequency_penalty', { frequencyPenalty: -1 }],
    ['presence_penalty', { presencePenalty: 2 }],
    ['stop', { stop: ['1', '2', '3', '4', '5', '6'] }],
    ['n', { n: 2 }],
    ['logprobs', { logprobs: true }],
    ['logit_bias', { logitBias: { '1': 1 } }],
    ['service_tier', { serviceTier: 'flex' }],
    ['odd', { extra: { odd: 1 } }],
  ])('%s is refused, or dropped by name', (name, more) => {
    expect(refusal(ask(more))).toMatchObject({ kind: 'unsupported_parameter', param: name });
    expect(encode(ask(more), { dropParams: true }).dropped).toEqual([name]);
  });

  test('fields of its own go along; hints are named', () => {
    const own = { documents: [{ data: { text: 'x' } }], safety_mode: 'STRICT', priority: 1 };
    expect(settings({ extra: own })).toEqual(own);
    const { dropped } = encode(ask({ user: 'u', metadata: { a: 'b' }, extra: { prompt_cache_key: 'x' } }));
    expect([...dropped].sort()).toEqual(['metadata', 'prompt_cache_key', 'user']);
  });
});

describe('embeddings', () => {
  const { embeddings } = cohere;
  const embed = (more: JsonObject, dimensions?: number, dropParams = false) => {
    const request = { model: 'alias', inputs: ['a', 'b'], dimensions, extra: more };
    const encoded = embeddings?.encodeRequest(request, { ...CONTEXT, model: 'embed-v4.0', dropParams });
    return { ...encoded, json: JSON.parse(String(encoded?.body)) as JsonObject };
  };

  test('a document’s, unless the caller says otherwise', () => {
    const { url, json } = embed({}, 256);
    expect(url).toBe('https://api.test/v2/embed');
    expect(json).toEqual({
      ...{ model: 'embed-v4.0', texts: ['a', 'b'], input_type: 'search_document', embedding_types: ['float'] },
      output_dimension: 256,
    });
    expect(embed({ input_type: 'search_query', truncate: 'NONE' }).json).toMatchObject({
      ...{ input_type: 'search_query', truncate: 'NONE' },
    });
    expect(() => embed({ embedding_types: ['int8'] })).toThrow(GatewayError);
    expect(embed({ odd: 1 }, undefined, true).dropped).toEqual(['odd']);
  });

  test('an answer’s vectors and tokens', () => {
    const answer = {
      ...{ id: '3198467e-399f-4d4a-aa2c-58af93bd6dc0', texts: ['a', 'b'], response_type: 'embeddings_by_type' },
      embeddings: {
        float: [
          [0.5, -1],
          [0.25, 2],
        ],
      },
      meta: { api_version: { version: '2' }, billed_units: { input_tokens: 2 } },
    };
    const read = (body: JsonObject) =>
      embeddings?.decodeResponse(new TextEncoder().encode(JSON.stringify(body)), new Headers());
    expect(read(answer)).toEqual({
      encoded: [
        [0.5, -1],
        [0.25, 2],
      ],
      inputTokens: 2,
    });
    expect(read({})).toEqual({ encoded: [] });
  });
});

test('a key that is none has a status of its own', () => {
  const body = JSON.stringify({ message: 'invalid api token' });
  expect(cohere.decodeError(498, new Headers(), body)).toMatchObject({ failure: 'auth' });
});
