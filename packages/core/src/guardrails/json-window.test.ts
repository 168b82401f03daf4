import { describe, expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { findCards } from './detectors/card';
import { findEmails } from './detectors/email';
import { findPattern } from './detectors/pattern';
import { SECRET_DETECTORS } from './detectors/secrets';
import { JsonWindow } from './json-window';
import type { WindowRule } from './rule-search';

const RULES: readonly WindowRule[] = [findEmails, findCards, ...SECRET_DETECTORS, findPattern('darn')].map(
  (detector) => ({
    detector,
    folding: 'width',
  }),
);
const SECRETS = ['ann@example.com', '4111 1111 1111 1111', 'sk-proj-abcdefghijklmnop1234', 'darn'];

const judge = (pieces: readonly string[]): string => {
  const window = new JsonWindow(RULES, ({ kind: found }) => `<${found} "new">`);
  return pieces.map((piece) => window.push(piece)).join('') + window.flush();
};

/** JSON text in which some characters are written as escapes, as the flags say. */
function written(value: unknown, flags: readonly boolean[]): string {
  let at = 0;
  const asEscape = (one: string) => {
    const isEscaped = one.length === 1 && flags[at++ % flags.length] === true;
    return isEscaped ? `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}` : one;
  };
  return JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"/g, (text) =>
    text.replace(/\\u[0-9a-f]{4}|\\.|[a-z0-9@-]/g, asEscape),
  );
}

const said = fc.constantFrom(...SECRETS, 'a', '"', '\\', '\n', 'é', '😀', ' ', '1', 'x@y', '4111', '{', '-', 'sk-');
const text = fc.array(said, { maxLength: 6 }).map((parts) => parts.join(' '));
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(4111111111111111),
    tie('list'),
    tie('map'),
  ),
  list: fc.array(tie('any'), { maxLength: 3 }),
  map: fc.dictionary(text, tie('any'), { maxKeys: 3 }),
})).map;
const flags = fc.array(fc.boolean(), { minLength: 1, maxLength: 9 });
const cuts = fc.array(fc.nat(300), { maxLength: 12 });

const cutAt = (whole: string, at: readonly number[]): string[] => {
  const places = [...new Set(at.map((place) => place % (whole.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, index) => whole.slice(from, places[index]));
};

describe('arguments in pieces', () => {
  test('become the same in whatever pieces they come, stay JSON, and have no secret in any spelling', () => {
    fc.assert(
      fc.property(value, flags, cuts, (given, escapes, at) => {
        const whole = written(given, escapes);
        const once = judge([whole]);
        expect(judge(cutAt(whole, at))).toBe(once);
        expect(judge(whole.split(''))).toBe(once);
        const read = JSON.stringify(JSON.parse(once));
        for (const secret of SECRETS) expect(read).not.toContain(secret);
        expect(read).not.toContain('4111111111111111');
      }),
      { numRuns: runs(300) },
    );
  });

  test('clean bodies stay unchanged', () => {
    const clean = '{ "a" :"\\u00e9\\n\\/ \\"x\\"", "n":[1e5, -0.1,true ], "😀": "\\ud83d\\ude00" }';
    expect(judge([clean])).toBe(clean);
    expect(judge(clean.split(''))).toBe(clean);
  });

  test('nothing waits once the value has ended', () => {
    const window = new JsonWindow(RULES, () => '!');
    expect(window.push('{"a":"some')).not.toContain('some');
    expect(window.push(' text"}').length + window.heldLength).toBeGreaterThan(0);
    expect(window.heldLength).toBe(0);
  });

  test.each([
    ['{"n":4111111111111111}', '{"n":"<card \\"new\\">"}'],
    ['{"n":"4111111111111111"}', '{"n":"<card \\"new\\">"}'],
    ['{"a\\u0040b":"ann\\u0040example.com"}', '{"a\\u0040b":"<email \\"new\\">"}'],
    ['{"ann@example.com":1}', '{"<email \\"new\\">":1}'],
    ['{"broken": "ann@example.com', '{"broken": "<email \\"new\\">'],
    ['\\u00', '\\u00'],
    ['{"a":"{\\"b\\":\\"alice\\\\u0040example.com\\"}"}', '{"a":"{\\"b\\":\\"<email \\"new\\">\\"}"}'],
    ['{"a":"\\\\\\\\nsk-proj-abcdefghijklmnop1234 C:\\\\new"}', '{"a":"\\\\\\\\n<api_key \\"new\\"> C:\\\\new"}'],
    ['{"a":"x\\\\","b":"\\\\"}', '{"a":"x\\\\","b":"\\\\"}'],
  ])('%j becomes %j', (given, expected) => {
    expect(judge([given])).toBe(expected);
    expect(judge(given.split(''))).toBe(expected);
  });

  test('any clean text stays to the byte, in any pieces', () => {
    const any = fc.array(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 5 }),
        fc.constantFrom('\\', '\\\\', '\\u', '\\n', '\\u00', '"', '\\"'),
      ),
      {
        maxLength: 12,
      },
    );
    fc.assert(
      fc.property(any, cuts, (parts, at) => {
        const whole = parts.join('');
        const pieces = cutAt(whole, at);
        const window = new JsonWindow(RULES.slice(0, 1), ({ rule }) => String(rule));
        const out = pieces.map((piece) => window.push(piece)).join('') + window.flush();
        if (!whole.includes('@') && !whole.includes('0040')) expect(out).toBe(whole);
      }),
      { numRuns: runs(500) },
    );
  });
});
