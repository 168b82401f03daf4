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
      const spans: Span[] = [];
      const decided = isEnd ? text.length : text.length - (length ?? 0);
      const matcher = compiled.matcher(text);
      for (let from = 0; from <= text.length && matcher.find(from); ) {
        const [start, end] = [matcher.start(), matcher.end()];
        // Without a bound, each beginning may have the same end: looking for all of them would take the square of the text.
        from = needsWhole ? Math.max(end, start + 1) : start + 1;
        if (end > start && start < decided) spans.push({ start, end, kind: 'pattern' });
      }
      return spans;
    },
    openFrom: (text) => (needsWhole ? 0 : Math.max(0, text.length - (length ?? 0))),
  };
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (cause) {
    if (!(cause instanceof RE2JSSyntaxException)) throw cause;
    throw new Error(`not an expression that RE2 takes: ${cause.message}`, { cause });
  }
}
