// Base64 within a text: one piece is one find, and a long piece is read in slices.

import { CODINGS, encodingOf } from '../decoders/encodings';
import { type FoldedText, type Folding, foldText } from '../folded-text';
import type { WindowRule } from '../rule-search';
import { type Detector, DIGITS, LETTERS, oneOf, type Span } from '../span';

const isBase64 = oneOf(`${DIGITS}${LETTERS}+/_-`);
const LEAST_RUN = 12;
/** Least length of a wrapped line: shorter ones are words. A detector sees three lines before its own. */
const LEAST_LINE = 20;
const MOST_INDENT = 16;
const MOST_PADDING = 2;
/** Characters that may follow the last line of wrapped base64; others mean that words follow a word. */
const isBehind = oneOf('\r\n"\'`<>\\)]}');
/** Slice length of longer pieces, by position in the whole text; each slice includes the next. */
const SLICE = 8192;
/** Base64 may start after other characters of its alphabet: tries four offsets. */
const OFFSETS = [0, 1, 2, 3];
/** Least share of text in decoded base64. */
const LEAST_TEXT = 0.8;
const NO_TEXT = /[^\x20-\x7e\n\r\t\u00a0-\ud7ff\ue000-\ufffc]/g;
/** A character may be cut where a slice ends. */
const CUT = 4;

interface Run {
  readonly start: number;
  readonly end: number;
  /** True if it may continue after the text. */
  readonly isOpen: boolean;
}

/** Detects in decoded base64 of either alphabet, wrapped or in one piece. */
export const findInBase64 = (rules: readonly WindowRule[]): Detector => ({
  decodes: true,
  find(text, isEnd, at = 0) {
    const spans: Span[] = [];
    for (const run of runsIn(text)) {
      if (run.end - run.start < LEAST_RUN) continue;
      const open = run.isOpen && !isEnd ? firstOpen(run, text.length, at) : run.end;
      for (const slice of slicesOf(run, at)) {
        if (slice.start >= open) break;
        const found = findIn(rules, text.slice(slice.start, Math.min(run.end, slice.end + SLICE)), slice);
        if (found !== undefined) spans.push(found);
      }
    }
    return spans;
  },
  // The rest of a long one may be short.
  mayFind: (text, from) => text.length - from >= LEAST_RUN || isBase64(text.charCodeAt(from - 1)),
  openFrom(text, _from, at = 0) {
    let last: Run | undefined;
    for (const run of runsIn(text)) last = run;
    return last?.isOpen === true ? firstOpen(last, text.length, at) : text.length;
  },
});

/** Start of the undecided part of an open piece: a slice is decided once the next one is there. */
function firstOpen(run: Run, length: number, at: number): number {
  if (!isLong(run, at)) return run.start;
  const open = (Math.floor((at + length) / SLICE) - 1) * SLICE - at;
  return Math.max(run.start, open);
}

/** A run at the start of the text, but not of the whole, is the rest of a long one. */
const isLong = ({ start, end }: Run, at: number): boolean => end - start > SLICE || (start === 0 && at > 0);

function* slicesOf(run: Run, at: number): Generator<Pick<Run, 'start' | 'end'>> {
  if (!isLong(run, at)) return yield run;
  for (let { start } = run; start < run.end; ) {
    const end = Math.min(run.end, (Math.floor((at + start) / SLICE) + 1) * SLICE - at);
    yield { start, end };
    start = end;
  }
}

/** Pieces of base64 in their order, short ones too. */
function* runsIn(text: string): Generator<Run> {
  for (let start = 0; start < text.length; start++) {
    if (!isBase64(text.charCodeAt(start))) continue;
    let line = lineFrom(text, start);
    let isOpen = line.end === text.length;
    for (let from = start; !isOpen && !line.isPadded && line.end - from >= LEAST_LINE; ) {
      const next = nextLine(text, line.end);
      isOpen = next === text.length;
      if (next === undefined || isOpen || !isBase64(text.charCodeAt(next))) break;
      const going = lineFrom(text, next);
      isOpen = going.end === text.length;
      if (!isOpen && !isBehind(text.charCodeAt(going.end))) break;
      line = going;
      from = next;
    }
    yield { start, end: line.end, isOpen };
    start = line.end;
  }
}

function lineFrom(text: string, start: number): { readonly end: number; readonly isPadded: boolean } {
  let end = start + 1;
  while (end < text.length && isBase64(text.charCodeAt(end))) end++;
  let padding = 0;
  while (padding < MOST_PADDING && text[end + padding] === '=') padding++;
  return { end: end + padding, isPadded: padding > 0 };
}

/** Start of the next line's text after its indent; undefined if no line ends at `at`. */
function nextLine(text: string, at: number): number | undefined {
  let next = at;
  if (text[next] === '\r') next++;
  if (text[next] === '\n') next++;
  if (next === at) return undefined;
  const most = Math.min(text.length, next + MOST_INDENT);
  while (next < most && (text[next] === ' ' || text[next] === '\t')) next++;
  return next;
}

/** Find of a slice by its first thing; extends into the next slice if something ends there. */
function findIn(rules: readonly WindowRule[], shown: string, slice: Pick<Run, 'start' | 'end'>): Span | undefined {
  const length = slice.end - slice.start;
  for (const offset of OFFSETS) {
    const said = read(shown.slice(offset), length - offset);
    const found = said && firstFind(rules, said.text, said.own);
    if (found === undefined) continue;
    const end = found.end > (said?.own ?? 0) ? shown.length : length;
    return { start: slice.start, end: slice.start + end, kind: found.kind };
  }
  return undefined;
}

function firstFind(rules: readonly WindowRule[], said: string, own: number): Span | undefined {
  const folded = new Map<Folding, FoldedText>();
  let first: Span | undefined;
  for (const { detector, folding } of rules) {
    const text = folded.get(folding) ?? foldText(said, folding);
    folded.set(folding, text);
    for (const span of detector.find(text.text, true)) {
      const end = text.endOf(span.end);
      if (text.originOf(span.start) >= own + CUT) continue;
      first = { ...(first ?? span), end: Math.max(end, first?.end ?? 0) };
    }
  }
  return first;
}

/** Decodes base64. Also returns the number of characters that its first `own` ones decode to. */
function read(shown: string, own: number): { readonly text: string; readonly own: number } | undefined {
  const bytes = Buffer.from(shown, 'base64');
  const encoding = encodingOf(bytes) ?? 'utf-8';
  const { decode } = CODINGS[encoding];
  const text = decode(bytes);
  if (encoding !== 'windows-1252' && !isMostlyText(text)) return undefined;
  return { text, own: own >= shown.length ? text.length : decode(Buffer.from(shown.slice(0, own), 'base64')).length };
}

function isMostlyText(text: string): boolean {
  const strange = text.match(NO_TEXT)?.length ?? 0;
  return text.length - strange >= LEAST_TEXT * text.length;
}
