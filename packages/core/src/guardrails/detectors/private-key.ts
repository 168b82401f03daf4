import { type Detector, oneOf, type Span, trailingRun } from '../span';

const PEM_BEGIN = '-----BEGIN ';
const PEM_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----/g;
const PEM_HEAD = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----/g;
const MAX_PEM_HEAD = 80;
const isPemHead = oneOf('ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -');
/** Incomplete first line. */
const OPEN_HEAD = /-----BEGIN [A-Z0-9 ]{0,51}-{0,4}$|-{1,5}$|-----B(?:E(?:G(?:IN?)?)?)?$/;

/** Private keys as their files have them. */
export const findPrivateKeys: Detector = {
  find: (text, isEnd) => [...privateKeys(text, isEnd)],
  mayFind: (text, from) => text.includes(PEM_BEGIN, from),
  openFrom: (text) => openKey(text),
};

/** From the first line to the last, or to the end of the text. */
function* privateKeys(text: string, isEnd: boolean): Generator<Span> {
  for (const { start, end } of keysIn(text)) {
    if (end !== undefined) yield { start, end, kind: 'private_key' };
    else if (isEnd) yield { start, end: text.length, kind: 'private_key' };
  }
}

/** Each first line with the end of the last line after it; reads the text once, for any number of keys. */
function* keysIn(text: string): Generator<{ readonly start: number; readonly end: number | undefined }> {
  if (!text.includes(PEM_BEGIN)) return;
  let last: RegExpExecArray | null = null;
  for (const { 0: head, index } of text.matchAll(PEM_HEAD)) {
    const behind = index + head.length;
    if (last === null || last.index < behind) {
      PEM_END.lastIndex = behind;
      last = PEM_END.exec(text);
    }
    yield { start: index, end: last === null ? undefined : last.index + last[0].length };
    if (last === null) return;
  }
}

/** Start of an unfinished key, or of a possible first line. */
function openKey(text: string): number {
  if (!text.includes('-')) return text.length;
  for (const { start, end } of keysIn(text)) if (end === undefined) return start;
  const from = trailingRun(text, isPemHead, MAX_PEM_HEAD);
  if (!text.includes('-', from)) return text.length;
  const begun = OPEN_HEAD.exec(text.slice(from));
  return begun === null ? text.length : from + begun.index;
}
