import { afterEach, describe, expect, test } from 'bun:test';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { ChatResponse } from '@llm0/core/chat/response';
import type { GuardrailAction, GuardrailPolicy } from '@llm0/core/guardrails/policy';
import type { AnswerRefused } from '@llm0/core/guardrails/refusals';
import { openaiChat } from '../../dialects/openai-chat/index';
import { handleChat } from '../chat/handle-chat';
import { MODEL, openPipeline, type Pipeline, type Script, SECRET, says, streams } from '../open-pipeline.fixture';
import { withRefusal } from './refused-answer';

const EMAIL = 'ann@example.com';
const policyOf = (action: GuardrailAction): GuardrailPolicy => ({
  ...{ mode: 'enforce', pseudonymScope: 'request', version: 1 },
  rules: [
    { name: 'mail', on: 'output', check: { type: 'pii', kinds: ['email'] }, action, maxRetries: 2, onError: 'block' },
  ],
});

let pipeline: Pipeline;
afterEach(() => pipeline?.close());

const ask = (body: object) =>
  handleChat(
    pipeline.services,
    openaiChat,
    new Request('http://gateway.test', {
      method: 'POST',
      headers: { authorization: `Bearer ${SECRET}` },
      body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Who?' }], ...body }),
    }),
  );

test('the second try asks all that the first one did', async () => {
  pipeline = await openPipeline({ policy: policyOf('retry') });
  pipeline.world.scripts = [says(`Ask ${EMAIL}.`), says('Ask Ann.')];
  const fields = {
    foo_unknown: { a: 1 },
    verbosity: 'low',
    store: false,
    prediction: { type: 'content', content: 'x' },
  };
  expect((await ask(fields)).status).toBe(200);
  const [first, second] = pipeline.world.sent.map((text) => JSON.parse(text));
  const { messages: before, ...asked } = first;
  const { messages: behind, ...again } = second;
  expect(again).toEqual(asked);
  expect(behind.slice(0, before.length)).toEqual(before);
  expect(behind.slice(before.length).map(({ role }: { role: string }) => role)).toEqual(['assistant', 'user']);
});

test.each([
  ['openai-responses', { input: 'Who?' }, { input: [{ role: 'user', content: 'Who?' }] }],
  ['openai-responses', { input: [{ role: 'user', content: 'Who?' }] }, { input: [{ role: 'user', content: 'Who?' }] }],
  ['anthropic-messages', { messages: [] }, { messages: [] }],
  ['gemini-content', { contents: [{ parts: [] }] }, { contents: [{ parts: [] }] }],
] as const)('%s: %p', (format, given, before) => {
  const request = { model: 'm', messages: [], stream: false, extra: {}, wire: { format, body: { ...given, top: 1 } } };
  const refused = { rule: { name: 'mail' }, reason: 'no names' } as unknown as AnswerRefused;
  const response = { choices: [{ index: 0, text: 'Ann', finishReason: 'stop' }] } as unknown as ChatResponse;
  const { wire, messages } = withRefusal(request as unknown as ChatRequest, refused, response);
  const [name, turns] = Object.entries(before)[0] as [string, readonly object[]];
  const body = wire?.body as Record<string, unknown>;
  const written = body[name] as readonly object[];
  expect([body.top, messages.length, written.slice(0, turns.length)]).toEqual([1, 2, [...turns]]);
  expect(JSON.stringify(written.slice(turns.length))).toContain('(no names)');
  expect(written).toHaveLength(turns.length + 2);
});

describe('what is blocked once all of it came is paid as the vendor said', () => {
  const pieces = `A long answer that was cut into many pieces: ask ${EMAIL}, they know.`.match(/.{1,3}/gs) ?? [];
  const streamed = (): Script => {
    const stream = streams();
    for (const piece of pieces) stream.send(piece);
    stream.finish();
    return stream.script;
  };
  const atOnce: Script = async (signal, model) => {
    const response = await streamed()(signal, model);
    return new Response(await response.text(), { headers: { 'content-type': 'text/event-stream' } });
  };

  test.each([
    ['retry', streamed, 60_000],
    ['retry', () => atOnce, 60_000],
    ['block', () => atOnce, 20_000],
  ] as const)('%s', async (action, scriptOf, costNanoUsd) => {
    pipeline = await openPipeline({ policy: policyOf(action) });
    pipeline.world.scripts = [scriptOf(), scriptOf(), scriptOf()];
    expect(await (await ask({ stream: true })).text()).toContain('guardrail_blocked');
    const [row] = await pipeline.rows();
    expect(row).toMatchObject({ errorCode: 'guardrail_blocked', costNanoUsd, costEstimated: false });
  });

  test('what was cut off by its caller or by a rule before is a guess', async () => {
    pipeline = await openPipeline({ policy: policyOf('block') });
    const stream = streams();
    pipeline.world.scripts = [stream.script];
    for (const piece of pieces) stream.send(piece);
    await (await ask({ stream: true })).text();
    expect((await pipeline.rows())[0]).toMatchObject({ costEstimated: true });
  });
});
