import { withoutEnd } from '../../../text/without-end';

const SPAN = /"([^"]{1,2000}?)"|`([^`\n]{1,2000})`|(?<![\p{L}\p{N}])'([^']{2,200}?)'(?![\p{L}\p{N}])/gu;
const MAX_SPANS = 8;
/** Searches a quote of one text in the other only if that is short. */
const MAX_LENGTH = 2000;

interface Span {
  readonly text: string;
  readonly mark: '"' | '`';
}

/** Normalizes quotes and backticks of literals that both texts contain. */
export function citeAlike(a: string, b: string): readonly [string, string] {
  if (!/["'`]/.test(a + b) || a.length + b.length > MAX_LENGTH) return [a, b];
  const [inA, inB] = [spansIn(a), spansIn(b)];
  const spans = [...inA, ...inB].sort((x, y) => y.text.length - x.text.length).slice(0, MAX_SPANS);
  const cited: Span[] = [];
  for (const span of spans) {
    if (cited.some(({ text }) => text.includes(span.text))) continue;
    if (!isIn(a, span.text) || !isIn(b, span.text) || isWithin(span.text, inA) || isWithin(span.text, inB)) continue;
    const isCode = spans.some(({ text, mark }) => text === span.text && mark === '`');
    cited.push({ text: span.text, mark: isCode ? '`' : '"' });
  }
  return [cite(a, cited), cite(b, cited)];
}

function spansIn(text: string): readonly Span[] {
  return [...text.matchAll(SPAN)].map(([, double, code, single]) => ({
    text: withoutEnd(double ?? code ?? single ?? '', /[.,;:!?\s]/).trim(),
    mark: code === undefined ? '"' : '`',
  }));
}

/** Part of something longer that is cited: "yield" in "yield from". */
const isWithin = (part: string, spans: readonly Span[]): boolean =>
  spans.some(({ text }) => text !== part && text.includes(part));

const BESIDE = /[\p{L}\p{N}]/u;

/** Position of a text as whole words; -1 without one. */
function placeOf(text: string, part: string): number {
  const at = text.indexOf(part);
  if (at < 0 || part.length < 3) return -1;
  const [before, after] = [text[at - 1] ?? ' ', text[at + part.length] ?? ' '];
  return BESIDE.test(before) || BESIDE.test(after) ? -1 : at;
}

const isIn = (text: string, part: string): boolean => placeOf(text, part) >= 0;

function cite(text: string, spans: readonly Span[]): string {
  let result = text;
  for (const { text: part, mark } of spans) {
    const at = placeOf(result, part);
    if (at < 0) continue;
    const before = result.slice(0, at).replace(/["'`]$/, '');
    const after = result.slice(at + part.length).replace(/^([.,;:!?]*)["'`]/, '$1');
    result = `${before}${mark}${part}${mark}${after}`;
  }
  return result;
}
