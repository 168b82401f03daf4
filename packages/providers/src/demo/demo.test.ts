import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { collectBatches } from '@llm0/core/chat/testing/collect-events';
import { completionTokens, promptTokens } from '@llm0/core/chat/usage';
import { callProvider } from '../transport/call-provider';
import { demo } from './index';
import { instanceOf } from './schema-instance';

async function ask(body: JsonObject, stream = false, signal = new AbortController().signal) {
  const whole: JsonObject = { model: 'demo-chat', messages: [{ role: 'user', content: 'Hello world' }], ...body };
  const request: ChatRequest = {
    model: String(whole.model),
    messages: [],
    stream,
    extra: {},
    wire: { format: 'openai-chat', body: whole },
  };
  const { events } = await callProvider({
    provider: demo,
    request,
    context: { connection: { baseUrl: '' }, model: request.model, dropParams: false },
    timeoutMs: 1000,
    idleTimeoutMs: 5000,
    maxAnswerBytes: 64 * 1024 * 1024,
    signal,
    fetch: Object.assign(() => Promise.reject(new Error('the built-in provider must not call out')), {
      preconnect: () => {},
    }),
  });
  return collectBatches(events);
}

const TOOL: JsonObject = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      required: ['city', 'days', 'unit'],
      properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 2 }, unit: { enum: ['c', 'f'] } },
    },
  },
};

describe('the built-in demo models', () => {
  test('the same question gets the same answer, streamed or not', async () => {
    const [a, b, streamed] = await Promise.all([ask({}), ask({}), ask({}, true)]);
    expect(a.choices).toEqual(b.choices);
    expect(streamed.choices).toEqual(a.choices);
    expect(streamed.usage).toEqual(a.usage);
    expect(a.choices[0]?.text).toContain('Hello world');
    expect(a.choices[0]?.finishReason).toBe('stop');
    expect(a.usage && promptTokens(a.usage) > 0 && completionTokens(a.usage) > 0).toBe(true);
  });

  test('the output limit is kept to the token, and told', async () => {
    const response = await ask({ max_tokens: 3 }, true);
    expect(response.choices[0]?.finishReason).toBe('length');
    expect(response.usage && completionTokens(response.usage)).toBe(3);
  });

  test.each<[string, JsonObject, boolean]>([
    ['asked for in words', { messages: [{ role: 'user', content: 'What is the weather in Bern?' }] }, true],
    ['required', { tool_choice: 'required' }, true],
    ['named', { tool_choice: { type: 'function', function: { name: 'get_weather' } } }, true],
    ['not asked for', {}, false],
    ['forbidden', { messages: [{ role: 'user', content: 'weather?' }], tool_choice: 'none' }, false],
    [
      'answered already',
      {
        messages: [
          { role: 'user', content: 'weather?' },
          { role: 'tool', tool_call_id: 'x', content: 'sunny' },
        ],
      },
      false,
    ],
  ])('a tool %s', async (_name, body, called) => {
    for (const stream of [false, true]) {
      const [choice] = (await ask({ tools: [TOOL], ...body }, stream)).choices;
      expect(choice?.finishReason).toBe(called ? 'tool_calls' : 'stop');
      if (!called) continue;
      const input = JSON.parse(choice?.toolCalls?.[0]?.arguments ?? '');
      expect(input).toEqual({ city: expect.any(String), days: 2, unit: 'c' });
    }
  });

  test('several choices', async () => {
    expect((await ask({ n: 3 }, true)).choices.map((choice) => choice.index)).toEqual([0, 1, 2]);
  });

  test('JSON is given where JSON is asked for', async () => {
    const object = await ask({ response_format: { type: 'json_object' } });
    expect(JSON.parse(object.choices[0]?.text ?? '')).toEqual({ answer: 'Hello world', model: 'demo' });
    const schema = { type: 'object', required: ['ok'], properties: { ok: { type: 'boolean' } } };
    const format = { type: 'json_schema', json_schema: { name: 's', schema } };
    expect(JSON.parse((await ask({ response_format: format })).choices[0]?.text ?? '')).toEqual({ ok: true });
  });

  test('the slow model takes its time, and stops when the caller leaves', async () => {
    const controller = new AbortController();
    const startMs = performance.now();
    setTimeout(() => controller.abort(), 50);
    await expect(ask({ model: 'demo-slow' }, true, controller.signal)).rejects.toThrow('closed the connection');
    expect(performance.now() - startMs).toBeLessThan(900);
  });

  test('another model does not exist', async () => {
    await expect(ask({ model: 'demo-other' })).rejects.toMatchObject({ failure: 'not_found' });
  });
});

describe('instances of schemas', () => {
  test.each<[JsonObject, unknown]>([
    [{ type: 'string', minLength: 12 }, 'words.......'],
    [{ type: 'string', maxLength: 2 }, 'wo'],
    [{ type: 'string', format: 'email' }, 'demo@example.com'],
    [{ type: 'integer', minimum: 3, multipleOf: 5 }, 5],
    [{ type: 'integer', exclusiveMinimum: 3 }, 4],
    [{ type: 'number', maximum: -2 }, -2],
    [{ type: ['null', 'string'] }, null],
    [{ const: 7 }, 7],
    [{ anyOf: [{ type: 'boolean' }, { type: 'null' }] }, true],
    [
      { allOf: [{ type: 'object', required: ['a'], properties: { a: { const: 1 } } }, { required: ['b'] }] },
      { a: 1, b: {} },
    ],
    [{ type: 'array', items: { type: 'null' }, minItems: 2 }, [null, null]],
    [{ $ref: '#/$defs/a~1b', $defs: { 'a/b': { const: 'r' } } }, 'r'],
  ])('%j', (schema, expected) => {
    expect(instanceOf(schema, 'words')).toEqual(expected as never);
  });

  test('a schema that holds itself comes to an end', () => {
    const schema: JsonObject = {
      $ref: '#/$defs/n',
      $defs: { n: { type: 'object', required: ['n'], properties: { n: { $ref: '#/$defs/n' } } } },
    };
    expect(JSON.stringify(instanceOf(schema, '')).length).toBeLessThan(500);
  });
});
