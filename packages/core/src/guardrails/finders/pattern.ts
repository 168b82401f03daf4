import { RE2JS, RE2JSSyntaxException } from 're2js';
import type { Finder, Span } from '../span';
import { lengthOfPattern } from './pattern-length';

/** Longest stretch that text waits for, in characters: expressions that may need more get the whole text. */
export const LONGEST_WAIT = 256;

export interface PatternFinder extends Finder {
  /** It has to see all of a text before any of it goes on. */
  readonly needsWhole: boolean;
}

/** An operator's own expression, in time linear in the text (RE2's syntax). Throws what is wrong with it. */
export function findPattern(pattern: string): PatternFinder {
  const compiled = compile(pattern);
  const length = lengthOfPattern(pattern);
  const needsWhole = length === undefined || length > LONGEST_WAIT;
  return {
    needsWhole,
    find(text, isEnd) {
      if (needsWhole && !isEnd) return [];
      return length === undefined || needsWhole ? inWhole(compiled, text) : inPieces(compiled, text, length, isEnd);
    },
    openFrom: (text) => (needsWhole ? 0 : Math.max(0, text.length - (length ?? 0))),
  };
}

/** One after the other. */
function inWhole(compiled: RE2JS, text: string): readonly Span[] {
  const spans: Span[] = [];
  const matcher = compiled.matcher(text);
  for (let from = 0; from <= text.length && matcher.find(from); from = Math.max(matcher.end(), matcher.start() + 1))
    if (matcher.end() > matcher.start()) spans.push({ start: matcher.start(), end: matcher.end(), kind: 'pattern' });
  return spans;
}

/** So many times the longest match are searched at once: a search goes on to the end of what it is given, match or not. */
const REACH = 4;

/** From every place where one begins, so that it is the same wherever a text is cut. */
function inPieces(compiled: RE2JS, text: string, length: number, isEnd: boolean): readonly Span[] {
  const spans: Span[] = [];
  const decided = isEnd ? text.length + 1 : text.length - length;
  const step = REACH * length;
  for (let at = 0; at < text.length; at += step) {
    // A character before it says whether a word begins.
    const first = Math.max(0, at - 1);
    const last = Math.min(text.length, at + step);
    const matcher = compiled.matcher(text.slice(first, last + length));
    for (let from = at - first; first + from < last && matcher.find(from); from = matcher.start() + 1) {
      const [start, end] = [first + matcher.start(), first + matcher.end()];
      if (start >= last || start >= decided) break;
      if (end > start) spans.push({ start, end, kind: 'pattern' });
    }
  }
  return spans;
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (cause) {
    if (!(cause instanceof RE2JSSyntaxException)) throw cause;
    throw new Error(`not an expression that RE2 takes: ${cause.message}`, { cause });
  }
}
