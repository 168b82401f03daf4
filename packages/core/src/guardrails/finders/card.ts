import type { Finder, Span } from '../span';
import { digitRuns, endsDigits, openDigits, passesLuhn } from './digit-runs';

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
  { digits: 4, from: 3528, to: 3589, lengths: [16, 17, 18, 19] },
  { digits: 3, from: 300, to: 305, lengths: [14] },
  { digits: 2, from: 36, to: 36, lengths: [14] },
  { digits: 2, from: 38, to: 39, lengths: [14] },
  { digits: 2, from: 62, to: 62, lengths: [16, 17, 18, 19] },
  { digits: 2, from: 50, to: 50, lengths: [12, 13, 14, 15, 16, 17, 18, 19] },
  { digits: 2, from: 56, to: 58, lengths: [12, 13, 14, 15, 16, 17, 18, 19] },
  { digits: 2, from: 63, to: 63, lengths: [12, 13, 14, 15, 16, 17, 18, 19] },
  { digits: 2, from: 67, to: 67, lengths: [12, 13, 14, 15, 16, 17, 18, 19] },
];

/** Lengths of cards' numbers by their first four digits: asked for again and again. */
const lengths = new Map<string, ReadonlySet<number>>();

function lengthsOf(digits: string): ReadonlySet<number> {
  const first = digits.slice(0, 4);
  let known = lengths.get(first);
  if (known === undefined) {
    const issuers = ISSUERS.filter(({ digits: many, from, to }) => {
      const head = Number(first.slice(0, many));
      return head >= from && head <= to;
    });
    known = new Set(issuers.flatMap((issuer) => issuer.lengths));
    lengths.set(first, known);
  }
  return known;
}

/** Numbers of payment cards, grouped in any way: an issuer's, of its length, with its check digit. */
export const findCards: Finder = {
  find(text, isEnd) {
    const spans: Span[] = [];
    for (const { start, digits, ends } of digitRuns(text, MOST)) {
      const issued = lengthsOf(digits);
      for (let length = digits.length; length >= LEAST; length--) {
        if (!issued.has(length)) continue;
        const end = ends[length - 1] ?? 0;
        if (end === text.length && !isEnd) continue;
        const number = digits.slice(0, length);
        if (!endsDigits(text, end) || !passesLuhn(number)) continue;
        spans.push({ start, end, kind: 'card' });
        break;
      }
    }
    return spans;
  },
  openFrom: (text) => openDigits(text, MOST),
};
