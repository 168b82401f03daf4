import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { type Finder, isAlphanumeric, isDigit, type Span, trailingRun } from '../span';

const LEAST = 8;
const MOST = 15;
/** A number with its separators. */
const MAX_LENGTH = 40;
const isMark = (code: number): boolean =>
  code === 32 || code === 45 || code === 46 || code === 47 || code === 40 || code === 41 || code === 0xa0;
const isNumber = (code: number): boolean => isDigit(code) || isMark(code) || code === 43;

/** Numbers that begin with `+` or `00` and a country's code, and American ones with their usual separators. */
export const findPhones: Finder = {
  find(text, isEnd) {
    const spans: Span[] = [];
    for (let at = 0; at < text.length; at++) {
      const span = begins(text, at) ? numberAt(text, at, isEnd) : undefined;
      if (span !== undefined) spans.push(span);
    }
    return spans;
  },
  openFrom(text) {
    const least = trailingRun(text, isNumber, MAX_LENGTH + 1);
    for (let at = least; at < text.length; at++) if (begins(text, at)) return at;
    return text.length;
  },
};

/** `+49…`, `0049…`, `(212) …` or `212-…`, where no number or word stands before. */
function begins(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  const before = at === 0 ? 32 : text.charCodeAt(at - 1);
  if (isAlphanumeric(before) || before === 43) return false;
  return code === 43 || code === 40 || isDigit(code);
}

function numberAt(text: string, start: number, isEnd: boolean): Span | undefined {
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
  }
  if (limit === text.length && !isEnd) return undefined;
  // An extension may follow: `x12`.
  const goesOn = isAlphanumeric(text.charCodeAt(end)) && text[end] !== 'x';
  if (digits < LEAST || digits > MOST || goesOn) return undefined;
  const shown = text.slice(start, end);
  return isPhone(shown) ? { start, end, kind: 'phone' } : undefined;
}

const AMERICAN = /^(?:1[ .-])?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}$/;
/** Written behind a country's code, and dialled within the country only. */
const TRUNK = '(0)';

function isPhone(shown: string): boolean {
  if (shown.startsWith('+')) return parsePhoneNumberFromString(shown.replace(TRUNK, ' '))?.isPossible() === true;
  if (shown.startsWith('00')) return parsePhoneNumberFromString(`+${shown.slice(2)}`)?.isValid() === true;
  return AMERICAN.test(shown) && parsePhoneNumberFromString(shown, 'US')?.isPossible() === true;
}
