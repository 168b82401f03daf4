import { RE2JS, RE2JSSyntaxException } from 're2js';
import type { Detector, Span } from '../span';
import { lengthOfPattern } from './pattern-length';

/** Kind of finds of expressions. */
export const PATTERN = 'pattern';
/** Longest stretch that text waits for, in characters: expressions that may need more get the whole text. */
const LONGEST_WAIT = 256;

/** Steps of a machine (its size, by each character) that others can wait for. One takes 10 ns at the worst. */
const MOST_STEPS = 2_000_000;
/** Maximum of steps per character, for a search from every position. */
const MOST_STEPS_EACH = 4000;
/** A search reads its whole input, ten times a match's length on average, mostly with a faster engine. */
const SHARE = 0.1;
const MOST_AT_ONCE = 16 * 1024;

/** Detector for an operator's expression, in linear time (RE2 syntax). Throws for an invalid one. */
export function findPattern(pattern: string): Detector {
  const compiled = compilePattern(pattern);
  const size = compiled.programSize();
  const bound = lengthOfPattern(compiled);
  const isShort = bound !== undefined && bound <= LONGEST_WAIT && size * bound * SHARE <= MOST_STEPS_EACH;
  const steps = isShort ? size * bound * SHARE : size;
  return {
    expression: { pattern, most: Math.min(MOST_AT_ONCE, Math.floor(MOST_STEPS / steps)) },
    needsWhole: !isShort,
    find(text, isEnd) {
      if (isShort) return inPieces(compiled, text, bound, isEnd);
      return isEnd ? inWhole(compiled, text) : [];
    },
    openFrom: (text) => (isShort ? Math.max(0, text.length - bound) : 0),
  };
}

/** One after the other. */
function inWhole(compiled: RE2JS, text: string): readonly Span[] {
  const spans: Span[] = [];
  const matcher = compiled.matcher(text);
  for (let from = 0; from <= text.length && matcher.find(from); from = Math.max(matcher.end(), matcher.start() + 1))
    if (matcher.end() > matcher.start()) spans.push({ start: matcher.start(), end: matcher.end(), kind: PATTERN });
  return spans;
}

/** Multiple of the longest match to search at once: a search reads its whole input, match or not. */
const REACH = 4;

/** Searches from every start, so that results don't depend on how the text is cut. */
function inPieces(compiled: RE2JS, text: string, length: number, isEnd: boolean): readonly Span[] {
  const spans: Span[] = [];
  const decided = isEnd ? text.length + 1 : text.length - length;
  const step = REACH * length;
  for (let at = 0; at < text.length; at += step) {
    // The character before it decides if a word begins.
    const first = Math.max(0, at - 1);
    const last = Math.min(text.length, at + step);
    const matcher = compiled.matcher(text.slice(first, last + length));
    for (let from = at - first; first + from < last && matcher.find(from); from = matcher.start() + 1) {
      const [start, end] = [first + matcher.start(), first + matcher.end()];
      if (start >= last || start >= decided) break;
      if (end > start) spans.push({ start, end, kind: PATTERN });
    }
  }
  return spans;
}

/** Throws for an invalid expression. */
export function compilePattern(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (cause) {
    if (!(cause instanceof RE2JSSyntaxException)) throw cause;
    throw new Error(`not an expression that RE2 takes: ${cause.message}`, { cause });
  }
}
