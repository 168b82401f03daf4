import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Policy, Rule } from '../../api/guardrails';
import { fillForm, readForm } from '../forms/prepare-form';
import { chosenOf, toggledIn } from './chosen-boxes';
import { describeCheck, moveRule, prepareRules, prepareTried, replayProblem, withRule } from './prepare-guardrails';
import { NEW_RULE, ruleBody, ruleFields, ruleValues } from './rule-fields';
import { newlyHolding, partsOf, streamNote } from './rule-parts';

const rule = (name: string, given: Partial<Rule> = {}): Rule => ({
  ...{ name, on: 'both', check: { type: 'secrets' }, action: 'block', on_error: 'block' },
  ...given,
});

const RULES: readonly Rule[] = [
  rule('a', { check: { type: 'pii', kinds: ['email', 'national_id'] }, parts: ['user', 'tool_results'] }),
  rule('b', { check: { type: 'pii' }, action: 'pseudonymise' }),
  rule('c', { check: { type: 'regex', pattern: '\\d{4}' }, on: 'output' }),
  rule('d', { check: { type: 'words', words: ['one two', 'three, four'] } }),
  rule('e', { check: { type: 'length', max: 5 }, action: 'retry', on: 'output', max_retries: 2 }),
  rule('f', { check: { type: 'json_schema', schema: { type: 'object' } }, on: 'output' }),
  rule('g', { check: { type: 'url', allow: ['a.example'], deny: ['*.b.example', 'c.example'] } }),
  rule('h', { check: { type: 'injection' }, on: 'input' }),
  rule('i', { check: { type: 'similar_to', examples: ['x', 'y'], threshold: 0.6 } }),
  rule('j', { check: { type: 'moderation', model: 'openai/m' }, on_error: 'allow' }),
  rule('k', { check: { type: 'webhook', url: 'https://h.example', timeout_ms: 500 } }),
];
const POLICY: Policy = {
  mode: 'enforce',
  rules: [...RULES],
  pseudonym_scope: 'request',
  version: 3,
  holds_streams: ['f'],
};

test('stored requests can be checked with rules and kept prompts, or while neither is known', () => {
  expect([replayProblem(1, true), replayProblem(undefined, undefined)]).toEqual([null, null]);
  expect(replayProblem(0, false)).toBe('This project has no rules yet.');
  expect(replayProblem(2, false)).toContain('keeps no prompts');
});

describe("a rule's form", () => {
  test.each(RULES)('gives back what it was filled with: $check.type', (given) => {
    const values = ruleValues(given);
    const specs = ruleFields({ type: given.check.type, action: given.action });
    expect(ruleBody(readForm(specs, fillForm(specs, values)))).toEqual(given);
  });

  test('has fields of its check alone, and says what is missing', () => {
    const names = (type: string) => ruleFields({ type }).map(({ name }) => name);
    expect(names('words')).toContain('words');
    expect(names('words')).not.toContain('pattern');
    expect(names('')).toContain('kinds');
    const specs = ruleFields({ type: 'json_schema' });
    const filled = { ...fillForm(specs, { ...NEW_RULE, type: 'json_schema', name: 'x' }), schema: '[1]' };
    expect(() => readForm(specs, filled)).toThrow('must be an object');
    expect(() => readForm(specs, { ...filled, schema: '{' })).toThrow('must be JSON');
  });
});

describe('parts of a rule', () => {
  test('are those that its side has, all of them where none is named', () => {
    expect(partsOf('input')).toEqual(partsOf('both'));
    expect(partsOf('output')).toEqual(['assistant', 'tool_arguments', 'tool_results']);
    expect(chosenOf('', partsOf('output'))).toEqual(partsOf('output'));
    expect(chosenOf('user, assistant', partsOf('both'))).toEqual(['user', 'assistant']);
    expect(chosenOf('user, assistant', partsOf('output'))).toEqual(['assistant']);
    // Answers have no such part: what was chosen for requests says nothing of them.
    expect(chosenOf('user', partsOf('output'))).toEqual(partsOf('output'));
  });

  test('ticked and unticked, in their order; all of them is none in particular', () => {
    expect(toggledIn('', partsOf('output'), 'assistant')).toBe('tool_arguments, tool_results');
    expect(toggledIn('tool_results', partsOf('both'), 'user')).toBe('user, tool_results');
    expect(toggledIn('tool_arguments, tool_results', partsOf('output'), 'assistant')).toBe('');
  });

  test('are saved as far as the side has them', () => {
    const body = { ...NEW_RULE, name: 'n', parts: ['user', 'assistant'] };
    expect(ruleBody(body).parts).toEqual(['user', 'assistant']);
    expect(ruleBody({ ...body, on: 'output' }).parts).toEqual(['assistant']);
    expect(ruleBody({ ...body, on: 'output', parts: ['user'] })).not.toHaveProperty('parts');
    expect(ruleBody({ ...body, parts: null })).not.toHaveProperty('parts');
  });
});

describe('effect of a rule on streams', () => {
  test.each<[Record<string, unknown>, RegExp | null]>([
    [{ type: 'pii', on: 'both', action: 'block' }, null],
    [{ type: 'pii', on: 'output', action: 'retry' }, /has to see all/],
    [{ type: 'json_schema', on: 'output', action: 'block' }, /has to see all/],
    [{ type: 'json_schema', on: 'output', action: 'flag' }, null],
    [{ type: 'url', on: 'input', action: 'block' }, null],
    [{ type: 'regex', on: 'both', action: 'redact' }, /no bound/],
  ])('%j', (values, note) => {
    if (note === null) expect(streamNote(values)).toBeNull();
    else expect(streamNote(values)).toMatch(note);
  });

  test('is said when it is saved, of what is new', () => {
    expect(newlyHolding(['a'], ['a'])).toBeUndefined();
    expect(newlyHolding(['a'], ['a', 'b', 'c'])).toBe('Streamed answers wait for their end because of: b, c.');
  });
});

describe('the list of rules', () => {
  test('is shown in order, with what each found', () => {
    const bucket = { start: '', group: 'd', requests: 7, matches: 9, ms: 1 };
    const shown = prepareRules(POLICY, [bucket]);
    expect(shown.map(({ place, requests }) => [place, requests])[3]).toEqual([4, 7]);
    expect(shown[5]).toMatchObject({ isHolding: true, check: 'JSON schema', side: 'answers' });
    expect(shown[0]).toMatchObject({ parts: 'user, tool results', detail: 'email, national id' });
  });

  test.each<[Rule['check'], string]>([
    [{ type: 'pii' }, 'all kinds'],
    [{ type: 'words', words: ['x'] }, '1 word'],
    [{ type: 'url', allow: ['a'], deny: ['b', 'c'] }, 'only a; never b, c'],
    [{ type: 'regex', pattern: 'x'.repeat(100) }, `${'x'.repeat(60)}…`],
    [{ type: 'secrets' }, ''],
  ])('%j is "%s"', (check, words) => expect(describeCheck(check)).toBe(words));

  test('a rule is added, replaced, taken out', () => {
    const names = (rules: readonly Rule[]) => rules.map(({ name }) => name).join('');
    const [a = rule('a'), b = rule('b')] = RULES;
    expect(names(withRule([a], undefined, b))).toBe('ab');
    expect(names(withRule([a, b], 'a', rule('z')))).toBe('zb');
    expect(names(withRule([a, b], 'a', undefined))).toBe('b');
  });

  test('moving keeps all rules, and there and back is as before', () => {
    fc.assert(
      fc.property(fc.nat(RULES.length - 1), fc.constantFrom(1 as const, -1 as const), (index, by) => {
        const name = RULES[index]?.name ?? '';
        const moved = moveRule(RULES, name, by);
        expect([...moved].sort((x, y) => (x.name < y.name ? -1 : 1))).toEqual([...RULES]);
        if (moved !== RULES) expect(moveRule(moved, name, by === 1 ? -1 : 1)).toEqual(RULES);
      }),
    );
  });
});

test('describes the effect of rules on a text', () => {
  const one = (given: object) =>
    prepareTried({ rules: [{ name: 'n', matches: 0, action: 'block', error: null, ...given }] })[0];
  expect(one({})).toMatchObject({ outcome: 'finds nothing', tone: 'good', matches: 0 });
  expect(one({ matches: 2 })).toMatchObject({ outcome: 'blocks', tone: 'bad', matches: 2 });
  expect(one({ matches: 2, action: 'retry' })).toMatchObject({ outcome: 'asks again' });
  expect(one({ error: 'timeout' })).toMatchObject({ outcome: 'took too long', matches: null });
});
