import { describe, expect, test } from 'bun:test';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { decodeRequest } from './decode-request';

const USER = { role: 'user', content: 'Hi' };
const body = (more: JsonObject = {}): JsonObject => ({ model: 'm', messages: [USER], ...more });

function errorOf(value: JsonObject): GatewayError {
  try {
    decodeRequest(value);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('the request was taken');
}

function nested(depth: number): JsonValue {
  let value: JsonValue = 1;
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

describe('refusing a request', () => {
  const message = (more: JsonObject): JsonObject => body({ messages: [more] });
  const part = (item: JsonValue): JsonObject => message({ role: 'user', content: [item] });
  test.each<[string, JsonObject, string]>([
    ['no model', { messages: [USER] }, 'model'],
    ['an empty model', { model: '', messages: [USER] }, 'model'],
    ['a model that is no text', { model: 7, messages: [USER] }, 'model'],
    ['no messages', { model: 'm' }, 'messages'],
    ['empty messages', { model: 'm', messages: [] }, 'messages'],
    ['messages that are no list', { model: 'm', messages: 'Hi' }, 'messages'],
    ['a message that is no object', { model: 'm', messages: ['Hi'] }, 'messages[0]'],
    ['an unknown role', message({ role: 'robot', content: 'Hi' }), 'messages[0].role'],
    ['a role that is an inherited name', message({ role: 'constructor', content: 'Hi' }), 'messages[0].role'],
    ['no content', message({ role: 'user' }), 'messages[0].content'],
    ['content of the wrong type', message({ role: 'user', content: 5 }), 'messages[0].content'],
    ['a part without type', part({ text: 'Hi' }), 'messages[0].content[0].type'],
    ['a text part without text', part({ type: 'text' }), 'messages[0].content[0].text'],
    ['an image without URL', part({ type: 'image_url', image_url: {} }), 'messages[0].content[0].image_url'],
    ['audio without data', part({ type: 'input_audio' }), 'messages[0].content[0].input_audio'],
    ['a tool result without id', message({ role: 'tool', content: 'x' }), 'messages[0].tool_call_id'],
    ['calls that are no list', message({ role: 'assistant', tool_calls: {} }), 'messages[0].tool_calls'],
    ['a call without id', message({ role: 'assistant', tool_calls: [{}] }), 'messages[0].tool_calls[0].id'],
    ['max_tokens 0', body({ max_tokens: 0 }), 'max_tokens'],
    ['negative max_tokens', body({ max_tokens: -5 }), 'max_tokens'],
    ['fractional max_tokens', body({ max_tokens: 1.5 }), 'max_tokens'],
    ['max_tokens as text', body({ max_tokens: '5' }), 'max_tokens'],
    ['huge max_tokens', body({ max_completion_tokens: 1e15 }), 'max_completion_tokens'],
    ['two different limits', body({ max_tokens: 5, max_completion_tokens: 6 }), 'max_tokens'],
    ['temperature above 2', body({ temperature: 2.1 }), 'temperature'],
    ['negative temperature', body({ temperature: -0.1 }), 'temperature'],
    ['temperature as text', body({ temperature: 'hot' }), 'temperature'],
    ['top_p above 1', body({ top_p: 1.01 }), 'top_p'],
    ['n 0', body({ n: 0 }), 'n'],
    ['n 1000', body({ n: 1000 }), 'n'],
    ['stream as text', body({ stream: 'yes' }), 'stream'],
    ['stream_options as text', body({ stream: true, stream_options: 'x' }), 'stream_options'],
    ['stop as number', body({ stop: 5 }), 'stop'],
    ['stop with a number in it', body({ stop: ['a', 5] }), 'stop'],
    ['tools as object', body({ tools: {} }), 'tools'],
    ['a function without name', body({ tools: [{ type: 'function', function: {} }] }), 'tools[0].function.name'],
    ['tool_choice of another word', body({ tool_choice: 'maybe' }), 'tool_choice'],
    [
      'a schema format without name',
      body({ response_format: { type: 'json_schema', json_schema: {} } }),
      'response_format.json_schema',
    ],
    ['metadata as list', body({ metadata: [] }), 'metadata'],
    ['user as number', body({ user: 5 }), 'user'],
    ['seed as fraction', body({ seed: 0.5 }), 'seed'],
    ['penalty out of range', body({ presence_penalty: 3 }), 'presence_penalty'],
  ])('%s', (_name, value, param) => {
    const error = errorOf(value);
    expect(error.kind).toBe('invalid_request');
    expect(error.param).toBe(param);
    expect(error.message.length).toBeLessThan(300);
  });

  test.each(['x', 'tools', 'metadata', 'messages'])('100,000 levels of nesting in "%s"', (name) => {
    expect(errorOf(body({ [name]: nested(100_000) })).kind).toBe('invalid_request');
  });

  test('any JSON gives a request or invalid_request', () => {
    const fields = ['model', 'messages', 'tools', 'tool_choice', 'stop', 'n', 'response_format', 'stream', 'x'];
    const messages = fc.array(
      fc.oneof(
        fc.jsonValue(),
        fc.record({
          role: fc.constantFrom('user', 'assistant', 'tool', 'function', 'system'),
          content: fc.jsonValue(),
        }),
        fc.record({ role: fc.constant('assistant'), tool_calls: fc.jsonValue(), function_call: fc.jsonValue() }),
      ),
    );
    const anything = fc.dictionary(fc.constantFrom(...fields), fc.oneof(fc.jsonValue(), messages));
    const likely = fc.record({ model: fc.constant('m'), messages, rest: anything });
    fc.assert(
      fc.property(
        fc.oneof(
          anything,
          likely.map(({ rest, ...head }) => ({ ...rest, ...head })),
        ),
        (value) => {
          const parsed = JSON.parse(JSON.stringify(value)) as JsonObject;
          try {
            expect(decodeRequest(parsed).wire?.body).toBe(parsed);
          } catch (error) {
            expect(error).toBeInstanceOf(GatewayError);
            expect((error as GatewayError).kind).toBe('invalid_request');
          }
        },
      ),
      { numRuns: runs(500) },
    );
  });
});

describe('taking a request', () => {
  test('every field has its place, and the body is kept as it came', () => {
    const value = body({
      messages: [
        { role: 'system', content: 'S' },
        { role: 'developer', content: [{ type: 'text', text: 'D', cache_control: { type: 'ephemeral' } }] },
        {
          role: 'user',
          name: 'ann',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AA', detail: 'low' } },
            { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
            { type: 'file', file: { file_data: 'data:text/plain;base64,AA' } },
            { type: 'video_url', video_url: { url: 'u' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          refusal: null,
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
            { id: 'c2', type: 'custom', custom: { name: 'g', input: 'free' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'done' },
      ],
      stream: true,
      stream_options: { include_usage: false },
      temperature: 0,
      top_p: 1,
      top_k: 5,
      n: 2,
      seed: -1,
      stop: 'x',
      max_completion_tokens: 9,
      frequency_penalty: 0,
      presence_penalty: -2,
      logprobs: true,
      top_logprobs: 3,
      logit_bias: { '5': 1 },
      reasoning_effort: 'low',
      service_tier: 'flex',
      user: 'u',
      metadata: { a: 'b' },
      parallel_tool_calls: false,
      tools: [
        { type: 'function', function: { name: 'f', parameters: { type: 'object' }, strict: true } },
        { type: 'web' },
      ],
      tool_choice: { type: 'function', function: { name: 'f' } },
      response_format: { type: 'json_schema', json_schema: { name: 's', schema: { type: 'object' }, strict: true } },
      brand_new: { deep: [1] },
    });
    const { wire, ...request } = decodeRequest(value);
    expect(wire).toEqual({ format: 'openai-chat', body: value });
    expect(request).toEqual({
      model: 'm',
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'S' }] },
        { role: 'developer', content: [{ type: 'text', text: 'D', cacheControl: { type: 'ephemeral' } }] },
        {
          role: 'user',
          name: 'ann',
          content: [
            { type: 'text', text: 'look' },
            { type: 'image', url: 'data:image/png;base64,AA', detail: 'low' },
            { type: 'audio', dataBase64: 'AA', format: 'wav' },
            { type: 'file', dataUrl: 'data:text/plain;base64,AA' },
            { type: 'raw', format: 'openai-chat', value: { type: 'video_url', video_url: { url: 'u' } } },
          ],
        },
        {
          role: 'assistant',
          content: [],
          toolCalls: [
            { id: 'c1', name: 'f', arguments: '{"a":1}' },
            { id: 'c2', name: 'g', arguments: 'free', custom: true },
          ],
        },
        { role: 'tool', toolCallId: 'c1', content: [{ type: 'text', text: 'done' }] },
      ],
      stream: true,
      temperature: 0,
      topP: 1,
      topK: 5,
      n: 2,
      seed: -1,
      stop: ['x'],
      maxOutputTokens: 9,
      frequencyPenalty: 0,
      presencePenalty: -2,
      logprobs: true,
      topLogprobs: 3,
      logitBias: { '5': 1 },
      reasoningEffort: 'low',
      serviceTier: 'flex',
      user: 'u',
      metadata: { a: 'b' },
      parallelToolCalls: false,
      tools: [
        { type: 'function', name: 'f', parameters: { type: 'object' }, strict: true },
        { type: 'raw', format: 'openai-chat', value: { type: 'web' } },
      ],
      toolChoice: { type: 'tool', name: 'f' },
      responseFormat: { type: 'json_schema', name: 's', schema: { type: 'object' }, strict: true },
      extra: { stream_options: { include_usage: false }, brand_new: { deep: [1] } },
    });
  });

  test('null is the same as absent', () => {
    const names = ['temperature', 'max_tokens', 'tools', 'tool_choice', 'stop', 'response_format', 'stream', 'x'];
    const { wire: _wire, ...request } = decodeRequest(body(Object.fromEntries(names.map((name) => [name, null]))));
    const { wire: _plain, ...plain } = decodeRequest(body());
    expect(request).toEqual(plain);
  });

  test('unknown fields inside known objects are kept under their path, so that two requests never look alike', () => {
    const value = body({
      messages: [
        { ...USER, x: 1 },
        { role: 'user', content: [{ type: 'text', text: 'a', y: 2 }] },
      ],
      tools: [{ type: 'function', z: 3, function: { name: 'f', w: 4 } }],
      response_format: { type: 'grammar', grammar: 'g' },
    });
    const request = decodeRequest(value);
    expect(request.extra).toEqual({
      'messages[0].x': 1,
      'tools[0].z': 3,
      'tools[0].function.w': 4,
      'response_format.grammar': 'g',
      response_format: { type: 'grammar', grammar: 'g' },
    });
    expect(request.messages[1]?.content).toEqual([
      { type: 'raw', format: 'openai-chat', value: { type: 'text', text: 'a', y: 2 } },
    ]);
  });

  test('an older function result answers the latest call of its name', () => {
    const { messages } = decodeRequest(
      body({
        messages: [
          { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
          { role: 'function', name: 'f', content: 'r' },
        ],
      }),
    );
    const [call, result] = messages;
    expect(call?.role === 'assistant' && call.toolCalls?.[0]?.id).toBe('call_function_f');
    expect(result).toEqual({
      role: 'tool',
      toolCallId: 'call_function_f',
      name: 'f',
      content: [{ type: 'text', text: 'r' }],
    });
    expect(call?.role === 'assistant' && call.raw?.value.function_call).toEqual({ name: 'f', arguments: '{}' });
  });

  test('reasoning comes back with its signatures', () => {
    const assistant: JsonObject = {
      role: 'assistant',
      content: 'x',
      reasoning_content: 'Hm',
      reasoning_details: [
        { type: 'reasoning.text', text: 'Hm', signature: 'sig', format: 'anthropic' },
        { type: 'reasoning.encrypted', data: 'zz' },
      ],
    };
    const [message] = decodeRequest(body({ messages: [assistant] })).messages;
    expect(message?.role === 'assistant' && message.reasoning).toEqual([
      { text: 'Hm', signature: 'sig', format: 'anthropic' },
      { data: 'zz' },
    ]);
  });
});
