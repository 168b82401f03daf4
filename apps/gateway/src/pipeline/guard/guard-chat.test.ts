import { afterEach, describe, expect, test } from 'bun:test';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { chosenGuardrails } from '@llm0/core/guardrails/guardrails';
import type { GuardrailPolicy, GuardrailRule } from '@llm0/core/guardrails/policy';
import { anthropicMessages } from '../../dialects/anthropic-messages/index';
import type { Dialect } from '../../dialects/dialect';
import { openaiChat } from '../../dialects/openai-chat/index';
import { handleChat } from '../chat/handle-chat';
import { fails, MODEL, openPipeline, type Pipeline, SECRET, says, streams } from '../open-pipeline.fixture';
import type { Admission } from '../request/admit';
import { guardedScope } from '../request/plan-request';
import { withGuarded } from './guard-input';

const EMAIL = 'ann@example.com';
const KEY = 'sk-proj-abcdefghijklmnop1234';

const rule = (given: Partial<GuardrailRule>): GuardrailRule => ({
  ...{ name: 'mail', on: 'both', check: { type: 'pii', kinds: ['email'] }, action: 'redact', onError: 'block' },
  ...given,
});
const policy = (rules: readonly Partial<GuardrailRule>[], given: Partial<GuardrailPolicy> = {}): GuardrailPolicy => ({
  ...{ mode: 'enforce', pseudonymScope: 'request', version: 1 },
  ...given,
  rules: rules.map(rule),
});

let pipeline: Pipeline;
afterEach(() => pipeline.close());

async function open(...given: Parameters<typeof policy>): Promise<void> {
  pipeline = await openPipeline({ policy: policy(...given) });
}

interface Post {
  readonly body?: object;
  readonly text?: string;
  readonly headers?: Record<string, string>;
  readonly dialect?: Dialect;
  readonly signal?: AbortSignal;
}

function post({
  body = {},
  text = 'Say hello.',
  headers = {},
  dialect = openaiChat,
  signal,
}: Post = {}): Promise<Response> {
  const request = new Request('http://gateway.test/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${SECRET}`, ...headers },
    body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: text }], ...body }),
    signal,
  });
  return handleChat(pipeline.services, dialect, request);
}

const contentOf = async (response: Response) =>
  ((await response.json()) as { choices: { message: { content: string } }[] }).choices[0]?.message.content;

/** Streamed text, put together. */
async function textOf(response: Response): Promise<string> {
  const events = (await response.text()).split('\n\n').flatMap((event) => {
    const data = event
      .split('\n')
      .find((line) => line.startsWith('data: '))
      ?.slice(6);
    return data === undefined || data === '[DONE]' ? [] : [JSON.parse(data)];
  });
  return events.map((event) => event.choices?.[0]?.delta?.content ?? event.delta?.text ?? '').join('');
}

describe('sent body', () => {
  test('is blocked: 400 by the rule, nothing is sent, the row says why and no content', async () => {
    await open([{ action: 'block' }]);
    const response = await post({ text: `Write to ${EMAIL}.` });
    const body = await response.text();
    expect([response.status, JSON.parse(body).error]).toMatchObject([
      400,
      { code: 'guardrail_blocked', param: 'mail' },
    ]);
    expect(body).not.toContain(EMAIL);
    expect(pipeline.world.sent).toEqual([]);
    const [row] = await pipeline.rows();
    expect(row).toMatchObject({ status: 'error', httpStatus: 400, errorCode: 'guardrail_blocked', costNanoUsd: 0 });
    expect(row?.guardrails).toEqual([
      { rule: 'mail', on: 'input', part: 'user', check: 'pii', action: 'block', count: 1, ms: expect.any(Number) },
    ]);
    expect(JSON.stringify(row)).not.toContain(EMAIL);
    expect(await pipeline.hotStore.openHolds()).toBe(0);
  });

  test.each<[number | null, boolean]>([
    [null, false],
    [60, true],
  ])('is told as such as often as the key may ask (%p a minute)', async (rateLimitPerMinute, hasOthers) => {
    pipeline = await openPipeline({ policy: policy([{ action: 'block' }]), key: { rateLimitPerMinute } });
    const statuses: number[] = [];
    for (let count = 0; count < 320; count++) statuses.push((await post({ text: EMAIL })).status);
    expect(statuses.filter((status) => status !== 400).length > 0).toBe(hasOthers);
  });

  test('is redacted in what is sent, and in fields nobody knows', async () => {
    await open([{}]);
    await post({
      text: `Write to ${EMAIL}.`,
      body: { metadata: { to: EMAIL }, unknown_field: [{ deep: `x ${EMAIL}`, [EMAIL]: 1 }] },
    });
    expect(pipeline.world.sent[0]).not.toContain(EMAIL);
    expect(JSON.parse(pipeline.world.sent[0] ?? '').messages[0].content).toBe('Write to [EMAIL].');
    expect(JSON.parse(pipeline.world.sent[0] ?? '').unknown_field[0].deep).toBe('x [EMAIL]');
  });

  test('stays as it is, to the byte, where it is clean', async () => {
    await open([{}, { name: 'keys', check: { type: 'secrets' } }]);
    const body = { metadata: { a: '\u00e9' }, tools: [{ type: 'function', function: { name: 'f', parameters: {} } }] };
    await post({ text: 'Say "hé" & <b>.\n', body });
    const plain = await openPipeline();
    const request = new Request('http://gateway.test', {
      method: 'POST',
      headers: { authorization: `Bearer ${SECRET}` },
      body: JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Say "hé" & <b>.\n' }], ...body }),
    });
    await handleChat(plain.services, openaiChat, request);
    expect(pipeline.world.sent).toEqual(plain.world.sent);
    await plain.close();
  });

  test('across parts of one message, and in arguments of tools by what escapes stand for', async () => {
    await open([{ name: 'keys', check: { type: 'secrets' } }]);
    const content = [
      { type: 'text', text: `first ${KEY.slice(0, 9)}` },
      { type: 'text', text: `${KEY.slice(9)} second` },
    ];
    const escaped = KEY.replace('-', '\\u002d').replace('b', '\\u0062');
    const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: `{"k":"${escaped}"}` } };
    const messages = [
      { role: 'user', content },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: `{"found":"a\\n${KEY}"}` },
    ];
    await post({ body: { messages } });
    const sent = JSON.parse(pipeline.world.sent[0] ?? '');
    expect(sent.messages[0].content.map(({ text }: { text: string }) => text)).toEqual(['first [API_KEY]', ' second']);
    expect(sent.messages[1].tool_calls[0].function.arguments).toBe('{"k":"[API_KEY]"}');
    expect(sent.messages[2].content).toBe('{"found":"a\\n[API_KEY]"}');
  });

  test('a number in arguments becomes a string', async () => {
    await open([{ check: { type: 'pii', kinds: ['card'] } }]);
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"card": 4111111111111111}' } };
    await post({ body: { messages: [{ role: 'assistant', content: null, tool_calls: [call] }] } });
    expect(JSON.parse(pipeline.world.sent[0] ?? '').messages[0].tool_calls[0].function.arguments).toBe(
      '{"card": "[CARD]"}',
    );
  });
});

describe('forwarded headers', () => {
  test('is redacted in a plain answer, kept as the vendor said it, and judged again from the cache', async () => {
    await open([{}]);
    pipeline.world.scripts = [says(`Ask ${EMAIL}.`)];
    expect(await contentOf(await post())).toBe('Ask [EMAIL].');
    const hit = await post();
    expect([hit.headers.get('x-cache-hit'), await contentOf(hit)]).toEqual(['exact', 'Ask [EMAIL].']);
    const rows = await pipeline.rows();
    expect(rows.map(({ guardrails }) => guardrails?.map(({ on, count }) => [on, count]))).toEqual([
      [['output', 1]],
      [['output', 1]],
    ]);
  });

  test.each([false, true])(
    'is judged alike from the semantic cache, and by the callers of one flight (stream: %p)',
    async (stream) => {
      pipeline = await openPipeline({ policy: policy([{}]), project: { semanticCacheEnabled: true } });
      const response = { choices: [{ index: 0, text: `Ask ${EMAIL}.`, finishReason: 'stop' }] } as const;
      const usage = { ...ZERO_USAGE, inputTokens: 1, outputTokens: 1 };
      const stored = { v: 1, provider: 'openai', model: MODEL, response, usage, costNanoUsd: 5 } as const;
      pipeline.world.similar = { hit: { stored, value: '{}', similarity: 0.97, remainingMs: 5000 } };
      const read = (given: Response) => (stream ? textOf(given) : contentOf(given));
      const similar = await post({ text: 'What is the capital of France?', body: { stream, temperature: 0 } });
      expect([similar.headers.get('x-cache-hit'), await read(similar)]).toEqual(['semantic', 'Ask [EMAIL].']);
      pipeline.world.similar = {};
      const flying = streams();
      pipeline.world.scripts = [stream ? flying.script : says(`Ask ${EMAIL}.`)];
      flying.send(`Ask ${EMAIL.slice(0, 4)}`);
      flying.send(`${EMAIL.slice(4)}.`);
      flying.finish();
      const all = await Promise.all(
        [1, 2, 3].map(() => post({ text: 'What is the capital of Spain?', body: { stream } })),
      );
      expect(await Promise.all(all.map(read))).toEqual(Array(3).fill('Ask [EMAIL].'));
      expect(pipeline.world.asked.length).toBe(1);
    },
  );

  test('a cached answer of other guardrails is another answer', async () => {
    await open([{}]);
    await post();
    pipeline.world.policy = policy([{ name: 'other' }]);
    await pipeline.hotStore.setVersions('project', 2, []);
    pipeline.world.stored = { ...pipeline.world.stored, project: { ...pipeline.world.stored.project, version: 2 } };
    await post();
    expect(pipeline.world.asked.length).toBe(2);
  });

  test('a policy that came meanwhile holds from the very next request', async () => {
    pipeline = await openPipeline();
    await post();
    pipeline.world.policy = policy([{ action: 'block' }]);
    await pipeline.hotStore.setVersions('project', 2, []);
    pipeline.world.stored = { ...pipeline.world.stored, project: { ...pipeline.world.stored.project, version: 2 } };
    const blocked = await post({ text: EMAIL });
    expect([blocked.status, pipeline.world.asked.length]).toEqual([400, 1]);
    expect(await pipeline.hotStore.openHolds()).toBe(0);
    pipeline.world.policy = null;
    await pipeline.hotStore.setVersions('project', 3, []);
    pipeline.world.stored = { ...pipeline.world.stored, project: { ...pipeline.world.stored.project, version: 3 } };
    expect((await post({ text: EMAIL })).status).toBe(200);
  });

  test.each([openaiChat, anthropicMessages])(
    'streams in any pieces: nothing that matches is sent, $name',
    async (dialect) => {
      await open([{ on: 'output' }, { name: 'keys', on: 'output', check: { type: 'secrets' } }]);
      const text = `Ask ${EMAIL} or use ${KEY}, as (ann) said.`;
      for (let size = 1; size < text.length; size += 3) {
        const stream = streams();
        pipeline.world.scripts = [stream.script];
        for (let at = 0; at < text.length; at += size) stream.send(text.slice(at, at + size));
        stream.finish();
        const headers = { 'x-llm0-cache': 'off', 'anthropic-version': '2023-06-01' };
        const response = await post({ body: { stream: true, max_tokens: 100 }, headers, dialect });
        expect(response.status).toBe(200);
        expect(await textOf(response)).toBe('Ask [EMAIL] or use [API_KEY], as (ann) said.');
      }
    },
  );

  test('blocked text ends a stream with an error and cancels the upstream', async () => {
    await open([{ on: 'output', action: 'block' }]);
    const stream = streams();
    pipeline.world.scripts = [stream.script];
    stream.send(`Hello. Ask ${EMAIL.slice(0, 5)}`);
    stream.send(`${EMAIL.slice(5)} now`);
    const response = await post({ body: { stream: true } });
    const body = await response.text();
    expect(body).toContain('guardrail_blocked');
    expect(body).not.toContain(EMAIL);
    expect(body).not.toContain('[DONE]');
    await stream.cancelled;
    const [row] = await pipeline.rows();
    expect(row).toMatchObject({ status: 'error', errorCode: 'guardrail_blocked', stream: true });
    expect(row?.guardrails).toMatchObject([{ on: 'output', part: 'assistant', count: 1 }]);
    expect(row?.costNanoUsd).toBeGreaterThan(0);
  });

  test('blocked text in a plain answer gets 400 and is paid', async () => {
    await open([{ on: 'output', action: 'block' }]);
    pipeline.world.scripts = [says(`Ask ${EMAIL}.`)];
    const response = await post();
    expect(response.status).toBe(400);
    const [row] = await pipeline.rows();
    expect([row?.errorCode, row?.costNanoUsd]).toEqual(['guardrail_blocked', 20_000]);
    expect((await post()).status).toBe(400);
    expect(pipeline.world.asked.length).toBe(2);
  });

  test('shadow: all is noted, nothing is changed', async () => {
    await open([{ action: 'block' }], { mode: 'shadow' });
    pipeline.world.scripts = [says(`Ask ${EMAIL}.`)];
    expect(await contentOf(await post({ text: EMAIL }))).toBe(`Ask ${EMAIL}.`);
    const [row] = await pipeline.rows();
    expect(row?.guardrails).toMatchObject([
      { on: 'input', count: 1, shadow: true },
      { on: 'output', count: 1, shadow: true },
    ]);
  });

  test('flag: served and noted once', async () => {
    await open([{ action: 'flag' }]);
    pipeline.world.scripts = [says(`Ask ${EMAIL}.\\n`)];
    expect(await contentOf(await post())).toBe(`Ask ${EMAIL}.\\n`);
    expect((await pipeline.rows())[0]?.guardrails).toMatchObject([{ on: 'output', action: 'flag', count: 1 }]);
  });
});

describe('pseudonyms', () => {
  const NAMES: Partial<GuardrailRule>[] = [{ action: 'pseudonymise' }];

  test('the vendor sees names, the caller what they stand for', async () => {
    await open(NAMES);
    pipeline.world.scripts = [says('Done: <EMAIL_1> and <EMAIL_2>, not <EMAIL_3>.')];
    const answer = await contentOf(await post({ text: `Mail ${EMAIL} and bob@example.com` }));
    expect(JSON.parse(pipeline.world.sent[0] ?? '').messages[0].content).toBe('Mail <EMAIL_1> and <EMAIL_2>');
    expect(answer).toBe(`Done: ${EMAIL} and bob@example.com, not <EMAIL_3>.`);
    const hit = await post({ text: `Mail ${EMAIL} and bob@example.com` });
    expect([hit.headers.get('x-cache-hit'), await contentOf(hit)]).toEqual(['exact', answer]);
  });

  test('in streams in any pieces', async () => {
    await open(NAMES);
    const said = 'Mail <EMAIL_1> <now>, <EMAIL_9>';
    for (let size = 1; size < said.length; size++) {
      const stream = streams();
      pipeline.world.scripts = [stream.script];
      for (let at = 0; at < said.length; at += size) stream.send(said.slice(at, at + size));
      stream.finish();
      const response = await post({ text: EMAIL, body: { stream: true, seed: size } });
      expect(await textOf(response)).toBe(`Mail ${EMAIL} <now>, <EMAIL_9>`);
    }
  });

  test('of a project are equal in all requests of a customer, and unique to it', async () => {
    await open(NAMES, { pseudonymScope: 'project' });
    const send = async (customer: string) => {
      await post({ text: EMAIL, headers: { 'x-customer-id': customer } });
      return JSON.parse(pipeline.world.sent.at(-1) ?? '').messages[0].content;
    };
    const name = await send('a');
    expect(name).toMatch(/^<EMAIL_[0-9a-z]{10}>$/);
    expect(await send('b')).not.toBe(name);
    expect(pipeline.world.asked.length).toBe(2);
    await post({ text: `${EMAIL} again`, headers: { 'x-customer-id': 'a' } });
    expect(pipeline.world.sent.at(-1)).toContain(`${name} again`);
  });
});

describe('the header of a request', () => {
  test('makes a rule refuse what it would only note', async () => {
    await open([{ action: 'flag' }]);
    const headers = { 'x-llm0-guardrail': 'mail' };
    expect((await post({ text: EMAIL, headers })).status).toBe(400);
    expect((await post({ text: EMAIL })).status).toBe(200);
    const row = (await pipeline.rows())[0];
    expect([row?.guardrails?.[0]?.action, row?.labels]).toEqual(['block', undefined]);
  });

  test('names only rules that are there', async () => {
    await open([{}]);
    const response = await post({ headers: { 'x-llm0-guardrail': 'mail, other' } });
    expect([response.status, (await response.json()) as object]).toMatchObject([
      400,
      { error: { code: 'invalid_request', param: 'X-LLM0-Guardrail' } },
    ]);
    await pipeline.close();
    pipeline = await openPipeline();
    expect((await post({ headers: { 'x-llm0-guardrail': 'mail' } })).status).toBe(400);
  });
});

test('replays of an Idempotency-Key are judged like any other answer', async () => {
  pipeline = await openPipeline();
  pipeline.world.scripts = [says(`Ask ${EMAIL}.`)];
  const headers = { 'idempotency-key': 'one' };
  expect(await contentOf(await post({ headers }))).toBe(`Ask ${EMAIL}.`);
  pipeline.world.policy = policy([{ on: 'output' }]);
  const again = await post({ headers });
  expect([again.headers.get('x-idempotent-replay'), await contentOf(again)]).toEqual(['true', 'Ask [EMAIL].']);
});

describe('retry', () => {
  const RETRY: Partial<GuardrailRule>[] = [{ on: 'output', action: 'retry', maxRetries: 2 }];
  const bad = says(`Ask ${EMAIL}.`);

  test.each([false, true])('asks again with what was wrong, and pays for all (stream: %p)', async (stream) => {
    await open(RETRY);
    const streamed = (text: string) => {
      const one = streams();
      one.send(text);
      one.finish();
      return one.script;
    };
    const answerOf = (text: string) => (stream ? streamed(text) : says(text));
    pipeline.world.scripts = [answerOf(`Ask ${EMAIL}.`), answerOf('Ask Ann.')];
    const response = await post({ body: { stream } });
    expect(stream ? await textOf(response) : await contentOf(response)).toBe('Ask Ann.');
    const again = JSON.parse(pipeline.world.sent[1] ?? '').messages;
    expect(again.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(again[2].content).toContain('"mail"');
    const [row] = await pipeline.rows();
    expect(row).toMatchObject({ status: 'success', costNanoUsd: 40_000 });
    expect([row?.attempts?.length, row?.guardrails?.[0]?.count]).toEqual([2, 1]);
    expect(await pipeline.hotStore.openHolds()).toBe(0);
  });

  test('blocks once it was asked often enough', async () => {
    await open(RETRY);
    pipeline.world.scripts = [bad];
    const response = await post();
    expect([response.status, pipeline.world.asked.length]).toEqual([400, 3]);
    expect((await pipeline.rows())[0]).toMatchObject({ errorCode: 'guardrail_blocked', costNanoUsd: 60_000 });
  });

  test('an absolute cap pays for one answer', async () => {
    pipeline = await openPipeline({ policy: policy(RETRY), project: { strictCaps: true } });
    pipeline.world.scripts = [bad];
    expect([(await post()).status, pipeline.world.asked.length]).toEqual([400, 1]);
  });

  test('a failed retry still books the first answer', async () => {
    await open(RETRY);
    pipeline.world.scripts = [bad, fails(400)];
    const response = await post();
    expect(response.status).toBe(400);
    expect((await pipeline.rows())[0]?.costNanoUsd).toBe(20_000);
  });
});

test('without guardrails nothing is touched: the same objects go on, and rows say nothing', async () => {
  pipeline = await openPipeline();
  const given = { request: { model: MODEL } } as unknown as Admission['plan'];
  const admission = { plan: given } as Admission;
  expect(withGuarded(admission, undefined)).toBe(admission);
  expect(chosenGuardrails(undefined, undefined)).toBeUndefined();
  const planned = { ctx: { controls: {} }, principal: {} } as Parameters<typeof guardedScope>[0];
  expect(guardedScope(planned, 'scope')).toBe('scope');
  await post({ text: EMAIL });
  const [row] = await pipeline.rows();
  expect(row).toMatchObject({ status: 'success' });
  expect(row).not.toHaveProperty('guardrails');
  expect(pipeline.world.sent[0]).toContain(EMAIL);
});
