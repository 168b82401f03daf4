import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { inputMessages, jsonText, outputMessages } from './describe-content';

const input = (body: unknown) => JSON.parse(inputMessages(JSON.stringify(body)) ?? 'null') as unknown;
const output = (body: unknown) => JSON.parse(outputMessages(JSON.stringify(body)) ?? 'null') as unknown;
const said = (role: string, content: string) => ({ role, parts: [{ type: 'text', content }] });

describe('inputs by the conventions', () => {
  test('Chat Completions', () => {
    const body = {
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: 'data:x' } },
          ],
        },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c1', function: { name: 'f', arguments: '{"a":1}' } }] },
        { role: 'tool', tool_call_id: 'c1', content: 'done' },
      ],
    };
    expect(input(body)).toEqual([
      said('system', 'Be brief.'),
      { role: 'user', parts: [{ type: 'text', content: 'Look' }, { type: 'image_url' }] },
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'f', arguments: { a: 1 } }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'done' }] },
    ]);
  });

  test('Messages, Responses and Completions', () => {
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'f', input: { a: 1 } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'done' }] },
    ];
    expect(input({ system: 'Be brief.', messages })).toEqual([
      said('system', 'Be brief.'),
      said('user', 'Hi'),
      { role: 'assistant', parts: [{ type: 'tool_call', id: 't1', name: 'f', arguments: { a: 1 } }] },
      { role: 'user', parts: [{ type: 'tool_call_response', id: 't1', response: 'done' }] },
    ]);
    const items = [
      { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'done' },
    ];
    expect(input({ instructions: 'Be brief.', input: items })).toEqual([
      said('system', 'Be brief.'),
      said('user', 'Hi'),
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'f', arguments: {} }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'done' }] },
    ]);
    expect(input({ prompt: 'Once' })).toEqual([said('user', 'Once')]);
  });

  test('cut bodies show their start, missing ones nothing', () => {
    expect(input({ truncated: true, characters: 9, text: '{"mess' })).toEqual([said('user', '{"mess')]);
    expect([inputMessages(null), input({}), input([]), input('x')]).toEqual([undefined, null, null, null]);
  });
});

test('outputs of every dialect', () => {
  const parts = [{ type: 'text', content: 'Hello' }];
  const answer = (finish_reason: string) => [{ role: 'assistant', parts, finish_reason }];
  const message = { role: 'assistant', content: 'Hello' };
  expect(output({ choices: [{ message, finish_reason: 'stop' }] })).toEqual(answer('stop'));
  expect(output({ choices: [{ text: 'Hello', finish_reason: 'length' }] })).toEqual(answer('length'));
  expect(output({ content: [{ type: 'text', text: 'Hello' }], stop_reason: 'end_turn' })).toEqual(answer('stop'));
  const item = { type: 'message', content: [{ type: 'output_text', text: 'Hello' }] };
  expect(output({ output: [item], status: 'completed' })).toEqual(answer('stop'));
  expect(output({ error: { message: 'no' } })).toBeNull();
});

describe("answers in the conventions' schema", () => {
  const reasonOf = (body: unknown) => (output(body) as { finish_reason?: string }[])[0]?.finish_reason;

  test.each([
    ['tool_calls', 'tool_call'],
    ['function_call', 'tool_call'],
    ['stop', 'stop'],
    ['length', 'length'],
    ['content_filter', 'content_filter'],
    ['constructor', 'constructor'],
  ])('Chat Completions: %s is %s', (said, told) => {
    expect(reasonOf({ choices: [{ message: { content: 'x' }, finish_reason: said }] })).toBe(told);
  });

  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'tool_call'],
    ['refusal', 'content_filter'],
    ['pause_turn', 'pause_turn'],
  ])('Messages: %s is %s', (said, told) => {
    expect(reasonOf({ content: [{ type: 'text', text: 'x' }], stop_reason: said })).toBe(told);
  });

  test('Responses: by status, what is missing and what is called', () => {
    const call = { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{"a":[1]}' };
    const cut = (reason: string) => ({ output: [], status: 'incomplete', incomplete_details: { reason } });
    expect(reasonOf({ output: [], status: 'completed' })).toBe('stop');
    expect(reasonOf({ output: [call], status: 'completed' })).toBe('tool_call');
    expect([reasonOf(cut('max_output_tokens')), reasonOf(cut('content_filter'))]).toEqual(['length', 'content_filter']);
    expect(reasonOf({ output: [], status: 'failed' })).toBe('error');
  });

  test.each<[unknown, unknown]>([
    ['{"a":{"b":[1,null]}}', { a: { b: [1, null] } }],
    ['', ''],
    ['{"a":', '{"a":'],
    [undefined, null],
    [{ a: 1 }, { a: 1 }],
    [`{"a":"${'x'.repeat(9000)}"}`, `{"a":"${'x'.repeat(8186)}`],
    [{ a: 'x'.repeat(9000) }, `{"a":"${'x'.repeat(8186)}`],
    ['['.repeat(4000) + ']'.repeat(4000), expect.any(Array)],
  ])('arguments are what they say, as text only where that is no JSON or is cut (%#)', (given, told) => {
    const message = { tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: given } }] };
    expect(output({ choices: [{ message, finish_reason: 'tool_calls' }] })).toMatchObject([
      { parts: [{ type: 'tool_call', id: 'c1', name: 'f', arguments: told }], finish_reason: 'tool_call' },
    ]);
  });
});

test('any stored body gives bounded JSON of messages', () => {
  const long = 'x'.repeat(300_000);
  const texts = [
    inputMessages(
      JSON.stringify({ messages: Array.from({ length: 200 }, () => ({ role: 'user', content: long.slice(0, 5000) })) }),
    ),
    inputMessages(
      JSON.stringify({ messages: [{ role: 'user', content: Array.from({ length: 50 }, () => ({ text: long })) }] }),
    ),
    outputMessages(JSON.stringify({ choices: [{ message: { content: long } }] })),
    jsonText(JSON.stringify(long)),
  ];
  for (const text of texts) expect(text?.length).toBeLessThanOrEqual(33 * 1024);
  fc.assert(
    fc.property(fc.jsonValue(), (body) => {
      for (const write of [inputMessages, outputMessages]) {
        const text = write(JSON.stringify({ messages: body, choices: body, input: body, output: body, content: body }));
        if (text === undefined) continue;
        for (const { role, parts } of JSON.parse(text) as { role: string; parts: unknown[] }[]) {
          expect([typeof role, Array.isArray(parts)]).toEqual(['string', true]);
        }
      }
    }),
  );
});
