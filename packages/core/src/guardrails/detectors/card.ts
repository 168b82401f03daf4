import type { Detector, Span } from '../span';
import { digitRuns, endsDigits, openDigits } from './digit-runs';

const MOST = 19;
const LEAST = 12;

/** First digits (of `digits` many) of an issuer's numbers, and how long these are. Source: ISO/IEC 7812 ranges in use. */
const ISSUERS: readonly {
  readonly digits: number;
  readonly from: number;
  readonly to: number;
  readonly lengths: readonly number[];
}[] = [
  { digits: 1, from: 4, to: 4, lengths: [13, 16, 19] },
  { digits: 2, from: 51, to: 55, lengths: [16] },
  { digits: 4, from: 2221, to: 2720, lengths: [16] },
  { digits: 2, from: 34, to: 34, lengths: [15] },
  { digits: 2, from: 37, to: 37, lengths: [15] },
  { digits: 4, from: 6011, to: 6011, lengths: [16, 17, 18, 19] },
  { digits: 3, from: 644, to: 649, lengths: [16, 17, 18, 19] },
  { digits: 2, from: 65, to: 65, lengths: [16, 17, 18, 19] },
  { digits: 2, from: 35, to: 35, lengths: [16, 17, 18, 19] },
  { digits: 4, from: 2131, to: 2131, lengths: [15] },
  { digits: 4, from: 1800, to: 1800, lengths: [15] },
  { digits: 4, from: 604, to: 604, lengths: [12, 13, 14, 15, 16, 17, 18, 19] },
  { digits: 3, from: 300, to: 305, lengths: [14] },
  { digits: 2, from: 36, to: 36, lengths: [14] },
  { digits: 2, from: 38, to: 39, lengths: [14] },
  { digits: 2, from: 62, to: 62, lengths: [16, 17, 18, 19] },
  { digits: 2, from: 50, to: 50, lengths: [12, 13, 14, 15, 16, 17, 18, 19] },
  { digits: 2, from: 56, to: 58, lengths: [12, 13, 14, 15, 16, 17, 18, 19] },
  { digits: 2, from: 63, to: 63, lengths: [12, 13, 14, 15, 16, 17, 18, 19] },
  { digits: 2, from: 67, to: 67, lengths: [12, 13, 14, 15, 16, 17, 18, 19] },
];

const HEAD = 4;
/** Allowed lengths of a number by its first four digits, as bits. */
const LENGTHS = new Uint32Array(10 ** HEAD);
for (const { digits, from, to, lengths } of ISSUERS) {
  const rest = 10 ** (HEAD - digits);
  const bits = lengths.reduce((sum, length) => sum | (1 << length), 0);
  for (let head = from * rest; head < (to + 1) * rest; head++) LENGTHS[head] = (LENGTHS[head] ?? 0) | bits;
}

/** Numbers of goods and books have as many digits as few cards have; written in one, with its check digit, it is one of those. */
const EAN = 13;

/** Source: GS1 General Specifications, 7.9. */
function isGoods(text: string, start: number, end: number): boolean {
  if (end - start !== EAN) return false;
  let sum = 0;
  for (let at = 0; at < EAN; at++) sum += (text.charCodeAt(start + at) - 48) * (at % 2 === 0 ? 1 : 3);
  return sum % 10 === 0;
}

/** Digits with one dot that parts no groups of four: `501556794.6681913`. */
function isDecimal(text: string, start: number, end: number, digits: number): boolean {
  if (end - start !== digits + 1) return false;
  const before = text.slice(start, end).indexOf('.');
  return before >= 0 && (before % 4 !== 0 || (end - start - before - 1) % 4 !== 0);
}

/** Numbers of payment cards, grouped in any way: an issuer's, of its length, with its check digit. */
export const findCards: Detector = {
  find(text, isEnd) {
    const spans: Span[] = [];
    for (const run of digitRuns(text, MOST)) {
      const { start } = run;
      const lengths = run.length < LEAST ? 0 : (LENGTHS[run.head] ?? 0);
      if (lengths === 0) continue;
      for (let length = run.length; length >= LEAST; length--) {
        if ((lengths & (1 << length)) === 0 || !run.passesLuhn(length)) continue;
        const end = run.ends[length - 1] ?? 0;
        if ((end === text.length && !isEnd) || !endsDigits(text, end) || !run.isGrouped(text, length)) continue;
        if (isDecimal(text, start, end, length) || isGoods(text, start, end)) continue;
        spans.push({ start, end, kind: 'card' });
        break;
      }
    }
    return spans;
  },
  mayFind: (_text, _from, { hasDigit }) => hasDigit,
  openFrom: (text) => openDigits(text, MOST),
};
