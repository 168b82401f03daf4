import { expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import { GuardedTexts } from '@llm0/core/guardrails/chat/guard-texts';
import { GuardrailCompiler } from '@llm0/core/guardrails/compile-guardrails';
import type { GuardrailCheck } from '@llm0/core/guardrails/policy';
import { RequestGuard } from '@llm0/core/guardrails/request-guard';
import type { TranscriptAnswer } from '@llm0/core/tasks/audio';
import { judgeTranscript } from './judge-transcript';

const SAID = ['Hello there.', 'Call +49 30', '901820 now.'];
const SEGMENTS = SAID.map((text, id) => ({ id, start: id, end: id + 1, text: ` ${text}`, tokens: [50364 + id] }));
const ANSWER: TranscriptAnswer = {
  text: SAID.join(' '),
  format: 'srt',
  segments: SEGMENTS,
  words: [{ word: 'Hello' }],
};

function judge(check: GuardrailCheck, text?: (text: string) => Promise<string>) {
  const rule = { name: 'r', on: 'output', check, action: 'redact', onError: 'block' } as const;
  const policy = { mode: 'enforce', rules: [rule], pseudonymScope: 'request', version: 1 } as const;
  const guardrails = new GuardrailCompiler({}).compile({ policy, keyRules: null, pseudonymSecret: '' });
  if (guardrails === undefined) throw new Error('nothing is asked');
  const ids = { projectId: 'p', keyId: 'k', requestId: 'r', customerId: undefined };
  const texts = new GuardedTexts(new RequestGuard(guardrails, { ...ids, monotonicMs: () => 0 }), 'output');
  const by = { text: text ?? ((one: string) => texts.text(one, 'assistant')), value: texts.value.bind(texts) };
  return judgeTranscript({ text: by.text, value: (value) => by.value(value, 'assistant') }, ANSWER);
}

const shown = ({ segments }: TranscriptAnswer) =>
  (segments as JsonObject[]).map(({ start, end, text }) => [start, end, text]);

test('a find in a segment is taken out of it, and all times stay', async () => {
  const answer = await judge({ type: 'words', words: ['there'] });
  expect(answer.text).toBe('Hello [WORD]. Call +49 30 901820 now.');
  expect(shown(answer)).toEqual([
    [0, 1, ' Hello [WORD].'],
    [1, 2, ' Call +49 30'],
    [2, 3, ' 901820 now.'],
  ]);
  expect(JSON.stringify(answer)).not.toMatch(/tokens|words/);
});

test('nothing is left of a find that spans two segments', async () => {
  const answer = await judge({ type: 'pii', kinds: ['phone'] });
  expect(answer.text).toBe('Hello there. Call [PHONE] now.');
  expect(JSON.stringify(answer)).not.toMatch(/49 30|901820/);
  expect(shown(answer).map(([start]) => start)).toContain(0);
});

test('a text that was changed as a whole stands in one segment', async () => {
  const answer = await judge({ type: 'words', words: ['zebra'] }, async () => 'Something else.');
  expect(shown(answer)).toEqual([[0, 3, 'Something else.']]);
});

test('a clean one is left as it is, but for its words', async () => {
  const { words: _words, ...rest } = ANSWER;
  expect(await judge({ type: 'words', words: ['zebra'] })).toEqual(rest as TranscriptAnswer);
});
