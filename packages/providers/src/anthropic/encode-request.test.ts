import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatMessage, ChatRequest, ContentPart } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { PricedModel } from '@llm0/core/pricing/price-book';
import type { EncodeContext } from '../provider-request';
import { anthropic } from './index';

const priced = (...capabilities: string[]): PricedModel => ({
  provider: 'anthropic',
  model: 'm',
  mode: 'chat',
  prices: {},
  maxOutputTokens: 64_000,
  capabilities,
});
const CONTEXT: EncodeContext = {
  connection: { baseUrl: 'https://api.test', apiKey: 'k' },
  model: 'claude-haiku-4-5',
  priced: priced('response_schema'),
  dropParams: false,
};

const text = (words: string): ContentPart[] => [{ type: 'text', text: words }];
const user = (words: string): ChatMessage => ({ role: 'user', content: text(words) });
const ask = (more: Partial<ChatRequest> = {}): ChatRequest => ({
  model: 'alias',
  messages: [user('Hi')],
  stream: false,
  extra: {},
  ...more,
});

function encode(request: ChatRequest, context: Partial<EncodeContext> = {}) {
  const encoded = anthropic.encodeRequest(request, { ...CONTEXT, ...context });
  return { ...encoded, json: JSON.parse(String(encoded.body)) as JsonObject };
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
  test('the key goes in its header, the limit is the model’s own', () => {
    const { url, headers, json, dropped } = encode(ask({ stream: true }));
    expect(url).toBe('https://api.test/v1/messages');
    expect(headers).toMatchObject({ 'x-api-key': 'k', 'anthropic-version': '2023-06-01' });
    expect(json).toEqual({
      model: 'claude-haiku-4-5',
      max_tokens: 64_000,
      stream: true,
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    });
    expect(dropped).toEqual([]);
  });

  test.each<[Partial<ChatRequest>, Partial<EncodeContext>, number]>([
    [{ maxOutputTokens: 7 }, {}, 7],
    [{ maxOutputTokens: 90_000 }, {}, 64_000],
    [{}, { outputLimit: 500 }, 500],
    [{ maxOutputTokens: 7 }, { outputLimit: 500 }, 7],
    [{}, { priced: undefined }, 64_000],
    [{}, { priced: undefined, model: 'claude-3-haiku-20240307' }, 4096],
    [{}, { priced: undefined, model: 'claude-3-5-haiku-latest' }, 8192],
    [{}, { priced: undefined, model: 'claude-opus-4-20250514' }, 32_000],
  ])('the limit of %j with %j', (more, context, expected) => {
    expect(encode(ask(more), context).json.max_tokens).toBe(expected);
  });

  test('a request of this very format keeps every field', () => {
    const body: JsonObject = { model: 'x', max_tokens: 5, messages: [], odd: { deep: [null] }, system: 'S' };
    const { json } = encode(ask({ wire: { format: 'anthropic-messages', body } }));
    expect(json).toEqual({ ...body, model: 'claude-haiku-4-5' });
  });
});

describe('messages', () => {
  test('every system and developer message is kept, in order, with its cache marks', () => {
    const mark = { type: 'ephemeral', ttl: '1h' };
    const { json } = encode(
      ask({
        messages: [
          { role: 'system', content: [{ type: 'text', text: 'A', cacheControl: mark }] },
          user('Hi'),
          { role: 'developer', content: [...text('B'), ...text('C')] },
        ],
      }),
    );
    expect(json.system).toEqual([
      { type: 'text', text: 'A', cache_control: mark },
      { type: 'text', text: 'B' },
      { type: 'text', text: 'C' },
    ]);
    expect(json.messages).toHaveLength(1);
  });

  test('system messages alone are what is to be answered', () => {
    const { json } = encode(ask({ messages: [{ role: 'system', content: text('Go') }] }));
    expect(json.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Go' }] }]);
    expect(json.system).toBeUndefined();
  });

  test('turns are merged; results are one user turn, ahead of its text; empty text is left out', () => {
    const { json } = encode(
      ask({
        messages: [
          user('a'),
          user(''),
          user('b'),
          {
            role: 'assistant',
            content: text('calling'),
            toolCalls: [
              { id: 'c1', name: 'f', arguments: '{"x":1}' },
              { id: 'c.2', name: 'g.h', arguments: '' },
            ],
          },
          { role: 'tool', toolCallId: 'c1', content: text('r1') },
          user('and?'),
          { role: 'tool', toolCallId: 'c.2', content: text('r2'), isError: true },
        ],
        tools: [{ type: 'function', name: 'g.h' }],
      }),
    );
    const turns = json.messages as [JsonObject, { role: string; content: JsonObject[] }, JsonObject];
    expect(turns.map((turn) => turn.role)).toEqual(['user', 'assistant', 'user']);
    expect(turns[0].content).toEqual([...text('a'), ...text('b')] as never);
    const [said, first, second] = turns[1].content;
    expect(said).toEqual({ type: 'text', text: 'calling' });
    expect(first).toEqual({ type: 'tool_use', id: 'c1', name: 'f', input: { x: 1 } });
    expect(second).toMatchObject({ type: 'tool_use', input: {} });
    expect(second?.id).toMatch(/^[\w-]+$/);
    const [toolName] = (json.tools as JsonObject[]).map((tool) => tool.name);
    expect(toolName).toBe(second?.name as string);
    expect(toolName).toMatch(/^[\w-]+$/);
    expect(turns[2].content).toEqual([
      { type: 'tool_result', tool_use_id: 'c1', content: 'r1' },
      { type: 'tool_result', tool_use_id: second?.id ?? '', content: 'r2', is_error: true },
      { type: 'text', text: 'and?' },
    ]);
  });

  test('names are mapped back when the model calls', () => {
    const request = ask({ tools: [{ type: 'function', name: 'my.tool' }] });
    const [{ name }] = encode(request).json.tools as [{ name: string }];
    const body = { content: [{ type: 'tool_use', id: 't', name, input: {} }], stop_reason: 'tool_use' };
    const { events } = anthropic.decodeResponse(new TextEncoder().encode(JSON.stringify(body)), request);
    expect(events.find((event) => event.type === 'tool-call')).toMatchObject({ name: 'my.tool' });
  });

  test('arguments that are no JSON object are refused, naming the call', () => {
    for (const wrong of ['{oops', '[1]', '"x"']) {
      const toolCalls = [{ id: 'call_7', name: 'f', arguments: wrong }];
      const error = refusal(ask({ messages: [{ role: 'assistant', content: [], toolCalls }] }));
      expect(error.kind).toBe('invalid_request');
      expect(error.message).toContain('call_7');
    }
  });

  test('signed thoughts go back, those of others do not', () => {
    const { json } = encode(
      ask({
        messages: [
          user('a'),
          {
            role: 'assistant',
            content: text('b'),
            reasoning: [
              { text: 'Hm', signature: 's', format: 'anthropic-claude-v1' },
              { data: 'sealed', format: 'anthropic-claude-v1' },
              { data: 'foreign', format: 'google-gemini-v1' },
              { text: 'unsigned' },
            ],
          },
          user('c'),
        ],
      }),
    );
    expect((json.messages as JsonObject[])[1]?.content).toEqual([
      { type: 'thinking', thinking: 'Hm', signature: 's' },
      { type: 'redacted_thinking', data: 'sealed' },
      { type: 'text', text: 'b' },
    ]);
  });

  test.each([[' '], ['\n\t\u00a0'], ['']])('messages of white space alone (%j) are refused in our words', (blank) => {
    const blanks: ChatMessage[] = [user(blank), { role: 'assistant', content: text(blank) }, user(blank)];
    for (const messages of [[user(blank)], blanks, [{ role: 'system', content: text(blank) } as const, user(blank)]]) {
      expect(() => encode(ask({ messages }))).toThrow('Send at least one with visible text');
    }
    expect(encode(ask({ messages: [user('a'), ...blanks] })).json.messages).toHaveLength(1);
  });

  test('a beginning to go on from ends in no white space', () => {
    const { json } = encode(ask({ messages: [user('a'), { role: 'assistant', content: text('Once ') }] }));
    expect((json.messages as JsonObject[])[1]?.content).toEqual([{ type: 'text', text: 'Once' }]);
  });

  test.each<[ContentPart, JsonObject]>([
    [
      { type: 'image', url: 'data:image/jpg;base64,AA==', cacheControl: { type: 'ephemeral' } },
      {
        type: 'image',
        source: { type: 'base64', media_type: 'image/jpeg', data: 'AA==' },
        cache_control: { type: 'ephemeral' },
      },
    ],
    [
      { type: 'image', url: 'https://x.test/a.png' },
      { type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } },
    ],
    [
      { type: 'file', dataUrl: 'data:application/pdf;base64,AA==', filename: 'a.pdf' },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AA==' }, title: 'a.pdf' },
    ],
    [
      { type: 'file', dataUrl: 'data:text/plain,Gr%C3%BC%C3%9Fe' },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' } },
    ],
  ])('the part %j', (part, block) => {
    const { json } = encode(ask({ messages: [{ role: 'user', content: [part] }] }));
    expect((json.messages as JsonObject[])[0]?.content).toEqual([block]);
  });

  test.each<ContentPart>([
    { type: 'audio', dataBase64: 'AA==', format: 'wav' },
    { type: 'image', url: 'gs://bucket/x.png' },
    { type: 'file', dataUrl: 'AA==' },
    { type: 'raw', format: 'openai-chat', value: { type: 'video_url' } },
  ])('the part %j is refused, or dropped when allowed', (part) => {
    const request = ask({ messages: [{ role: 'user', content: [...text('see'), part] }] });
    expect(refusal(request).kind).toBe('unsupported_parameter');
    expect(encode(request, { dropParams: true }).dropped).toEqual(['messages']);
  });
});

describe('tools', () => {
  const tools: ChatRequest['tools'] = [
    { type: 'function', name: 'f', description: 'd', parameters: { type: 'object', $defs: { a: {} } } },
    { type: 'function', name: 'g', cacheControl: { type: 'ephemeral' } },
  ];

  test('parameters are passed whole', () => {
    expect(encode(ask({ tools })).json.tools).toEqual([
      { name: 'f', description: 'd', input_schema: { type: 'object', $defs: { a: {} } } },
      { name: 'g', input_schema: { type: 'object', properties: {} }, cache_control: { type: 'ephemeral' } },
    ]);
  });

  test.each<[Partial<ChatRequest>, JsonObject | undefined]>([
    [{}, undefined],
    [{ toolChoice: { type: 'auto' } }, { type: 'auto' }],
    [{ toolChoice: { type: 'none' } }, { type: 'none' }],
    [{ toolChoice: { type: 'required' } }, { type: 'any' }],
    [{ toolChoice: { type: 'tool', name: 'f' } }, { type: 'tool', name: 'f' }],
    [{ parallelToolCalls: true }, undefined],
    [{ parallelToolCalls: false }, { type: 'auto', disable_parallel_tool_use: true }],
    [
      { parallelToolCalls: false, toolChoice: { type: 'required' } },
      { type: 'any', disable_parallel_tool_use: true },
    ],
  ])('the choice %j', (more, expected) => {
    expect(encode(ask({ tools, ...more })).json.tool_choice).toEqual(expected as JsonObject);
  });

  test('its own built-in tools pass, others are refused', () => {
    const search = { type: 'web_search_20250305', name: 'web_search' };
    const raw = (value: JsonObject): ChatRequest => ask({ tools: [{ type: 'raw', format: 'openai-chat', value }] });
    expect(encode(raw(search)).json.tools).toEqual([search]);
    expect(refusal(raw({ type: 'custom' })).param).toBe('tools.custom');
  });
});

describe('structured output', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: {
      n: { type: 'integer', minimum: 1 },
      tags: { type: 'array', items: { type: 'object', properties: {} } },
    },
    required: ['n'],
  };
  const responseFormat = { type: 'json_schema', name: 's', schema } as const;

  test('native where the model has it, in the subset it takes', () => {
    const { json } = encode(ask({ responseFormat }));
    expect(json.output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: {
            n: { type: 'integer', description: '{minimum: 1}' },
            tags: { type: 'array', items: { type: 'object', properties: {}, additionalProperties: false } },
          },
          required: ['n'],
          additionalProperties: false,
        },
      },
    });
    expect(json.tools).toBeUndefined();
  });

  test('a schema that fits is sent as it is', () => {
    const fitting = {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    };
    const { json } = encode(ask({ responseFormat: { ...responseFormat, schema: fitting } }));
    expect(json.output_config).toEqual({ format: { type: 'json_schema', schema: fitting } });
  });

  test('else a forced tool, beside the caller’s own', () => {
    const { json } = encode(ask({ responseFormat }), { priced: priced() });
    expect(json.tool_choice).toEqual({ type: 'tool', name: 'llm0_json_answer' });
    expect(json.tools).toMatchObject([{ name: 'llm0_json_answer', input_schema: schema }]);
    const tools: ChatRequest['tools'] = [{ type: 'function', name: 'f' }];
    const both = encode(ask({ responseFormat, tools, parallelToolCalls: false }), { priced: priced() }).json;
    expect(both.tool_choice).toEqual({ type: 'any', disable_parallel_tool_use: true });
    expect(both.tools).toHaveLength(2);
  });

  test('open objects cannot be told natively', () => {
    const open = { type: 'object', properties: { map: { type: 'object', additionalProperties: { type: 'string' } } } };
    const { json } = encode(ask({ responseFormat: { ...responseFormat, schema: open } }));
    expect(json.tools).toMatchObject([{ input_schema: open }]);
  });

  test('a model that cannot be forced gets an instruction', () => {
    const context = { priced: priced(), model: 'claude-sonnet-5-5' };
    const [instruction] = encode(ask({ responseFormat }), context).json.system as [{ text: string }];
    expect(instruction.text).toContain(JSON.stringify(schema));
    expect(encode(ask({ responseFormat: { type: 'json_object' } })).json.system).toHaveLength(1);
  });
});

describe('reasoning', () => {
  test.each<[string, number, JsonObject | undefined]>([
    ['minimal', 8000, { type: 'enabled', budget_tokens: 1024 }],
    ['low', 8000, { type: 'enabled', budget_tokens: 1024 }],
    ['medium', 64_000, { type: 'enabled', budget_tokens: 4096 }],
    ['high', 64_000, { type: 'enabled', budget_tokens: 16_384 }],
    ['high', 4000, { type: 'enabled', budget_tokens: 2000 }],
    ['high', 1500, { type: 'enabled', budget_tokens: 1024 }],
    ['high', 1024, undefined],
    ['none', 64_000, undefined],
  ])('effort %s within %d tokens', (reasoningEffort, maxOutputTokens, expected) => {
    expect(encode(ask({ reasoningEffort, maxOutputTokens })).json.thinking).toEqual(expected as JsonObject);
  });

  test.each<[string, string, JsonObject]>([
    ['claude-opus-4-6', 'medium', { thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } }],
    ['claude-sonnet-4-6', 'xhigh', { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }],
    [
      'claude-opus-4-7-20260416',
      'xhigh',
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'xhigh' } },
    ],
    ['claude-sonnet-5', 'none', { thinking: { type: 'disabled' } }],
    ['claude-sonnet-5-5', 'none', { thinking: { type: 'between_tools' } }],
    ['claude-fable-5', 'none', { output_config: { effort: 'low' } }],
    ['claude-sonnet-4-6', 'none', {}],
  ])('%s thinks adaptively: effort %s', (model, reasoningEffort, expected) => {
    const { thinking, output_config } = encode(ask({ reasoningEffort }), { model }).json;
    expect(JSON.parse(JSON.stringify({ thinking, output_config }))).toEqual(expected);
  });

  test('`thinking` is passed as it is', () => {
    const thinking = { type: 'enabled', budget_tokens: 2000 };
    expect(encode(ask({ thinking, reasoningEffort: 'low' })).json.thinking).toEqual(thinking);
  });

  test('unavailable thinking is named as dropped: calls without thoughts, forced tools', () => {
    const tools: ChatRequest['tools'] = [{ type: 'function', name: 'f' }];
    const messages: ChatMessage[] = [
      user('a'),
      { role: 'assistant', content: [], toolCalls: [{ id: 'c', name: 'f', arguments: '{}' }] },
      { role: 'tool', toolCallId: 'c', content: text('r') },
    ];
    const reasoningEffort = 'medium';
    for (const more of [{ messages }, { toolChoice: { type: 'required' } as const }]) {
      const { json, dropped } = encode(ask({ tools, reasoningEffort, ...more }));
      expect(json.thinking).toBeUndefined();
      expect(dropped).toEqual(['reasoning_effort']);
    }
  });

  test('an unknown effort is refused', () =>
    expect(refusal(ask({ reasoningEffort: 'odd' })).param).toBe('reasoning_effort'));
});

describe('parameters', () => {
  test('those the vendor has', () => {
    const { json } = encode(
      ask({
        temperature: 0,
        topP: 0.5,
        topK: 3,
        stop: ['a', ''],
        user: 'u',
        serviceTier: 'default',
        metadata: { x: 'y' },
      }),
    );
    expect(json).toMatchObject({
      temperature: 0,
      top_p: 0.5,
      top_k: 3,
      stop_sequences: ['a'],
      metadata: { user_id: 'u' },
      service_tier: 'standard_only',
    });
    expect(encode(ask({ temperature: 1.7 })).json.temperature).toBe(1);
  });

  test.each<[string, Partial<ChatRequest>]>([
    ['n', { n: 2 }],
    ['seed', { seed: 7 }],
    ['frequency_penalty', { frequencyPenalty: 0.5 }],
    ['presence_penalty', { presencePenalty: -1 }],
    ['logprobs', { logprobs: true }],
    ['top_logprobs', { topLogprobs: 2 }],
    ['logit_bias', { logitBias: { '5': 1 } }],
    ['stop', { stop: ['\n'] }],
    ['service_tier', { serviceTier: 'flex' }],
    ['audio', { extra: { audio: { voice: 'x' } } }],
    ['modalities', { extra: { modalities: ['text', 'audio'] } }],
  ])('%s is refused, or dropped when allowed', (param, more) => {
    const error = refusal(ask(more));
    expect([error.kind, error.param]).toEqual(['unsupported_parameter', param]);
    expect(error.message).toContain('claude-haiku-4-5');
    expect(encode(ask(more), { dropParams: true }).dropped).toEqual([param]);
  });

  test('at their neutral value they ask for nothing', () => {
    const { json, dropped } = encode(
      ask({
        n: 1,
        seed: 0,
        frequencyPenalty: 0,
        presencePenalty: 0,
        logprobs: false,
        topLogprobs: 0,
        logitBias: {},
        topK: -1,
        extra: { store: false, stream_options: {}, modalities: ['text'], 'messages[0].id': 'x' },
      }),
    );
    expect(Object.keys(json).sort()).toEqual(['max_tokens', 'messages', 'model']);
    expect(dropped).toEqual(['messages[0].id']);
  });

  test('models that take defaults only', () => {
    const model = 'claude-opus-5';
    expect(encode(ask({ temperature: 1, topP: 1 }), { model }).json).not.toContainAnyKeys(['temperature', 'top_p']);
    expect(encode(ask({ temperature: 0 }), { model }).json.temperature).toBe(0);
    const dropping = encode(ask({ temperature: 0 }), { model, dropParams: true });
    expect(dropping.json.temperature).toBeUndefined();
    expect(dropping.dropped).toEqual(['temperature']);
  });

  test('its own fields pass', () => {
    const extra = { cache_control: { type: 'ephemeral' }, output_config: { effort: 'low' } };
    expect(encode(ask({ extra })).json).toMatchObject(extra);
  });
});
