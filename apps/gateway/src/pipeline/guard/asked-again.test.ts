import { afterEach, describe, expect, test } from 'bun:test';
import type { ChatRequest } from '@llm0/core/chat/request';
import type { ChatResponse } from '@llm0/core/chat/response';
import type { GuardrailAction, GuardrailPolicy } from '@llm0/core/guardrails/policy';
import type { AnswerRefused } from '@llm0/core/guardrails/refusals';
import { openaiChat } from '../../dialects/openai-chat/index';
import { handleChat } from '../chat/handle-chat';
import { MODEL, openPipeline, type Pipeline, type Script, SECRET, says, streams } from '../open-pipeline.fixture';
import type { Completion } from '../upstream/completion';
import { AskedAgain, type AskedFor } from './asked-again';
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

const ask = (body: object, signal?: AbortSignal) =>
  handleChat(
    pipeline.services,
    openaiChat,
    new Request('http://gateway.test', {
      ...(signal && { signal }),
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

function streamOf(text: string): Script {
  const stream = streams();
  stream.send(text);
  stream.finish();
  return stream.script;
}

describe('an answer blocked at its end costs the reported usage', () => {
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

  test('cut answers are estimates', async () => {
    pipeline = await openPipeline({ policy: policyOf('block') });
    const stream = streams();
    pipeline.world.scripts = [stream.script];
    for (const piece of pieces) stream.send(piece);
    await (await ask({ stream: true })).text();
    expect((await pipeline.rows())[0]).toMatchObject({ costEstimated: true });
  });
});

describe('no check runs for a caller that left', () => {
  const firstNanoUsd = 20_000;
  /** An answer that never comes. */
  const hanging = () => {
    const asked = Promise.withResolvers<void>();
    const cancelled = Promise.withResolvers<void>();
    const script: Script = (signal) => {
      asked.resolve();
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          cancelled.resolve();
          reject(signal.reason);
        });
      });
    };
    return { script, asked: asked.promise, cancelled: cancelled.promise };
  };

  test.each([false, true])(
    'while the second one is asked (stream: %p): it is cancelled, and both are paid',
    async (stream) => {
      pipeline = await openPipeline({ policy: policyOf('retry') });
      const second = hanging();
      const caller = new AbortController();
      const first = stream ? streamOf(`Ask ${EMAIL}.`) : says(`Ask ${EMAIL}.`);
      pipeline.world.scripts = [first, second.script, says('Ask Ann.')];
      const answer = ask({ stream }, caller.signal).then((response) => response.text());
      await second.asked;
      caller.abort();
      await second.cancelled;
      await answer.catch(() => {});
      const rows = await pipeline.rows();
      expect(rows).toMatchObject([{ status: 'aborted', costEstimated: true }]);
      expect(rows[0]?.costNanoUsd).toBeGreaterThan(firstNanoUsd);
      expect(rows[0]?.attempts).toMatchObject([{ outcome: 'ok' }, { outcome: 'aborted' }]);
      expect([pipeline.world.asked.length, pipeline.services.leases.size]).toEqual([2, 0]);
    },
  );

  test('before a second one is asked', async () => {
    pipeline = await openPipeline({ policy: policyOf('retry') });
    const caller = new AbortController();
    pipeline.world.scripts = [
      async (signal, model) => {
        const response = await says(`Ask ${EMAIL}.`)(signal, model);
        caller.abort();
        return response;
      },
      says('Ask Ann.'),
    ];
    await ask({}, caller.signal);
    expect(await pipeline.rows()).toMatchObject([{ status: 'aborted' }]);
    expect(pipeline.world.asked).toHaveLength(1);
  });

  test('since its reader left while the first one was judged', async () => {
    pipeline = await openPipeline();
    const answer = { attempts: [], cache: 'miss', pays: () => true, leave: () => {} } as unknown as Completion;
    const admission = { plan: { maxAttempts: Number.POSITIVE_INFINITY }, decision: { type: 'admitted' } };
    const input = { answer, ctx: {}, admission } as unknown as AskedFor;
    const asked = new AskedAgain(pipeline.services, input);
    asked.effort().leave();
    const refused = { rule: { name: 'mail', maxRetries: 2 } } as unknown as AnswerRefused;
    await expect(asked.ask(refused, { choices: [] })).rejects.toMatchObject({ kind: 'client_closed' });
    expect(pipeline.world.asked).toHaveLength(0);
  });

  test('the cost of a failed second attempt is paid too', async () => {
    pipeline = await openPipeline({ policy: policyOf('retry') });
    pipeline.world.scripts = [says(`Ask ${EMAIL}.`), () => new Response('not json')];
    expect((await ask({})).status).toBe(502);
    const [row] = await pipeline.rows();
    expect(row).toMatchObject({ status: 'error', costEstimated: true });
    expect(row?.costNanoUsd).toBeGreaterThan(firstNanoUsd);
  });
});
