import { expect, test } from 'bun:test';
import type { ChatRequest } from '../chat/request';
import { ZERO_USAGE } from '../chat/usage';
import { guessUsage, partialUsage } from './guess-usage';

const request: ChatRequest = {
  model: 'm',
  stream: true,
  messages: [{ role: 'user', content: [{ type: 'text', text: 'x'.repeat(40) }] }],
  extra: {},
};

test('prompt by bytes and messages; output by bytes, but never fewer tokens than pieces came', () => {
  const pieces = Array.from({ length: 7 }, () => ({ events: [{ type: 'text', choice: 0, text: 'ab' }] as const }));
  expect(guessUsage(request, pieces)).toMatchObject({ inputTokens: 14, outputTokens: 7, estimated: true });
  const whole = [{ events: [{ type: 'text', choice: 0, text: 'y'.repeat(400) }] as const }];
  expect(guessUsage(request, whole).outputTokens).toBe(100);
});

test('reasoning and tool calls count, nothing received counts nothing', () => {
  const batches = [
    {
      events: [
        { type: 'reasoning', choice: 0, text: 'z'.repeat(40) },
        { type: 'tool-call', choice: 0, toolIndex: 0, id: 'c', name: 'look_up_weather' },
        { type: 'tool-arguments', choice: 0, toolIndex: 0, text: '{"city":"Paris"}' },
      ] as const,
    },
  ];
  const usage = guessUsage(request, batches);
  expect(usage.reasoningTokens).toBe(10);
  expect(usage.outputTokens).toBe(8);
  expect(guessUsage(request, []).outputTokens).toBe(0);
});

test("a cut answer's zero side is estimated too", () => {
  const came = [{ events: [{ type: 'text', choice: 0, text: 'y'.repeat(400) }] as const }];
  const cut = (given: object) => partialUsage(request, came, { ...ZERO_USAGE, ...given });
  expect(cut({ outputTokens: 3 })).toMatchObject({ inputTokens: 14, outputTokens: 100, estimated: true });
  expect(cut({ inputTokens: 9, outputTokens: 1, untold: 'output' })).toMatchObject({
    inputTokens: 9,
    outputTokens: 100,
  });
  expect(cut({ inputTokens: 9, outputTokens: 300 })).toEqual({ ...ZERO_USAGE, inputTokens: 9, outputTokens: 300 });
});
