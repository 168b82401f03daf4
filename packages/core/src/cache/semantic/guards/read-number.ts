import { withoutEnd } from '../../../text/without-end';
import { NUMBER_WORDS, ORDINALS, SCALE_WORDS, TENS_WORDS } from '../english/word-lists';
import { canonicalWord } from './canonical-word';

/** Stems of numbers begin with it, so that no word is ever one. */
const MARK = '#';

export interface ReadNumber {
  readonly stem: string;
  /** Stem of the unit right after it or, for currencies, before it. */
  readonly unit?: string;
}

export const numberStem = (value: number): string => `${MARK}${value}`;

/** Number words add up: "twenty one", "three hundred". "one" alone is a pronoun. undefined for any other word. */
export function addSpelledNumber(token: string, before: number | undefined): number | undefined {
  const small = NUMBER_WORDS.get(token);
  if (small !== undefined && (token !== 'one' || before !== undefined)) return (before ?? 0) + small;
  const tens = TENS_WORDS.get(token);
  if (tens !== undefined) return (before ?? 0) + tens;
  const scale = SCALE_WORDS.get(token);
  return scale === undefined ? undefined : (before ?? 1) * scale;
}

const CURRENCIES: Readonly<Record<string, string>> = { $: 'dollar', '€': 'euro', '£': 'sterling' };

/** Digits of any kind: 5, 1,000, 3.14, 2.3.1, 6:30, 2024-03-05, 15%, $90, 3rd. */
export function readNumber(token: string): ReadNumber | undefined {
  const ordinal = ORDINALS.get(token) ?? (/^\d+(?:st|nd|rd|th)$/.test(token) ? Number.parseInt(token, 10) : undefined);
  if (ordinal !== undefined) return { stem: `${MARK}${ordinal}.` };
  const [, currency = '', digits = '', unit = ''] = /^([$€£]?)(\d[\d.,:/-]*)(%|°?\p{L}{0,3})$/u.exec(token) ?? [];
  if (digits === '') return undefined;
  const plain = withoutEnd(digits, /[.,:/-]/).replace(/,(?=\d{3}\b)/g, '');
  const value = /^\d+(?:\.\d+)?$/.test(plain) ? String(Number(plain)) : plain;
  const measure = CURRENCIES[currency] ?? unit;
  return { stem: `${MARK}${value}`, unit: measure === '' ? undefined : canonicalWord(measure) };
}
