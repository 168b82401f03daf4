import { describe, expect, test } from 'bun:test';
import { compileRule } from './compile-guardrails';
import { Guardrails } from './guardrails';
import type { GuardrailRule } from './policy';
import { RequestGuard } from './request-guard';

const USER = { on: 'input', part: 'user' } as const;
const rule = (pattern: string, more: Partial<GuardrailRule> = {}): GuardrailRule => ({
  ...{ name: 'own', on: 'both', check: { type: 'regex', pattern }, action: 'redact', onError: 'block' },
  ...more,
});

function guardOf(rules: readonly GuardrailRule[], timeoutMs = 50_000): RequestGuard {
  const compiled = rules.map((one) => ({ ...compileRule(one, {}, false), timeoutMs }));
  return new RequestGuard(new Guardrails(compiled, '', { scope: 'request' }), {
    ...{ projectId: 'p', keyId: 'k', requestId: 'r', customerId: undefined, monotonicMs: () => performance.now() },
  });
}

describe('expressions that are searched for in the thread', () => {
  const padding = 'é \\"quoted\\" words and 12 more, '.repeat(800);

  test.each([
    ['with a bound', 'sk-[a-z]{3,9}'],
    ['without one', 'sk-[a-z]+'],
    ['with a bound that is too large to wait for', '(?:sk|.{300}never)-[a-z]{3,9}'],
  ])('find the same there: %s', async (_, pattern) => {
    const text = `sk-abc ${padding}sk-def\u200bghi ${padding}ｓk-jkl`;
    const guard = guardOf([rule(pattern)]);
    expect(await guard.judge(text, USER)).toBe(text.replace(/[sｓ]k-[a-z\u200b]+/gu, '[PATTERN]'));
    expect(guard.list()).toMatchObject([{ rule: 'own', count: 3 }]);
  });

  test('in JSON, what its escapes stand for', async () => {
    const guard = guardOf([rule('sk-[a-z]+'), rule('4111', { name: 'number' })]);
    const text = JSON.stringify({ a: `${padding}sk-abc`, b: 'end' }).replace('sk-abc', 's\\u006b-abc');
    const judged = await guard.judge(text, USER, 'json');
    expect(JSON.parse(judged)).toEqual({ a: `${padding}[PATTERN]`, b: 'end' });
  });

  test('across texts that are read one behind the other', async () => {
    const guard = guardOf([rule('sk-[a-z]+')]);
    expect(await guard.searchJoined([`${padding}sk-ab`, `cd ${padding}`], USER)).toEqual([
      `${padding}[PATTERN]`,
      ` ${padding}`,
    ]);
  });

  test('one that takes too long is refused, or passes with a mark, as its rule says', async () => {
    const text = `${'a'.repeat(400_000)}x`;
    const slow = '.{1,1000}x';
    await expect(guardOf([rule(slow)], 100).judge(text, USER)).rejects.toThrow("couldn't be checked");
    const guard = guardOf([rule(slow, { onError: 'allow' })], 100);
    expect(await guard.judge(text, USER)).toBe(text);
    expect(guard.list()).toMatchObject([{ rule: 'own', count: 0, error: 'timeout' }]);
  });
});
