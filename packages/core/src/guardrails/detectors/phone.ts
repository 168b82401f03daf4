import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { type Detector, isAlphanumeric, isDigit, type Span, trailingRun } from '../span';
import { nationalNumbers } from './national-phone';
import { inPlainText } from './plain-text';

const LEAST = 8;
const MOST = 15;
/** A number with its separators. */
const MAX_LENGTH = 40;
const isMark = (code: number): boolean =>
  code === 32 || code === 45 || code === 46 || code === 47 || code === 40 || code === 41 || code === 0xa0;
const isBlank = (code: number): boolean => code === 32 || code === 0xa0;
const NO_ENDS: readonly number[] = [];
const isNumber = (code: number): boolean => isDigit(code) || isMark(code) || code === 43;

/** Numbers that begin with `+` or `00` and a country's code, and American ones with their usual separators. */
export const findPhones: Detector = phoneDetector(() => false);

/** Adds national formats of some countries. Throws for invalid countries. */
export function findPhonesOf(countries: readonly string[]): Detector {
  const { prefixed, prefixedInUse, bareInUse } = nationalNumbers(countries);
  return phoneDetector((shown, before) => {
    const digits = shown.replace(/\D/g, '');
    const isGrouped = digits.length < shown.length;
    if (digits.length < LEAST || NO_PHONE.test(shown)) return false;
    const isCalled = CALLED.test(before);
    if (isCalled && (prefixed.test(digits) || bareInUse.test(digits))) return true;
    if (digits.length < LEAST_ALONE || digits.length > MOST_ALONE) return false;
    if (!isGrouped) return prefixedInUse.test(digits);
    return prefixed.test(digits) || (AREA_FIRST.test(shown) && bareInUse.test(digits));
  });
}

/** Digits of a number without any other sign. */
const LEAST_ALONE = 9;
const MOST_ALONE = 12;
const AREA_FIRST = /^\(?\d{2,3}[^\d]/;
/** A date with optional time, a decimal number, or a number with a check digit of its own. */
const NO_PHONE = /[-.]\d$|^\d{4}([-/.])\d\d\1\d\d(?!\d)|^\d\d([-/.])\d\d\2\d{4}(?!\d)|^\d+\.\d+$/;
/** Words that identify a phone number without its punctuation. */
const CALLED =
  /(?:phone|call|cell|mobile|mobil|tel|fax|whatsapp|sms|text me|dial|ring|handy|rufnummer|numero|número|numéro|nummer)[^\d\n]{0,40}$/i;
const LOOK_BACK = 48;

/** `isNational`: recognizes a number without its country code, by format and preceding text. */
function phoneDetector(isNational: (shown: string, before: string) => boolean): Detector {
  const isLocal = (text: string, start: number, end: number) =>
    isNational(text.slice(start, end), text.slice(Math.max(0, start - LOOK_BACK), start));
  return inPlainText({
    find(text, isEnd) {
      const spans: Span[] = [];
      for (let at = 0; at < text.length; at++) {
        const ends = begins(text, at) ? endsOfNumber(text, at, isEnd) : NO_ENDS;
        const known = ends.find((end) => isPhone(text.slice(at, end)));
        const [last] = ends;
        const end = known ?? (last !== undefined && isLocal(text, at, last) ? last : undefined);
        if (end !== undefined) spans.push({ start: at, end, kind: 'phone' });
      }
      return spans;
    },
    mayFind: (_text, _from, { hasDigit }) => hasDigit,
    openFrom(text) {
      const least = trailingRun(text, isNumber, MAX_LENGTH + 1);
      for (let at = least; at < text.length; at++) if (begins(text, at)) return at;
      return text.length;
    },
  });
}

/** `+49…`, `0049…`, `(212) …` or `212-…` without a number or word before. */
function begins(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  const before = at === 0 ? 32 : text.charCodeAt(at - 1);
  if (isAlphanumeric(before) || before === 43) return false;
  return code === 43 || code === 40 || isDigit(code);
}

/** Possible ends: everything that may belong to it, or before a blank that another number may follow. */
function endsOfNumber(text: string, start: number, isEnd: boolean): readonly number[] {
  const ends: number[] = [];
  let digits = 0;
  let end = start;
  let limit = start + (text[start] === '+' ? 1 : 0);
  for (; limit < text.length && limit - start < MAX_LENGTH; limit++) {
    const code = text.charCodeAt(limit);
    if (isDigit(code)) {
      digits++;
      end = limit + 1;
    } else if (!isMark(code) || (isMark(code) && isMark(text.charCodeAt(limit - 1)) && code !== 40 && code !== 32))
      break;
    else if (limit === end && isBlank(code) && digits >= LEAST && digits <= MOST) ends.unshift(end);
  }
  if (limit === text.length && !isEnd) return NO_ENDS;
  // An extension may follow: `x12`.
  const goesOn = isAlphanumeric(text.charCodeAt(end)) && text[end] !== 'x';
  if (digits >= LEAST && digits <= MOST && !goesOn && ends[0] !== end) ends.unshift(end);
  return ends;
}

const AMERICAN = /^(?:1[ .-])?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}$/;
/** Written after a country's code, and dialled within the country only. */
const TRUNK = '(0)';

function isPhone(shown: string): boolean {
  if (shown.startsWith('+')) return parsePhoneNumberFromString(shown.replace(TRUNK, ' '))?.isPossible() === true;
  if (shown.startsWith('00')) return parsePhoneNumberFromString(`+${shown.slice(2)}`)?.isValid() === true;
  return AMERICAN.test(shown) && parsePhoneNumberFromString(shown, 'US')?.isPossible() === true;
}
