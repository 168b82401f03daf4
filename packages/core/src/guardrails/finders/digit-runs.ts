import { isDigit } from '../span';

/** Digits with at most one separator between two of them. One object for all runs: it changes with the next one. */
export class DigitRun {
  start = 0;
  /** How many digits. */
  length = 0;
  /** Where each digit ends. */
  readonly ends: Uint32Array;
  /** The first four of them as a number. */
  head = 0;
  /** Sums for Luhn's check of so many digits, with every other one doubled: those at even places, and at odd ones. */
  private readonly even: Uint16Array;
  private readonly odd: Uint16Array;

  constructor(most: number) {
    this.ends = new Uint32Array(most);
    this.even = new Uint16Array(most + 1);
    this.odd = new Uint16Array(most + 1);
  }

  /** Reads the run that begins at `start`. */
  read(text: string, start: number): void {
    this.start = start;
    this.length = 0;
    this.head = 0;
    const most = this.ends.length;
    for (let at = start; at < text.length && this.length < most; at++) {
      const code = text.charCodeAt(at);
      if (isDigit(code)) this.add(code - 48, at + 1);
      else if (!isSeparator(code) || !isDigit(text.charCodeAt(at + 1))) break;
    }
  }

  private add(digit: number, end: number): void {
    const { length, even, odd } = this;
    const doubled = digit > 4 ? 2 * digit - 9 : 2 * digit;
    const isEven = length % 2 === 0;
    even[length + 1] = (even[length] ?? 0) + (isEven ? doubled : digit);
    odd[length + 1] = (odd[length] ?? 0) + (isEven ? digit : doubled);
    this.ends[length] = end;
    if (length < 4) this.head = 10 * this.head + digit;
    this.length = length + 1;
  }

  /** The check of card numbers and others, of the first `length` digits. Source: ISO/IEC 7812-1, annex B. */
  passesLuhn(length: number): boolean {
    return ((length % 2 === 0 ? this.even : this.odd)[length] ?? 1) % 10 === 0;
  }
}

const isSeparator = (code: number): boolean => code === 32 || code === 45 || code === 46 || code === 0xa0;

/** Every run that begins where no digit stands before, up to `most` digits; a long one is many, each a group later. */
export function* digitRuns(text: string, most: number): Generator<DigitRun> {
  const run = new DigitRun(most);
  for (let start = 0; start < text.length; start++) {
    if (!isDigit(text.charCodeAt(start)) || (start > 0 && isDigit(text.charCodeAt(start - 1)))) continue;
    run.read(text, start);
    yield run;
  }
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
