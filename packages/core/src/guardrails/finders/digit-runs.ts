import { isDigit } from '../span';

/** Digits with at most one separator between two of them. */
export interface DigitRun {
  readonly start: number;
  /** The digits alone. */
  readonly digits: string;
  /** Where each digit ends. */
  readonly ends: readonly number[];
}

const isSeparator = (code: number): boolean => code === 32 || code === 45 || code === 46 || code === 0xa0;

/** Every run that begins where no digit stands before, up to `most` digits; a long one is many, each a group later. */
export function* digitRuns(text: string, most: number): Generator<DigitRun> {
  for (let start = 0; start < text.length; start++) {
    if (!isDigit(text.charCodeAt(start)) || (start > 0 && isDigit(text.charCodeAt(start - 1)))) continue;
    yield readRun(text, start, most);
  }
}

function readRun(text: string, start: number, most: number): DigitRun {
  let digits = '';
  const ends: number[] = [];
  for (let at = start; at < text.length && digits.length < most; at++) {
    const code = text.charCodeAt(at);
    if (isDigit(code)) {
      digits += text[at];
      ends.push(at + 1);
    } else if (!isSeparator(code) || !isDigit(text.charCodeAt(at + 1))) break;
  }
  return { start, digits, ends };
}

/** True where digits end at `end`: what follows is none of them. */
export const endsDigits = (text: string, end: number): boolean => !isDigit(text.charCodeAt(end));

/** Where digits at the end of a text begin that may go on, `most` of them at the most; `text.length` where none do. */
export function openDigits(text: string, most: number): number {
  let start = text.length;
  let first = text.length;
  let count = 0;
  while (start > 0 && count <= most) {
    const code = text.charCodeAt(start - 1);
    if (isDigit(code)) {
      count++;
      first = start - 1;
    } else if (!isSeparator(code) || (start < text.length && isSeparator(text.charCodeAt(start)))) break;
    start--;
  }
  return count > most ? Math.max(0, text.length - 2 * most - 1) : first;
}

/** The check of card numbers and others. Source: ISO/IEC 7812-1, annex B. */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charCodeAt(digits.length - 1 - at) - 48;
    const doubled = at % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
