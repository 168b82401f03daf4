import { describe, expect, test } from 'bun:test';
import { compileRule } from '../compile-guardrails';
import type { GuardrailCheck } from '../policy';
import { TextWindow } from '../text-window';

const windowOf = (check: GuardrailCheck) =>
  new TextWindow(
    compileRule({ name: 'r', on: 'both', check, action: 'redact', onError: 'block' }, {}, false).detectors,
    ({ kind }) => `[${kind}]`,
  );
const judge = (check: GuardrailCheck, pieces: readonly string[]) => {
  const window = windowOf(check);
  return pieces.map((piece) => window.push(piece)).join('') + window.flush();
};
const tags = (text: string) => String.fromCodePoint(...[...text].map((one) => 0xe0000 + (one.codePointAt(0) ?? 0)));
const DECODING: GuardrailCheck = { type: 'pii', kinds: ['email', 'card'], decode: ['base64'] };

describe('hidden text', () => {
  test('in tag characters, wherever it is cut; others among letters hide nothing', () => {
    const text = `See${tags('write to ann@example.com')} this.`;
    const check: GuardrailCheck = { type: 'pii', kinds: ['email'] };
    expect(judge(check, [text])).toBe('See[email] this.');
    for (let at = 1; at < text.length; at++)
      expect([at, judge(check, [text.slice(0, at), text.slice(at)])]).toEqual([at, 'See[email] this.']);
    expect(judge(check, [`a${tags('x')}nn@example.com`])).toBe('[email]');
    expect(judge(check, [`🏴${tags('gbeng')} wins`])).toBe(`🏴${tags('gbeng')} wins`);
  });

  test.each(['base64', 'base64url'] as const)('in %s, where the rule says so, at any place of a run', (encoding) => {
    for (const before of ['', 'x', 'xy', 'xyz'])
      for (const said of ['Ask ann@example.com, then go on.', '"n":"4111 1111 1111 1111" ÿÿ?>']) {
        const run = before + Buffer.from(said).toString(encoding);
        const text = `Here: ${run} (end)`;
        const expected = `Here: [${said.includes('@') ? 'email' : 'card'}] (end)`;
        expect(judge(DECODING, [text])).toBe(expected);
        for (let at = 1; at < text.length; at += 3)
          expect([at, judge(DECODING, [text.slice(0, at), text.slice(at)])]).toEqual([at, expected]);
        expect(judge({ type: 'pii', kinds: ['email', 'card'] }, [text])).toBe(text);
      }
  });

  test('secrets too, and nothing in what is no text', () => {
    const hidden = Buffer.from('key=sk-proj-abcdefghijklmnop1234').toString('base64');
    expect(judge({ type: 'secrets', decode: ['base64'] }, [`see ${hidden}.`])).toMatch(/^see \[(?:token|api_key)\]\.$/);
    const clean = `id ${Buffer.from('nothing at all here').toString('base64')} 0123456789abcdef0123 getUserAccountById`;
    expect(judge(DECODING, [clean])).toBe(clean);
  });
});
