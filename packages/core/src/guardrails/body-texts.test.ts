import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { JsonValue } from '../chat/json';
import { bodyTexts } from './body-texts';

test.each<[string, JsonValue, readonly (readonly [string, string])[]]>([
  [
    'Chat Completions',
    {
      model: 'm',
      messages: [
        { role: 'system', content: 's' },
        { role: 'user', content: [{ type: 'text', text: 'u' }] },
        { role: 'assistant', content: 'a', tool_calls: [{ id: 'i', function: { name: 'f', arguments: '{"x":1}' } }] },
        { role: 'tool', tool_call_id: 'i', content: 'r' },
      ],
    },
    [
      ['s', 'system'],
      ['u', 'user'],
      ['a', 'assistant'],
      ['{"x":1}', 'tool_arguments'],
      ['r', 'tool_results'],
    ],
  ],
  [
    'Messages',
    {
      system: 's',
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'i', name: 'f', input: { x: 'y' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'i', content: 'r' }] },
      ],
    },
    [
      ['s', 'system'],
      ['y', 'tool_arguments'],
      ['r', 'tool_results'],
    ],
  ],
  [
    'Responses',
    {
      instructions: 's',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'u' }] },
        { type: 'function_call_output', call_id: 'i', output: 'r' },
      ],
    },
    [
      ['s', 'system'],
      ['u', 'user'],
      ['r', 'tool_results'],
    ],
  ],
  ['a prompt', { model: 'm', prompt: 'p' }, [['p', 'user']]],
])('texts of %s stand where they stand', (_, body, expected) => {
  expect(bodyTexts(body, 'user').map(({ text, part }) => [text, part] as const)).toEqual(expected as never);
});

test('any body has at most 500 texts', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (body) => {
      expect(bodyTexts(body as JsonValue, 'assistant').length).toBeLessThanOrEqual(500);
    }),
  );
  const deep = JSON.parse(`${'['.repeat(5000)}"x"${']'.repeat(5000)}`) as JsonValue;
  expect(bodyTexts([...Array(2000).fill('x'), deep], 'user')).toHaveLength(500);
});
