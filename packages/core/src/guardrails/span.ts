/** A stretch of text, `end` not included. */
export interface Span {
  readonly start: number;
  readonly end: number;
  /** Kind of find: `email`, `card`, … */
  readonly kind: string;
}

/**
 * Finds one kind of thing in text that may continue. A match depends only on itself, `CONTEXT` characters before it and
 * `AHEAD` after it. So pieces of text suffice.
 */
export interface Detector {
  /**
   * Finds that no later text can change; at the end (`isEnd`) all. They may overlap. `at`: position of `text` in the
   * whole, for detectors that know it.
   */
  find(text: string, isEnd: boolean, at?: number): readonly Span[];
  /**
   * False if no find begins at or after `from`; a cheap first test for clean text. `traits`: of the text from `from`
   * on.
   */
  mayFind?(text: string, from: number, traits: Traits): boolean;
  /** Start of a possible unfinished find; `text.length` without one. Ignores starts before `from`. `at` as above. */
  openFrom(text: string, from: number, at?: number): number;
  /** Needs the whole text at once: nothing is released before. */
  readonly needsWhole?: boolean;
  /** Reads decoded text. */
  readonly decodes?: boolean;
  /** An operator's own expression. */
  readonly expression?: Expression;
}

/** Shared features of a text, computed once for all detectors. */
export interface Traits {
  readonly hasDigit: boolean;
  /** `LONG_RUN` characters of words, keys and paths side by side. */
  readonly hasLongRun: boolean;
}

/** An expression of which longer texts are searched in a thread. */
export interface Expression {
  readonly pattern: string;
  /** Largest input for any content. */
  readonly most: number;
}

/** Characters before a span that its detector may look at. */
export const CONTEXT = 64;
/** Characters after a span that its detector may read. */
export const AHEAD = 1;

/** Spans in order, those that overlap as one of the first one's kind. */
export function mergeSpans<S extends Span>(spans: readonly S[]): S[] {
  const merged: S[] = [];
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = merged.at(-1);
    if (last === undefined || span.start >= last.end) merged.push(span);
    else if (span.end > last.end) merged[merged.length - 1] = { ...last, end: span.end };
  }
  return merged;
}

/** Start of the longest tail of accepted characters; reads each character once. */
export function trailingRun(text: string, takes: (code: number) => boolean, most = text.length): number {
  const least = Math.max(0, text.length - most);
  let start = text.length;
  while (start > least && takes(text.charCodeAt(start - 1))) start--;
  return start;
}

/** Codes of characters, as a test. */
export function oneOf(characters: string): (code: number) => boolean {
  const known = new Uint8Array(128);
  for (const character of characters) known[character.charCodeAt(0)] = 1;
  return (code) => code < 128 && known[code] === 1;
}

export const DIGITS = '0123456789';
export const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

export const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/** True for a digit at or after `from`. */
export function hasDigit(text: string, from: number): boolean {
  for (let at = from; at < text.length; at++) if (isDigit(text.charCodeAt(at))) return true;
  return false;
}

export const isAlphanumeric = oneOf(DIGITS + LETTERS);

const LONG_RUN = 13;
const [RUN, DIGIT, LONG] = [1, 2, 4];
const KINDS = new Uint8Array(128);
for (const character of `${LETTERS}_-.+/=:~$%`) KINDS[character.charCodeAt(0)] = RUN;
for (const digit of DIGITS) KINDS[digit.charCodeAt(0)] = DIGIT;

/** Traits of the text from `from` on. */
export function traitsOf(text: string, from: number): Traits {
  const { length } = text;
  let seen = 0;
  let run = 0;
  for (let at = from; at < length; at++) {
    const code = text.charCodeAt(at);
    const kind = code < 128 ? (KINDS[code] ?? 0) : 0;
    seen |= kind;
    run = kind === 0 ? 0 : run + 1;
    if (run === LONG_RUN) seen |= LONG;
  }
  return { hasDigit: (seen & DIGIT) !== 0, hasLongRun: (seen & LONG) !== 0 };
}
