import { describe, expect, test } from 'bun:test';
import { canonicalText, exactCacheKey } from '@llm0/core/cache/cache-key';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { openaiChat } from '../openai-chat/index';
import { sealReasoning } from '../seal-reasoning';
import { openaiResponses } from './index';

const ask = (more: JsonObject = {}): JsonObject => ({ model: 'm', input: 'Hi', ...more });
const decode = (more: JsonObject = {}) => openaiResponses.decodeRequest(ask(more));
const messages = (input: JsonValue) => decode({ input }).messages;

function refusal(body: JsonObject): { kind: string; param: string | undefined } {
  try {
    openaiResponses.decodeRequest(body);
  } catch (error) {
    if (error instanceof GatewayError) return { kind: error.kind, param: error.param };
    throw error;
  }
  throw new Error('nothing was refused');
}

const SCHEMA = { type: 'object', properties: { a: { type: 'integer' } } };
const text = (words: string) => ({ type: 'text' as const, text: words });

describe('the same question in either of the vendor’s formats is one canonical request', () => {
  const pairs: readonly (readonly [string, JsonObject, JsonObject])[] = [
    ['a text', { input: 'Hi' }, { messages: [{ role: 'user', content: 'Hi' }] }],
    [
      'instructions and parts',
      {
        instructions: 'Be kind',
        input: [
          {
            type: 'message',
            role: 'user',
            content: [
              { type: 'input_text', text: 'Look' },
              { type: 'input_image', image_url: 'https://h/i.png', detail: 'low' },
              { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
            ],
          },
        ],
      },
      {
        messages: [
          { role: 'system', content: 'Be kind' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Look' },
              { type: 'image_url', image_url: { url: 'https://h/i.png', detail: 'low' } },
              { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
            ],
          },
        ],
      },
    ],
    [
      'settings',
      {
        input: 'Hi',
        temperature: 0,
        top_p: 0.5,
        max_output_tokens: 20,
        parallel_tool_calls: false,
        reasoning: { effort: 'low' },
        text: { format: { type: 'json_schema', name: 'n', schema: SCHEMA, strict: true }, verbosity: 'low' },
        include: ['message.output_text.logprobs'],
        top_logprobs: 2,
        service_tier: 'flex',
        tools: [{ type: 'function', name: 'f', parameters: SCHEMA, strict: false }],
        tool_choice: { type: 'function', name: 'f' },
        prompt_cache_key: 'k',
        store: false,
        metadata: { a: 'b' },
        user: 'u',
        truncation: 'disabled',
      },
      {
        messages: [{ role: 'user', content: 'Hi' }],
        temperature: 0,
        top_p: 0.5,
        max_completion_tokens: 20,
        parallel_tool_calls: false,
        reasoning_effort: 'low',
        response_format: { type: 'json_schema', json_schema: { name: 'n', schema: SCHEMA, strict: true } },
        verbosity: 'low',
        logprobs: true,
        top_logprobs: 2,
        service_tier: 'flex',
        tools: [{ type: 'function', function: { name: 'f', parameters: SCHEMA, strict: false } }],
        tool_choice: { type: 'function', function: { name: 'f' } },
        prompt_cache_key: 'k',
      },
    ],
    [
      'a turn with calls and their results',
      {
        input: [
          { role: 'user', content: 'Weather?' },
          {
            type: 'message',
            role: 'assistant',
            id: 'msg_1',
            status: 'completed',
            content: [{ type: 'output_text', text: 'Let me see', annotations: [] }],
          },
          { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{"a":1}', status: 'completed' },
          { type: 'function_call', call_id: 'c2', name: 'f', arguments: '{}' },
          { type: 'function_call_output', call_id: 'c1', output: 'sun' },
          { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'rain' }] },
        ],
      },
      {
        messages: [
          { role: 'user', content: 'Weather?' },
          {
            role: 'assistant',
            content: 'Let me see',
            tool_calls: [
              { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
              { id: 'c2', type: 'function', function: { name: 'f', arguments: '{}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'c1', content: 'sun' },
          { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'rain' }] },
        ],
      },
    ],
  ];

  test.each(pairs)('%s', (_name, ours, chat) => {
    const one = openaiResponses.decodeRequest({ model: 'm', ...ours });
    const other = openaiChat.decodeRequest({ model: 'm', ...chat });
    expect(canonicalText(one)).toBe(canonicalText(other));
  });
});

describe('format-specific fields are part of the cache key', () => {
  const key = (more: JsonObject) => exactCacheKey('p', 's', decode(more));
  const plain = key({});

  test.each<[string, JsonObject]>([
    ['a built-in tool', { tools: [{ type: 'web_search' }] }],
    ['another of its settings', { tools: [{ type: 'web_search', search_context_size: 'low' }] }],
    ['what is included', { include: ['reasoning.encrypted_content'] }],
    ['a summary of the reasoning', { reasoning: { summary: 'auto' } }],
    ['truncation', { truncation: 'auto' }],
    ['a prompt kept at the vendor', { prompt: { id: 'pmpt_1' } }],
    ['fields nobody knows', { future: 1 }],
    ['unknown fields of text', { text: { future: 1 } }],
    ['an unknown kind of format', { text: { format: { type: 'grammar', syntax: 'lark' } } }],
    ['an item of another kind', { input: [{ type: 'web_search_call', id: 'ws_1' }] }],
    ['an unknown field of an item', { input: [{ role: 'user', content: 'Hi', phase: 'x' }] }],
    ['an unknown field of a part', { input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi', x: 1 }] }] }],
    ['an unknown field of a tool', { tools: [{ type: 'function', name: 'f', defer: true }] }],
    [
      'opaque reasoning',
      {
        input: [
          { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' },
          { role: 'user', content: 'Hi' },
        ],
      },
    ],
  ])('%s', (_name, more) => {
    expect(key(more)).not.toBe(plain);
    expect(key(more)).toBe(key(structuredClone(more)));
  });

  test.each<[string, JsonObject]>([
    ['keeping', { store: true }],
    ['delivery', { stream: true, stream_options: { include_obfuscation: false } }],
    ['bookkeeping', { metadata: { a: 'b' }, user: 'u', safety_identifier: 's' }],
    ['defaults that say nothing', { truncation: 'disabled', background: false }],
    ['the id of an item', { input: [{ id: 'msg_1', status: 'completed', role: 'user', content: 'Hi' }] }],
  ])('but not %s', (_name, more) => expect(key(more)).toBe(plain));

  test('different built-in tools are different questions', () => {
    expect(key({ tools: [{ type: 'web_search' }] })).not.toBe(key({ tools: [{ type: 'file_search' }] }));
  });
});

describe('items', () => {
  test('reasoning, words and calls of one turn become one message; words after words begin another', () => {
    const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' });
    const said = (words: string) => ({ role: 'assistant', content: words });
    const thought = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] };
    expect(messages([thought, said('a'), call('1'), said('b'), call('2')])).toEqual([
      {
        role: 'assistant',
        content: [text('a'), text('b')],
        reasoning: [{ text: 'hm' }],
        toolCalls: [
          { id: '1', name: 'f', arguments: '{}' },
          { id: '2', name: 'f', arguments: '{}' },
        ],
      },
    ]);
    expect(messages([said('a'), said('b'), call('1')])).toEqual([
      { role: 'assistant', content: [text('a')] },
      { role: 'assistant', content: [text('b')], toolCalls: [{ id: '1', name: 'f', arguments: '{}' }] },
    ]);
  });

  test('custom calls, vendors’ signatures and sealed thoughts come back as they were', () => {
    const details = [{ type: 'reasoning.text', text: 'hm', signature: 's', format: 'v1' }];
    expect(
      messages([
        { type: 'reasoning', id: 'rs_llm0', summary: [], encrypted_content: sealReasoning(details) },
        { type: 'custom_tool_call', call_id: '1', name: 'f', input: 'free text' },
        { type: 'function_call', call_id: '2', name: 'g', arguments: '', signature: 'sig' },
        { type: 'custom_tool_call_output', call_id: '1', output: 'done' },
      ]),
    ).toEqual([
      {
        role: 'assistant',
        content: [],
        reasoning: [{ text: 'hm', signature: 's', format: 'v1' }],
        toolCalls: [
          { id: '1', name: 'f', arguments: 'free text', custom: true },
          { id: '2', name: 'g', arguments: '', signature: 'sig' },
        ],
      },
      { role: 'tool', toolCallId: '1', content: [text('done')] },
    ]);
  });

  test('somebody else’s seal, or a broken one, is opaque', () => {
    for (const sealed of ['gAAAA', 'llm0.%%%', 'llm0.']) {
      const [message] = messages([{ type: 'reasoning', summary: [], encrypted_content: sealed }]);
      expect(message).toMatchObject({ reasoning: [{ data: sealed, format: 'openai-responses-v1' }] });
    }
  });

  test('a file by URL, but not by the id of a provider', () => {
    const part = (more: JsonObject) =>
      messages([{ role: 'user', content: [{ type: 'input_file', ...more }] }])[0]?.content;
    expect(part({ file_url: 'https://h/a.pdf' })).toEqual([{ type: 'file', dataUrl: 'https://h/a.pdf' }]);
    expect(() => part({ file_id: 'file-1' })).toThrow('names stored content of a provider');
  });
});

describe('errors name the field', () => {
  test.each<[string, JsonObject, string, string?]>([
    ['no model', { input: 'Hi' }, 'model'],
    ['no input', { model: 'm' }, 'input'],
    ['an empty input', ask({ input: [] }), 'input'],
    ['input of another kind', ask({ input: 7 }), 'input'],
    ['an item that is none', ask({ input: ['Hi'] }), 'input[0]'],
    ['an unknown role', ask({ input: [{ role: 'robot', content: 'x' }] }), 'input[0].role'],
    ['no content', ask({ input: [{ role: 'user' }] }), 'input[0].content'],
    [
      'a part without text',
      ask({ input: [{ role: 'user', content: [{ type: 'input_text' }] }] }),
      'input[0].content[0].text',
    ],
    [
      'an image without URL',
      ask({ input: [{ role: 'user', content: [{ type: 'input_image' }] }] }),
      'input[0].content[0].image_url',
    ],
    ['a call without id', ask({ input: [{ type: 'function_call', name: 'f', arguments: '' }] }), 'input[0].call_id'],
    ['an output without call', ask({ input: [{ type: 'function_call_output', output: 'x' }] }), 'input[0].call_id'],
    ['a tool without name', ask({ tools: [{ type: 'function' }] }), 'tools[0].name'],
    ['a choice of nothing', ask({ tool_choice: 'any' }), 'tool_choice'],
    ['a negative limit', ask({ max_output_tokens: -1 }), 'max_output_tokens'],
    ['a temperature out of range', ask({ temperature: 3 }), 'temperature'],
    ['a format without schema', ask({ text: { format: { type: 'json_schema', name: 'n' } } }), 'text.format.schema'],
    ['an effort that is no word', ask({ reasoning: { effort: 1 } }), 'reasoning.effort'],
    ['include of anything else', ask({ include: 'x' }), 'include'],
    ['store of anything else', ask({ store: 'yes' }), 'store'],
    ['background', ask({ background: true }), 'background', 'unsupported_parameter'],
    ['a conversation of the vendor’s', ask({ conversation: 'conv_1' }), 'conversation', 'unsupported_parameter'],
  ])('%s', (_name, body, param, kind = 'invalid_request') => {
    expect(refusal(body)).toEqual({ kind, param });
  });

  test('endless nesting', () => {
    let deep: JsonValue = 'x';
    for (let i = 0; i < 1000; i++) deep = [deep];
    expect(refusal(ask({ metadata: { deep } })).kind).toBe('invalid_request');
  });
});
