import { describe, expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { ResponseCollector } from '../chat/collect';
import type { ChatEvent } from '../chat/event';
import type { JsonObject } from '../chat/json';
import type { ChatRequest } from '../chat/request';
import { AnswerGuard } from './chat/answer-guard';
import { guardRequest } from './chat/guard-request';
import { guardResponse } from './chat/guard-response';
import type { TextCheck, Verdict } from './check';
import { GuardrailCompiler, type TextChecks } from './compile-guardrails';
import type { Guardrails } from './guardrails';
import type { GuardrailPolicy, GuardrailRule } from './policy';
import { AnswerRefused } from './refusals';
import { RequestGuard } from './request-guard';

const rule = (given: Partial<GuardrailRule>): GuardrailRule => ({
  ...{ name: 'rule', on: 'both', check: { type: 'pii' }, action: 'redact', onError: 'block' },
  ...given,
});
const compile = (
  rules: readonly Partial<GuardrailRule>[],
  { checks = {}, ...more }: Partial<GuardrailPolicy> & { readonly checks?: TextChecks } = {},
): Guardrails => {
  const policy: GuardrailPolicy = {
    mode: 'enforce',
    pseudonymScope: 'request',
    version: 1,
    ...more,
    rules: rules.map(rule),
  };
  const found = new GuardrailCompiler(checks).compile({ policy, keyRules: null, pseudonymSecret: 'secret' });
  if (found === undefined) throw new Error('nothing is asked');
  return found;
};
const guardOf = (guardrails: Guardrails) =>
  new RequestGuard(guardrails, {
    ...{ projectId: 'p', keyId: 'k', requestId: 'r', customerId: undefined },
    monotonicMs: () => performance.now(),
  });
const USER = { on: 'input', part: 'user' } as const;
const SAID = { on: 'output', part: 'assistant' } as const;
const EMAIL = 'ann@example.com';

describe('which rules are asked', () => {
  test('those of the side and part, in order; others see nothing', async () => {
    const guard = guardOf(
      compile([
        { on: 'input', parts: ['system'] },
        { name: 'out', on: 'output' },
      ]),
    );
    expect(await guard.judge(EMAIL, USER)).toBe(EMAIL);
    expect(await guard.judge(EMAIL, { on: 'input', part: 'system' })).toBe('[EMAIL]');
    expect(guard.list()).toMatchObject([{ rule: 'rule', part: 'system', count: 1 }]);
  });

  test('a rule that only watches widens no other, and both are told', async () => {
    const watching = { name: 'watch', check: { type: 'regex', pattern: 'to .{1,30}' }, action: 'flag' } as const;
    const guard = guardOf(compile([watching, {}]));
    expect(await guard.judge(`Mail to ${EMAIL} now`, USER)).toBe('Mail to [EMAIL] now');
    expect(guard.list()?.map(({ rule: name, count }) => [name, count])).toEqual([
      ['watch', 1],
      ['rule', 1],
    ]);
  });

  test('a redacted text can still be blocked by another rule', async () => {
    const guard = guardOf(compile([{}, { name: 'block', action: 'block' }]));
    await expect(guard.judge(EMAIL, USER)).rejects.toMatchObject({ kind: 'guardrail_blocked', param: 'block' });
  });

  test('nothing is asked where a policy is off, or has no rules', () => {
    const compiler = new GuardrailCompiler({});
    const source = { keyRules: [rule({})], pseudonymSecret: 's' };
    const policy = { mode: 'off', rules: [rule({})], pseudonymScope: 'request', version: 1 } as const;
    expect(compiler.compile({ ...source, policy })).toBeUndefined();
    expect(compiler.compile({ policy: null, keyRules: null, pseudonymSecret: 's' })).toBeUndefined();
    expect(compiler.compile({ ...source, policy: null })?.rules.length).toBe(1);
    expect(compiler.compile({ ...source, policy: { ...policy, mode: 'shadow' } })?.rules.length).toBe(2);
  });

  test('rules of levels are enforced whatever the mode of the project, before its own', async () => {
    const compiler = new GuardrailCompiler({});
    const policy = { mode: 'shadow', rules: [rule({})], pseudonymScope: 'request', version: 1 } as const;
    const levelRules = [rule({ name: 'team/block', action: 'block' })];
    const source = { keyRules: null, pseudonymSecret: 's', levelRules };
    const hashes = new Set<string | undefined>();
    for (const mode of ['off', 'shadow', 'enforce'] as const) {
      const found = compiler.compile({ ...source, policy: { ...policy, mode } });
      expect(found?.rules.map(({ name, isShadow }) => [name, isShadow])).toEqual([
        ['team/block', false],
        ...(mode === 'off' ? [] : [['rule', mode === 'shadow'] as [string, boolean]]),
      ]);
      hashes.add(found?.hash);
      await expect(guardOf(found as Guardrails).judge(EMAIL, USER)).rejects.toMatchObject({ param: 'team/block' });
    }
    hashes.add(compiler.compile({ ...source, levelRules: [], policy })?.hash);
    expect(hashes.size).toBe(4);
  });

  test('equal rules are compiled once, others have another hash', () => {
    const compiler = new GuardrailCompiler({});
    const at = (name: string) =>
      compiler.compile({ policy: null, keyRules: [rule({ name })], pseudonymSecret: crypto.randomUUID() });
    expect(at('a')).toBe(at('a') as Guardrails);
    expect(at('a')?.hash).not.toBe(at('b')?.hash);
  });
});

describe('checks of whole texts', () => {
  const asked: string[] = [];
  const check = (verdict: Verdict | (() => Verdict | Promise<Verdict>)): TextChecks => {
    const judge: TextCheck['judge'] = ({ text }) => {
      asked.push(text);
      return typeof verdict === 'function' ? verdict() : verdict;
    };
    return { injection: () => ({ judge }) };
  };
  const whole = (given: Partial<GuardrailRule>, checks: TextChecks) =>
    guardOf(compile([{ name: 'first' }, { name: 'whole', check: { type: 'injection' }, ...given }], { checks }));

  test('see what the patterns left, and nothing is done where nothing is wrong', async () => {
    const guard = whole({ action: 'block' }, check({ count: 0 }));
    expect(await guard.judge(`to ${EMAIL}`, USER)).toBe('to [EMAIL]');
    expect(asked.at(-1)).toBe('to [EMAIL]');
    expect(guard.list()?.length).toBe(1);
  });

  test.each<[string, Verdict, string]>([
    ['all of it', { count: 1 }, '[INJECTION]'],
    [
      'where it is',
      {
        count: 2,
        spans: [
          { start: 0, end: 1, kind: 'x' },
          { start: 4, end: 5, kind: 'y' },
        ],
      },
      '[X]bcd[Y]',
    ],
    ['by what it says instead', { count: 1, replacement: 'other' }, 'other'],
  ])('redact %s', async (_name, verdict, expected) => {
    expect(await whole({}, check(verdict)).judge('abcde', USER)).toBe(expected);
  });

  test('refuse, flag, and ask again with the reason', async () => {
    const verdict = { count: 1, reason: 'too rude' };
    await expect(whole({ action: 'block' }, check(verdict)).judge('x', USER)).rejects.toMatchObject({ param: 'whole' });
    const flagged = whole({ action: 'flag' }, check(verdict));
    expect(await flagged.judge('x', USER)).toBe('x');
    expect(flagged.list()).toMatchObject([{ rule: 'whole', count: 1, action: 'flag' }]);
    const again = await whole({ action: 'retry' }, check(verdict))
      .judge('x', SAID)
      .catch((cause: unknown) => cause);
    expect([again instanceof AnswerRefused, (again as AnswerRefused).reason]).toEqual([true, 'too rude']);
    await expect(whole({ action: 'retry' }, check(verdict)).judge('x', USER)).rejects.toMatchObject({ param: 'whole' });
  });

  test('failed checks refuse, unless the rule allows it and the row says so', async () => {
    const failing = check(() => {
      throw new Error('away');
    });
    await expect(whole({}, failing).judge('x', USER)).rejects.toMatchObject({
      kind: 'guardrail_blocked',
      param: 'whole',
    });
    const allowed = whole({ onError: 'allow' }, failing);
    expect(await allowed.judge('x', USER)).toBe('x');
    expect(allowed.list()).toMatchObject([{ rule: 'whole', count: 0, error: 'failed' }]);
  });

  test('slow checks count as failed', async () => {
    const checks: TextChecks = { webhook: () => ({ judge: () => new Promise<Verdict>(() => {}) }) };
    const hook = { type: 'webhook', url: 'http://x', timeoutMs: 20 } as const;
    const guard = guardOf(compile([{ name: 'hook', check: hook }], { checks }));
    await expect(guard.judge('x', USER)).rejects.toMatchObject({ param: 'hook' });
    expect(guard.list()).toMatchObject([{ error: 'timeout' }]);
    const shadow = guardOf(compile([{ name: 'hook', check: hook }], { checks, mode: 'shadow' }));
    expect(await shadow.judge('x', USER)).toBe('x');
  });

  test('flag rules hold no stream and report at its end; earlier turns are checked once', async () => {
    const checks = check({ count: 1 });
    const flagging = compile(
      [
        { name: 'flag', check: { type: 'injection' }, action: 'flag' },
        { name: 'all', check: { type: 'regex', pattern: 'b.*z' }, action: 'flag' },
      ],
      { checks },
    );
    expect(flagging.holdsAnswers).toBe(false);
    const guard = guardOf(flagging);
    const judge = new AnswerGuard(guard);
    const said = await judge.push([{ type: 'text', choice: 0, text: 'a b c' }]);
    expect(said).toMatchObject([{ text: 'a b c' }]);
    await judge.push([
      { type: 'text', choice: 0, text: ' z' },
      { type: 'finish', choice: 0, reason: 'stop' },
    ]);
    await judge.end();
    expect(asked.at(-1)).toBe('a b c z');
    expect(
      guard
        .list()
        ?.map(({ rule: name, count }) => [name, count])
        .sort(),
    ).toEqual([
      ['all', 1],
      ['flag', 1],
    ]);
    const stricter = flagging.withStricter('flag');
    expect([stricter?.holdsAnswers, stricter?.acts, stricter?.hash === flagging.hash]).toEqual([true, true, false]);
    expect(flagging.withStricter('flag, other')).toBeUndefined();
    const blocking = compile([{ check: { type: 'injection' }, action: 'block' }], { checks: check({ count: 0 }) });
    expect(blocking.holdsAnswers).toBe(true);
    const before = asked.length;
    for (const text of ['first', 'second', 'first', 'second']) await guardOf(blocking).judge(text, USER);
    expect(asked.length - before).toBe(2);
  });

  test('unknown checks refuse, so a policy never applies in part', async () => {
    await expect(guardOf(compile([{ check: { type: 'injection' } }])).judge('x', USER)).rejects.toMatchObject({
      kind: 'guardrail_blocked',
    });
  });
});

describe('requests', () => {
  const request = (given: Partial<ChatRequest>): ChatRequest => ({
    ...{ model: 'm', stream: false, extra: {}, messages: [] },
    ...given,
  });
  const strict = compile([
    { check: { type: 'pii', kinds: ['email', 'card'] } },
    { name: 's', check: { type: 'secrets' } },
  ]);

  test('clean ones are the very same', async () => {
    const clean = request({
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'Hi' }],
        },
        {
          role: 'assistant',
          content: [],
          toolCalls: [{ id: 'call_AbC123dEf456GhI789jKl012', name: 'f', arguments: '{"a": 1}' }],
          reasoning: [{ text: 'hm', signature: 'aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z' }],
        },
        { role: 'tool', toolCallId: 'call_AbC123dEf456GhI789jKl012', content: [{ type: 'text', text: 'ok' }] },
      ],
      user: 'a'.repeat(64),
      wire: { format: 'openai-chat', body: { model: 'm', messages: [{ id: 'msg_AbC123dEf456GhI789jKl012' }] } },
    });
    expect(await guardRequest(guardOf(strict), clean)).toBe(clean);
  });

  test('text that comes as a file, or as base64 of one, is read', async () => {
    const data = Buffer.from(`mail ${EMAIL}`).toString('base64');
    const dataUrl = `data:text/plain;base64,${data}`;
    const body = { messages: [{ content: [{ source: { type: 'base64', media_type: 'text/plain', data } }] }] };
    const given = request({
      messages: [{ role: 'user', content: [{ type: 'file', dataUrl }] }],
      wire: { format: 'anthropic-messages', body },
    });
    const { messages, wire } = await guardRequest(guardOf(strict), given);
    const redacted = Buffer.from('mail [EMAIL]').toString('base64');
    expect(JSON.stringify([messages, wire])).not.toContain(data);
    expect(JSON.stringify(messages)).toContain(redacted);
    expect(JSON.stringify(wire)).toContain(redacted);
  });

  test('JSON results of a tool stay JSON', async () => {
    const said = (text: string) => ({
      ...{ role: 'tool' as const, toolCallId: 'call_1' },
      content: [{ type: 'text' as const, text }],
    });
    const given = request({
      messages: [said('{"user_id": 4111111111111111, "at": "{4111111111111111"}'), said('{4111111111111111')],
    });
    const { messages } = await guardRequest(guardOf(strict), given);
    expect(messages.map(({ content }) => (content[0] as { text: string }).text)).toEqual([
      '{"user_id": "[CARD]", "at": "{[CARD]"}',
      '{[CARD]',
    ]);
  });

  test('a text that one part may say and another may not', async () => {
    const guardrails = compile([{ parts: ['user'] }]);
    const said = (role: 'user' | 'system') => ({ role, content: [{ type: 'text' as const, text: EMAIL }] });
    const { messages } = await guardRequest(guardOf(guardrails), request({ messages: [said('system'), said('user')] }));
    expect(messages.map(({ content }) => (content[0] as { text: string }).text)).toEqual([EMAIL, '[EMAIL]']);
  });

  test('no body leaks a forbidden text or name', async () => {
    const secret = fc.constantFrom(
      EMAIL,
      '4111 1111 1111 1111',
      'sk-proj-abcdefghijklmnop1234',
      'AKIAIOSFODNN7EXAMPLE',
    );
    const said = fc
      .tuple(fc.constantFrom('', 'to ', '{"a": "', '(', 'x\\n'), secret, fc.constantFrom('', '.', '"}', ' and', ')'))
      .map((parts) => parts.join(''));
    const name = fc.oneof(
      said,
      fc.constantFrom('text', 'data', 'id', 'url', 'content', 'messages', 'tool_call_id', 'x'),
    );
    const body = fc.letrec((tie) => ({
      any: fc.oneof({ maxDepth: 4 }, said, fc.constant(4111111111111111), fc.constant('ok'), tie('list'), tie('map')),
      list: fc.array(tie('any'), { maxLength: 4 }),
      map: fc.dictionary(name, tie('any'), { maxKeys: 4 }),
    })).map as fc.Arbitrary<JsonObject>;
    await fc.assert(
      fc.asyncProperty(body, body, said, async (wireBody, extra, text) => {
        const given = request({
          ...{ extra, metadata: extra, user: text, stop: [text] },
          messages: [{ role: 'user', content: [{ type: 'text', text }] }],
          tools: [{ type: 'function', name: 'f', description: text, parameters: extra }],
          wire: { format: 'openai-chat', body: wireBody },
        });
        const out = await guardRequest(guardOf(strict), given);
        const all = JSON.stringify([
          out.extra,
          out.metadata,
          out.user,
          out.stop,
          out.messages,
          out.tools,
          out.wire?.body,
        ]);
        for (const one of ['example.com', '4111', 'sk-proj', 'AKIAIOSFODNN7']) expect(all).not.toContain(one);
      }),
      { numRuns: runs(200) },
    );
  });

  test('rules against words of the formats are about what people say', async () => {
    const given = request({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'user' },
            { type: 'text', text: 'high' },
          ],
        },
      ],
      reasoningEffort: 'high',
      wire: {
        format: 'openai-chat',
        body: {
          messages: [
            {
              role: 'user',
              content: [
                { type: 'text', text: 'user' },
                { type: 'text', text: 'high' },
              ],
            },
          ],
          reasoning_effort: 'high',
          unknown: { user: 'user', text: 'text' },
        },
      },
    });
    const words = compile([{ check: { type: 'words', words: ['user', 'text', 'content', 'high'] } }]);
    const { wire, reasoningEffort } = await guardRequest(guardOf(words), given);
    expect(reasoningEffort).toBe('high');
    expect(wire?.body).toEqual({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '[WORD]' },
            { type: 'text', text: '[WORD]' },
          ],
        },
      ],
      reasoning_effort: 'high',
      unknown: { user: '[WORD]', text: '[WORD]' },
    });
  });

  test('tokens are refused', async () => {
    const prompt = { prompts: [[1, 2]], chat: {} };
    await expect(guardRequest(guardOf(strict), request({ prompt }))).rejects.toMatchObject({ param: 'prompt' });
  });
});

describe('answers', () => {
  const guardrails = compile([
    { check: { type: 'pii', kinds: ['email', 'card'] } },
    { name: 's', check: { type: 'secrets' } },
    { name: 'w', check: { type: 'words', words: ['darn', 'no way'] } },
  ]);
  const said = fc
    .array(
      fc.constantFrom(
        EMAIL,
        '4111 1111 1111 1111',
        'sk-proj-abcdefghijklmnop1234',
        'darn',
        'no',
        'way',
        'x',
        '\\u0064arn',
        '.',
      ),
      {
        maxLength: 6,
      },
    )
    .map((parts) => parts.join(' '));
  const cuts = fc.array(fc.nat(120), { maxLength: 8 });
  const cutAt = (whole: string, at: readonly number[]): string[] => {
    const places = [...new Set(at.map((place) => place % (whole.length + 1)))].sort((a, b) => a - b);
    return [0, ...places].map((from, index) => whole.slice(from, places[index]));
  };

  test('in whatever events they come, their caller gets what a whole one says', async () => {
    await fc.assert(
      fc.asyncProperty(said, said, said, cuts, async (thought, text, given, at) => {
        const args = JSON.stringify({ given, list: [text] });
        const events: ChatEvent[] = [
          { type: 'start', model: 'm' },
          ...cutAt(thought, at).map((piece) => ({ type: 'reasoning', choice: 0, text: piece }) as const),
          ...cutAt(text, at).map((piece) => ({ type: 'text', choice: 0, text: piece }) as const),
          { type: 'tool-call', choice: 0, toolIndex: 0, id: 'call', name: 'f' },
          ...cutAt(args, at).map(
            (piece) => ({ type: 'tool-arguments', choice: 0, toolIndex: 0, text: piece }) as const,
          ),
          { type: 'finish', choice: 0, reason: 'stop' },
        ];
        const [whole, judged] = [new ResponseCollector(), new ResponseCollector()];
        whole.add(events);
        const judge = new AnswerGuard(guardOf(guardrails));
        for (const event of events) judged.add(await judge.push([event]));
        judged.add(await judge.end());
        const once = await guardResponse(guardOf(guardrails), whole.response());
        expect(judged.response().choices).toEqual(once.choices);
      }),
      { numRuns: runs(200) },
    );
  });

  test('have no secret in any form of it: blocks, thoughts, unknown fields, calls of the old kind', async () => {
    const block = {
      content: [
        { type: 'text', text: `to ${EMAIL.slice(0, 5)}` },
        { type: 'text', text: EMAIL.slice(5) },
      ],
    };
    const response = await guardResponse(guardOf(guardrails), {
      choices: [
        {
          ...{ index: 0, text: `to ${EMAIL}`, finishReason: 'stop' },
          raw: { format: 'anthropic-messages', value: block },
          reasoningDetails: [{ type: 'reasoning.text', text: EMAIL }],
          messageExtra: { annotations: [{ note: EMAIL }], function_call: { name: 'f', arguments: `{"a":"${EMAIL}"}` } },
          choiceExtra: { logprobs: { content: [...EMAIL].map((token) => ({ token })) } },
        },
      ],
      extra: { odd: { [EMAIL]: 4111111111111111 } },
    });
    const all = JSON.stringify(response);
    for (const secret of [EMAIL, 'example.com', '4111111111111111']) expect(all).not.toContain(secret);
    expect(response.choices[0]?.choiceExtra).toEqual({});
    expect(response.choices[0]?.messageExtra?.function_call).toEqual({ name: 'f', arguments: '{"a":"[EMAIL]"}' });
  });
});

describe('pseudonyms on both sides', () => {
  const both = compile([{ action: 'pseudonymise', check: { type: 'pii', kinds: ['email'] } }]);
  const answer = (text: string) => ({ choices: [{ index: 0, text, finishReason: 'stop' as const }] });
  const said = async (guard: RequestGuard, text: string) => {
    const whole = await guardResponse(guard, answer(text));
    const judge = new AnswerGuard(guard);
    const collected = new ResponseCollector();
    for (const piece of text) collected.add(await judge.push([{ type: 'text', choice: 0, text: piece }]));
    collected.add(await judge.end());
    return [whole.choices[0]?.text, collected.response().choices[0]?.text];
  };

  test("the caller's items come back unchanged, also for provider items", async () => {
    const guard = guardOf(both);
    expect(await guard.judge(`I am ${EMAIL}`, USER)).toBe('I am <EMAIL_1>');
    const expected = `You are ${EMAIL}, not <EMAIL_2>; ${EMAIL}.`;
    const given = `You are ${EMAIL}, not bob@example.com; <EMAIL_1>.`;
    expect(await said(guard, given)).toEqual([expected, expected]);
    const escaped = `You are \\u0061nn@example.com, \\u0062ob@example.com`;
    expect(await said(guard, escaped)).toEqual(Array(2).fill(`You are ${EMAIL}, <EMAIL_2>`));
  });

  test('in arguments of tools too; a rule of answers alone does what it says', async () => {
    const guard = guardOf(both);
    await guard.judge(EMAIL, USER);
    expect(
      await guard.judge(`{"to":"${EMAIL}","cc":"bob@example.com"}`, { on: 'output', part: 'tool_arguments' }, 'json'),
    ).toBe(`{"to":"${EMAIL}","cc":"<EMAIL_2>"}`);
    const email = { type: 'pii', kinds: ['email'] } as const;
    const apart = guardOf(
      compile([
        { action: 'pseudonymise', on: 'input', check: email },
        { name: 'out', action: 'redact', on: 'output', check: email },
      ]),
    );
    await apart.judge(EMAIL, USER);
    expect(await said(apart, `You are ${EMAIL}`)).toEqual(['You are [EMAIL]', 'You are [EMAIL]']);
  });

  test('the same with names that last: nobody gets what another customer said', async () => {
    const lasting = compile([{ action: 'pseudonymise' }], { pseudonymScope: 'project' });
    const guard = guardOf(lasting);
    await guard.judge(EMAIL, USER);
    expect((await said(guard, `${EMAIL} bob@example.com`))[0]).toMatch(/^ann@example\.com <EMAIL_[0-9a-z]{10}>$/);
    expect((await said(guardOf(lasting), EMAIL))[0]).toMatch(/^<EMAIL_[0-9a-z]{10}>$/);
  });
});
