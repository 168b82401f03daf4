import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BOUNDED_EXPRESSIONS, BUILT_EXPRESSIONS } from './bounded-expressions';
import { hardest } from './feed-expression';
import { expressionsOf } from './find-expressions';
import { slowWays } from './judge-expression';
import { readExpressions } from './read-expressions';

const MEGABYTE_MS = 250;

const { found, free, keyOf } = await readExpressions();

describe('every regular expression of the product', () => {
  test('is found, and what is built at run time has its patterns listed', () => {
    expect(found.written.length).toBeGreaterThan(350);
    const known = new Set(BUILT_EXPRESSIONS.map(({ path, code }) => `${path} ${code}`));
    expect(found.built.filter(({ path, code }) => !known.has(`${path} ${code}`))).toEqual([]);
  });

  test('takes linear time, provably, or is listed with its bound', () => {
    const slow = free.filter(({ source, flags }) => slowWays(source, flags).length > 0);
    expect(slow.map(keyOf)).toEqual([]);
  });

  test.each(BOUNDED_EXPRESSIONS)(
    'the bound of $path $source is held where the list says',
    ({ holds: [path, text] }) => {
      expect(readFileSync(join(import.meta.dir, '../../..', path), 'utf8')).toContain(text);
    },
  );
});

describe('the judge', () => {
  test.each([
    [String.raw`(?<=\b(?:bearer|basic)\s+)[A-Za-z]{8,}`, 'gi'],
    ['(a+)+$', ''],
    [String.raw`^(\w+\s?)*$`, ''],
    [String.raw`\s+$`, ''],
    ['<[^>]*>', ''],
    ['a.*b.*c', 's'],
  ])('finds /%s/%s slow', (source, flags) => {
    const one = { path: '', source, flags };
    const isSlow = slowWays(source, flags).length > 0 || hardest(one, 2_000).ms * 100 > MEGABYTE_MS;
    expect(isSlow).toBe(true);
  });

  test.each([
    ['^[a-z]+$', ''],
    [String.raw`\d{1,20}\.\d{1,20}`, 'g'],
    ['[a-z]+', 'g'],
    [String.raw`(\b(?:bearer|basic)\s{1,20})[A-Za-z]{8,}`, 'gi'],
  ])('finds /%s/%s quick', (source, flags) => {
    expect(slowWays(source, flags)).toEqual([]);
  });

  test('reads what a constant builds', () => {
    const text =
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
      'const A = "(?:x|y)"; const B = `a${A}+`; new RegExp(`^${B}$`, "u"); RegExp(String.raw`\\d` + A); /z/g;';
    const { written } = expressionsOf('a.ts', text);
    expect(written.map(({ source, flags }) => [source, flags])).toEqual([
      ['z', 'g'],
      ['^a(?:x|y)+$', 'u'],
      ['\\d(?:x|y)', ''],
    ]);
    expect(expressionsOf('a.ts', 'new RegExp(pattern, flags)').built).toHaveLength(1);
  });
});
