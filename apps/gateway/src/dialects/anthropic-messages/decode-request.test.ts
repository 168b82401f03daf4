import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { sealReasoning } from '../seal-reasoning';
import { anthropicCount, anthropicMessages } from './index';

const BODY: JsonObject = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] };
const decode = (more: JsonObject = {}, headers?: Headers) =>
  anthropicMessages.decodeRequest({ ...BODY, ...more }, headers);
const turns = (...messages: JsonObject[]) => decode({ messages }).messages;

function refusalOf(run: () => unknown): GatewayError {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('a Messages request', () => {
  test('is carried whole beside our own terms, its beta features too', () => {
    const body = { ...BODY, future: 1, stream: true };
    const request = anthropicMessages.decodeRequest(body, new Headers({ 'anthropic-beta': 'a,b', 'x-other': 'c' }));
    expect(request).toEqual({
      model: 'm',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      stream: true,
      maxOutputTokens: 10,
      extra: { future: 1 },
      wire: { format: 'anthropic-messages', body, headers: { 'anthropic-beta': 'a,b' } },
    });
    expect(request.wire?.body).toBe(body);
  });

  test.each<[string, JsonObject, object]>([
    [
      'a system of blocks',
      { system: [{ type: 'text', text: 'S' }] },
      { messages: [{ role: 'system' }, { role: 'user' }] },
    ],
    ['no system', { system: '' }, { messages: [{ role: 'user' }] }],
    ['sampling', { temperature: 0, top_p: 0.5, top_k: 0 }, { temperature: 0, topP: 0.5, topK: 0 }],
    ['stops', { stop_sequences: ['a'] }, { stop: ['a'] }],
    ['who asks', { metadata: { user_id: 'u', team: 't' } }, { user: 'u', extra: { 'metadata.team': 't' } }],
    ['the tier', { service_tier: 'standard_only' }, { serviceTier: 'default' }],
    ['thinking', { thinking: { type: 'adaptive' } }, { thinking: { type: 'adaptive' } }],
    ['effort', { output_config: { effort: 'low', x: 1 } }, { reasoningEffort: 'low', extra: { 'output_config.x': 1 } }],
    [
      'a schema',
      { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
      { responseFormat: { type: 'json_schema', name: 'answer', schema: { type: 'object' } } },
    ],
    ['any tool', { tool_choice: { type: 'any' } }, { toolChoice: { type: 'required' } }],
    [
      'one tool, one at a time',
      { tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true } },
      { toolChoice: { type: 'tool', name: 'f' }, parallelToolCalls: false },
    ],
    [
      'a built-in tool',
      { tools: [{ type: 'bash_20250124', name: 'bash' }] },
      { tools: [{ type: 'raw', format: 'anthropic-messages', value: { type: 'bash_20250124' } }] },
    ],
  ])('%s', (_name, more, expected) => {
    expect(decode(more)).toMatchObject(expected);
  });

  test.each<[string, JsonObject]>([
    ['model', { model: 3 }],
    ['max_tokens', { max_tokens: null }],
    ['max_tokens', { max_tokens: 0 }],
    ['max_tokens', { max_tokens: 'many' }],
    ['messages', { messages: 'hi' }],
    ['messages', { messages: [] }],
    ['messages[0].role', { messages: [{ role: 'tool', content: 'x' }] }],
    ['messages[0].content', { messages: [{ role: 'user' }] }],
    ['messages[0].content[0].type', { messages: [{ role: 'user', content: [{}] }] }],
    ['messages[0].content[0].text', { messages: [{ role: 'user', content: [{ type: 'text' }] }] }],
    ['messages[0].content[0].source', { messages: [{ role: 'user', content: [{ type: 'image' }] }] }],
    ['messages[0].content[0].tool_use_id', { messages: [{ role: 'user', content: [{ type: 'tool_result' }] }] }],
    [
      'messages[0].content[0].input',
      { messages: [{ role: 'assistant', content: [{ type: 'tool_use', input: 'x' }] }] },
    ],
    ['system', { system: 7 }],
    ['temperature', { temperature: 1.5 }],
    ['top_k', { top_k: -1 }],
    ['stop_sequences', { stop_sequences: 'END' }],
    ['stream', { stream: 'yes' }],
    ['thinking.type', { thinking: {} }],
    ['metadata.user_id', { metadata: { user_id: 1 } }],
    ['tools', { tools: {} }],
    ['tools[0].input_schema', { tools: [{ name: 'f' }] }],
    ['tools[0].name', { tools: [{ input_schema: {} }] }],
    ['tool_choice', { tool_choice: 'auto' }],
    ['output_config', { output_config: 'x' }],
  ])('names %s as the field at fault: %j', (param, more) => {
    const error = refusalOf(() => decode(more));
    expect([error.kind, error.param]).toEqual(['invalid_request', param]);
  });

  test('nesting without end is refused', () => {
    let deep: JsonObject = {};
    for (let i = 0; i < 1000; i++) deep = { deep };
    expect(refusalOf(() => decode({ future: deep })).kind).toBe('invalid_request');
  });

  test('results come first, whatever else the turn says', () => {
    expect(
      turns({
        role: 'user',
        content: [
          { type: 'text', text: 'and' },
          {
            type: 'tool_result',
            tool_use_id: 'a',
            content: [{ type: 'text', text: 'r' }],
            is_error: true,
            cache_control: { type: 'ephemeral' },
          },
          { type: 'tool_result', tool_use_id: 'b' },
        ],
      }),
    ).toEqual([
      {
        role: 'tool',
        toolCallId: 'a',
        content: [{ type: 'text', text: 'r', cacheControl: { type: 'ephemeral' } }],
        isError: true,
      },
      { role: 'tool', toolCallId: 'b', content: [] },
      { role: 'user', content: [{ type: 'text', text: 'and' }] },
    ]);
  });

  test('blocks that only this format knows are kept as they are', () => {
    const search = { type: 'search_result', source: 's', title: 't', content: [] };
    const cited = {
      type: 'document',
      source: { type: 'text', data: 'x', media_type: 'text/plain' },
      citations: { enabled: true },
    };
    const [message] = turns({ role: 'user', content: [search, cited] });
    expect(message?.content).toEqual(
      [search, cited].map((value) => ({ type: 'raw', format: 'anthropic-messages', value })),
    );
  });

  test('files of a provider are refused, because any project may have stored them', () => {
    for (const type of ['image', 'document']) {
      const content = [{ type, source: { type: 'file', file_id: 'file_1' } }];
      expect(() => turns({ role: 'user', content })).toThrow('names stored content of a provider');
    }
    const content = [{ type: 'container_upload', file_id: 'file_1' }];
    expect(() => turns({ role: 'user', content })).toThrow('names stored content of a provider');
  });

  test('an order of blocks that our own types lose is kept beside them', () => {
    const content: JsonObject[] = [
      { type: 'text', text: 'a' },
      { type: 'tool_use', id: '1', name: 'f', input: {} },
      { type: 'text', text: 'b' },
    ];
    const [first = {}, call = {}, last = {}] = content;
    const late = turns({ role: 'assistant', content });
    const early = turns({ role: 'assistant', content: [first, last, call] });
    expect(late[0]).toMatchObject({ raw: { format: 'anthropic-messages', value: { role: 'assistant', content } } });
    expect(early[0]).not.toHaveProperty('raw');
  });

  test("other providers' or unsigned thoughts are dropped", () => {
    const sealed = sealReasoning({ type: 'reasoning.encrypted', data: 'd', format: 'other-v1' });
    const own = { type: 'thinking', thinking: 'own', signature: 'sig' };
    const messages: JsonObject[] = [
      {
        role: 'assistant',
        content: [
          own,
          { type: 'thinking', thinking: 'foreign', signature: sealReasoning({ format: 'other-v1', signature: 's' }) },
          { type: 'thinking', thinking: 'unsigned', signature: '' },
          { type: 'redacted_thinking', data: sealed },
          { type: 'tool_use', id: '1', name: 'f', input: {}, signature: 'gem' },
        ],
      },
      { role: 'assistant', content: [{ type: 'redacted_thinking', data: sealed }] },
      { role: 'user', content: 'x' },
    ];
    const request = decode({ messages });
    expect(request.messages[0]).toMatchObject({
      reasoning: [
        { text: 'own', signature: 'sig', format: 'anthropic-claude-v1' },
        { text: 'foreign', signature: 's', format: 'other-v1' },
        { text: 'unsigned' },
        { data: 'd', format: 'other-v1' },
      ],
      toolCalls: [{ id: '1', signature: 'gem' }],
    });
    expect(request.wire?.body.messages as unknown).toEqual([
      { role: 'assistant', content: [own, { type: 'tool_use', id: '1', name: 'f', input: {} }] },
      { role: 'user', content: 'x' },
    ]);
  });

  test('a seal that somebody changed says nothing, and breaks nothing', () => {
    const content: JsonObject[] = [
      { type: 'redacted_thinking', data: 'llm0.nonsense' },
      { type: 'text', text: 'x' },
    ];
    expect(turns({ role: 'assistant', content })[0]).toMatchObject({ reasoning: [{}] });
  });
});

describe('a request to count', () => {
  test('needs no output limit, and asks for a number only', () => {
    const { max_tokens: _limit, ...body } = BODY;
    expect(anthropicCount.decodeRequest({ ...body, stream: true })).toMatchObject({ countOnly: true, stream: false });
    expect(refusalOf(() => anthropicCount.decodeRequest({ model: 'm' })).param).toBe('messages');
  });
});
