// `expressions.test.ts` proves the same without a clock.
import { expect, test } from 'bun:test';
import { BOUNDED_EXPRESSIONS } from './bounded-expressions';
import { best, feedMs, fill, HARD_MS, hardest } from './feed-expression';
import { isUnbounded } from './judge-expression';
import { readExpressions } from './read-expressions';

const MEGABYTE = 1_000_000;
/** Enough to tell more than linear time by, and soon fed. */
const SAMPLE = 20_000;
/** A text of a megabyte, and one as long as an expression's bound allows. The best of three, as compilers and collectors come in between. */
const MOST_MS = { megabyte: 250, bound: 25 } as const;
const TRIES = 3;

const { distinct, free, keyOf } = await readExpressions();

test('an expression takes no time for a megabyte of its hardest text', () => {
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
