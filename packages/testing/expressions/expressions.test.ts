import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BOUNDED_EXPRESSIONS, BUILT_EXPRESSIONS } from './bounded-expressions';
import { expressionsOf, type FoundExpression, findExpressions } from './find-expressions';
import { hardPieces, isUnbounded, slowWays } from './judge-expression';

const MEGABYTE = 1_000_000;
/** Enough to tell more than linear time by, and soon fed. */
const SAMPLE = 20_000;
/** A text of a megabyte, and one as long as an expression's bound allows. The best of three, as compilers and collectors come in between. */
const MOST_MS = { megabyte: 250, bound: 25 } as const;
const TRIES = 3;
/** So many of an expression's pieces are fed at full length. */
const MOST_PIECES = 3;
/** Takes no expression's text to its end. */
const MISFIT = '\u0001';

const found = await findExpressions();
const keyOf = ({ path, source }: Pick<FoundExpression, 'path' | 'source'>) => `${path} ${source}`;
const bounded = new Map(BOUNDED_EXPRESSIONS.map((one) => [keyOf(one), one]));
const fill = (piece: string, length: number) =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length) + MISFIT;

/** Of a core: others on this machine do not count. */
function feedMs({ source, flags }: FoundExpression, text: string): number {
  const expression = new RegExp(source, /[gy]/.test(flags) ? flags : `${flags}g`);
  const before = process.threadCpuUsage();
  text.replace(expression, '');
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

const best = (times: number, measure: () => number) => Math.min(...Array.from({ length: times }, measure));

/** Lengths by which to tell more than linear time soon. */
const STEPS = [30, 300, 3_000] as const;
const HARD_MS = 5;

/** The hardest of the pieces, at this length or where it is already too hard. */
function hardest(one: FoundExpression, length: number): { readonly piece: string; readonly ms: number } {
  let pieces = hardPieces(one.source, one.flags).map((piece) => ({ piece, ms: 0 }));
  for (const step of [...STEPS.filter((least) => least < length), length]) {
    pieces = pieces.map(({ piece }) => ({ piece, ms: feedMs(one, fill(piece, step)) })).sort((a, b) => b.ms - a.ms);
    pieces = pieces.slice(0, MOST_PIECES);
    const [worst] = pieces;
    if (worst !== undefined && step < length && worst.ms > HARD_MS && feedMs(one, fill(worst.piece, step)) > HARD_MS)
      return worst;
  }
  return pieces[0] ?? { piece: 'a', ms: 0 };
}

describe('every regular expression of the product', () => {
  test('is found, and what is built at run time has its patterns listed', () => {
    expect(found.written.length).toBeGreaterThan(350);
    const known = new Set(BUILT_EXPRESSIONS.map(({ path, code }) => `${path} ${code}`));
    expect(found.built.filter(({ path, code }) => !known.has(`${path} ${code}`))).toEqual([]);
  });

  const all = [
    ...found.written,
    ...BUILT_EXPRESSIONS.flatMap(({ path, patterns }) => patterns.map((one) => ({ path, ...one }))),
  ];
  const distinct = [...new Map(all.map((one) => [`${keyOf(one)} ${one.flags}`, one])).values()];
  const free = distinct.filter((one) => !bounded.has(keyOf(one)));

  test('takes linear time, provably, or is listed with its bound', () => {
    const slow = free.filter(({ source, flags }) => slowWays(source, flags).length > 0);
    expect(slow.map(keyOf)).toEqual([]);
  });

  test('takes no time for a megabyte of what is hardest on it', () => {
    const slow: string[] = [];
    for (const one of free.filter(({ source, flags }) => isUnbounded(source, flags))) {
      const { piece, ms: hardMs } = hardest(one, SAMPLE);
      // Otherwise a megabyte would take minutes.
      const isQuick = hardMs < HARD_MS || best(TRIES, () => feedMs(one, fill(piece, SAMPLE))) < HARD_MS;
      const ms = isQuick ? best(TRIES, () => feedMs(one, fill(piece, MEGABYTE))) : Number.POSITIVE_INFINITY;
      if (ms > MOST_MS.megabyte) slow.push(`${keyOf(one)}: ${Math.round(ms)} ms for "${piece}"`);
    }
    expect(slow).toEqual([]);
  }, 60_000);

  test.each(BOUNDED_EXPRESSIONS)('$path $source takes no time at its bound of $bound', ({ path, source, bound }) => {
    const one = distinct.find((other) => other.path === path && other.source === source);
    if (one === undefined) throw new Error('it is gone: take it off the list');
    const { piece } = hardest(one, bound);
    expect(best(TRIES, () => feedMs(one, fill(piece, bound)))).toBeLessThan(MOST_MS.bound);
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
    const isSlow = slowWays(source, flags).length > 0 || hardest(one, 2_000).ms * 100 > MOST_MS.megabyte;
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
