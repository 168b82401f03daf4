import { describe, expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import { threadMs } from '@llm0/testing/thread-time';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { RequestFailed } from '../admin-client';
import { readYaml } from './read-yaml';

/** On a busy machine; what grows without a bound takes minutes. */
const LONG_MS = 20_000;

/** What it says of a file that it refuses; fails where it takes it, or takes long. */
function refusal(text: string): string {
  const startMs = threadMs();
  try {
    readYaml(text);
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error;
    expect(threadMs() - startMs).toBeLessThan(LONG_MS);
    return error.message;
  }
  throw new Error('it was taken');
}

describe('readYaml', () => {
  test.each(['a: {<<: ""}', 'a: {<<: [x]}', '<<: 5'])('%s merges nothing that could be merged', (text) => {
    expect(refusal(text)).toContain('"<<"');
  });

  test('reads as the program it was written for does: YAML 1.1, merges, dates', () => {
    const text = 'base: &b {a: 1, on: yes}\nmore: {<<: *b, a: 2}\nversion: 2024-10-21\nprice: 1.5e-7\nnothing:\n';
    expect(readYaml(text)).toEqual({
      ...{ base: { a: 1, true: true }, more: { a: 2, true: true } },
      ...{ version: '2024-10-21', price: 1.5e-7, nothing: null },
    });
  });

  test('any JSON survives YAML', () => {
    const values = fc.jsonValue({ maxDepth: 3 }).filter((value) => !JSON.stringify(value).includes('"<<"'));
    const names = fc.string({ minLength: 1, maxLength: 8 }).filter((name) => name !== '__proto__' && name !== '<<');
    fc.assert(
      fc.property(fc.dictionary(names, values), (value) => {
        const plain = JSON.parse(JSON.stringify(value).replaceAll('-0,', '0,'));
        expect(readYaml(stringify(plain, { version: '1.1' }))).toEqual(JSON.parse(JSON.stringify(plain)));
      }),
      { numRuns: runs(200), examples: [[{ a: [1, { b: 'yes' }] }]] },
    );
  });

  test('a bomb of aliases is refused', () => {
    const levels = Array.from({ length: 12 }, (_, level) =>
      level === 0 ? 'a0: &a0 [x, x, x, x, x, x, x, x, x]' : `a${level}: &a${level} [${`*a${level - 1}, `.repeat(9)}]`,
    );
    expect(refusal(levels.join('\n'))).toContain('anchors');
  });

  test('one large anchor used often is refused', () => {
    const large = `big: &big [${'1, '.repeat(20_000)}]\nall: [${'*big, '.repeat(900)}]`;
    expect(refusal(large)).toContain('anchors');
    const merged = `big: &big {${Array.from({ length: 20_000 }, (_, i) => `k${i}: 1`).join(', ')}}\nall:\n${'  - {<<: *big}\n'.repeat(900)}`;
    expect(refusal(merged)).toContain('anchors');
  });

  test('the maximum number of names takes linear time', () => {
    const names = Array.from({ length: 60_000 }, (_, index) => `k${index}: 1`);
    const startMs = threadMs();
    expect(Object.keys(readYaml(names.join('\n')))).toHaveLength(60_000);
    expect(threadMs() - startMs).toBeLessThan(LONG_MS);
    expect(refusal([...names.slice(0, 100), 'k7: 2'].join('\n'))).toContain('line 101');
  });

  test('a reference to itself is refused', () => {
    expect(refusal('a: &a {b: *a}')).toMatch(/anchors|deep/);
  });

  test.each([
    ['brackets', '['.repeat(200_000)],
    ['closed brackets', `${'['.repeat(400_000)}${']'.repeat(400_000)}`],
    ['mappings', `${'{a: '.repeat(20_000)}1${'}'.repeat(20_000)}`],
    ['lines', Array.from({ length: 1200 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
  ])('%s nested without an end are refused', (_, text) => {
    refusal(text);
  });

  test('a file beyond all measure is refused unread', () => {
    expect(refusal('a'.repeat(2_000_000))).toContain('larger');
  });

  test('many values within the bound of characters are refused', () => {
    expect(refusal(`a: [${'1,'.repeat(400_000)}]`)).toContain('expand beyond the limit');
  });

  test.each([
    'just text',
    '- a list',
    '',
    '!!set {a, b}',
    'a: !!binary aGk=',
    'a: .inf',
    'a: 1\na: 2',
    'a: 1\n---\na: 2',
    'a: [',
    '\t- x: *gone',
  ])('refuses %j', (text) => {
    refusal(text);
  });

  test.each([
    ['a: 1\nb: .inf', 2],
    ['a:\n  - 1\n  - .NaN\nb: .inf', 3],
    ['a: 1\n\nb: !!binary aGk=', 3],
    ['x: {y: -.inf}', 1],
    ['a:\n  b: !!set {c, d}', 2],
    ['a: 1\nb: !!omap [x: 1]', 2],
    ['big: &b\n  c: 1e999\nd: *b', 2],
  ])('non-JSON values are refused with their line: %j', (text, line) => {
    expect(refusal(text)).toContain(`in line ${line} `);
  });

  test('a refusal never has a part of the file', () => {
    for (const text of [
      'key: "sk-secret\nb: 1',
      'sk-secret: 1\nsk-secret: 2',
      'a: *sk-secret',
      'a: !sk-secret 1\nb: [',
    ]) {
      expect(refusal(text)).not.toContain('secret');
    }
  });

  test('names of the language itself are plain names', () => {
    const read = readYaml('__proto__: {polluted: true}\nconstructor: 1');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(read.constructor).toBe(1 as never);
  });
});
