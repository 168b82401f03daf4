import { DASHES } from '../folded-text';
import { isDigit } from '../span';
import { EscapedMarks } from './escaped-marks';

/** Digits with a separator between two, or up to three blanks and dashes. One reused object for all runs. */
export class DigitRun {
  start = 0;
  /** Number of digits. */
  length = 0;
  /** End of each digit. */
  readonly ends: Uint32Array;
  /** The first four of them as a number. */
  head = 0;
  /** Starts of the groups in digits, with the separators before each as bits. */
  private readonly groups: Uint8Array;
  private readonly parted: Uint16Array;
  private groupCount = 0;
  /** Luhn sums by number of digits, with doubling at even and at odd places. */
  private readonly even: Uint16Array;
  private readonly odd: Uint16Array;

  constructor(most: number) {
    this.ends = new Uint32Array(most);
    this.groups = new Uint8Array(most);
    this.parted = new Uint16Array(most);
    this.even = new Uint16Array(most + 1);
    this.odd = new Uint16Array(most + 1);
  }

  /** Reads the run that begins at `start`. */
  read(text: string, start: number): void {
    this.start = start;
    this.length = 0;
    this.head = 0;
    this.groupCount = 0;
    const most = this.ends.length;
    let bits = 0;
    let isGroup = true;
    for (let at = start; at < text.length && this.length < most; at++) {
      const code = text.charCodeAt(at);
      if (isDigit(code)) {
        if (isGroup) this.beginGroup(bits);
        isGroup = false;
        this.add(code - 48, at + 1);
        continue;
      }
      const length = separatorLength(text, at);
      if (length === 0) break;
      bits |= separatorBits(text, at, length);
      isGroup = true;
      at += length - 1;
    }
  }

  private beginGroup(bits: number): void {
    this.groups[this.groupCount] = this.length;
    this.parted[this.groupCount] = bits;
    this.groupCount++;
  }

  /** True if the first `length` digits are grouped like a card number, not like a list, fraction or two numbers. */
  isGrouped(text: string, length: number): boolean {
    let count = this.groupCount;
    while (count > 1 && (this.groups[count - 1] ?? 0) >= length) count--;
    if (count === 1) return !isFraction(text, this.start);
    const sizeOf = (index: number): number =>
      (index + 1 < count ? (this.groups[index + 1] ?? 0) : length) - (this.groups[index] ?? 0);
    const bits = this.parted[count - 1] ?? 0;
    const first = sizeOf(0);
    const isPlain = (bits & ~(BLANK | DASH)) === 0;
    if (!isPlain && !isOneMark(bits)) return false;
    const isExact = isPlain && first === 4 ? !this.isCut(text, length, count) : this.isAlone(text, length, bits);
    if (!isExact) return false;
    for (let index = 1; index < count; index++) {
      const [size, isLast] = [sizeOf(index), index + 1 === count];
      const isNext =
        first === 4 ? size <= (isPlain ? 8 : 6) && (isLast || size >= 3) : size === first || (isLast && size < first);
      if (!isNext) return isPlain && first === 6 && count === 2;
    }
    return first === 4 || (isPlain && first <= 3);
  }

  /** True if it is part of four groups of four, which as a whole are no card. */
  private isCut(text: string, length: number, count: number): boolean {
    if (length >= 16) return false;
    const own = this.parted[count - 1] ?? 0;
    const next = (this.groups[count + 1] ?? 0) || this.length;
    const isFollowed = count < this.groupCount && this.groups[count] === length && this.parted[count] === own;
    if (isFollowed && next - length === 4) return true;
    const before = separatorBefore(text, this.start);
    return before.bits === own && /(?<!\d)\d{4}$/.test(text.slice(Math.max(0, before.at - 5), before.at));
  }

  /** True if no separator joins it to other digits. */
  private isAlone(text: string, length: number, own: number): boolean {
    const { start } = this;
    const end = this.ends[length - 1] ?? 0;
    const escaped = ESCAPES.lengthBefore(text, start);
    const bit = escaped > 0 ? ESCAPES.bitAt(text, start - escaped, escaped) : separatorBit(text.charCodeAt(start - 1));
    if (goesOn(bit, own) && isDigit(text.charCodeAt(start - (escaped || 1) - 1))) return false;
    const { at, bits } = separatorBefore(text, start);
    if ((bits & WIDE & own) !== 0 && isOneMark(bits) && isDigit(text.charCodeAt(at - 1))) return false;
    const behind = separatorLength(text, end);
    return behind === 0 || !goesOn(separatorBits(text, end, behind), own);
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

const BLANK = 1;
const DASH = 2;
const [LINE, BULLET, TAB, NEWLINE, PIPE] = [0x20, 0x40, 0x80, 0x100, 0x200];
const [STAR, TILDE, TICK, BACKSLASH] = [PIPE << 1, PIPE << 3, PIPE << 4, PIPE << 6];
/** These may repeat or have blanks around them: table cells, bold words. */
const WIDE = TAB | NEWLINE | PIPE | STAR | LINE | BULLET | TILDE | TICK | BACKSLASH;
/** True if the separator continues a number separated by `own`; a cell border only continues a row of cells. */
const goesOn = (bits: number, own: number): boolean => ((bits & WIDE) === 0 ? bits : bits & WIDE & own) !== 0;
const isOneMark = (bits: number): boolean => {
  const mark = (bits & WIDE) === 0 ? bits : bits & ~BLANK;
  return (mark & (mark - 1)) === 0;
};
/** Unicode's block of geometric shapes. */
const SHAPES = Array.from({ length: 96 }, (_, at) => 0x25a0 + at);
/** Vertical lines of tables. */
const UPRIGHT = [0xa6, 0x2016, 0x2223, 0x2225, 0x2502, 0x2503, 0x2506, 0x2507, 0x250a, 0x250b, 0x254e, 0x254f, 0x2551];
/** Separators between groups of digits; each kind is a bit. */
const SEPARATORS: readonly (readonly [bit: number, codes: readonly number[]])[] = [
  [BLANK, [0x20, 0xa0, 0x1680, 0x2800]],
  [DASH, [...`-${DASHES}`].map((dash) => dash.charCodeAt(0))],
  ...[...'.,/'].map((mark, at) => [4 << at, [mark.charCodeAt(0)]] as const),
  [LINE, [0x5f]],
  [BULLET, [0xb7, 0x2022, 0x2023, 0x2027, 0x2219, 0x22c5, 0x2605, 0x2606, 0x30fb, ...SHAPES]],
  [TAB, [9]],
  [NEWLINE, [10, 11, 12, 13, 0x85, 0x2028, 0x2029]],
  ...[...'|*+~`:\\'].map((mark, at) => [PIPE << at, [mark.charCodeAt(0)]] as const),
  [PIPE, UPRIGHT],
];
const BITS = new Map(SEPARATORS.flatMap(([bit, codes]) => codes.map((code) => [code, bit] as const)));
const ASCII_BITS = Uint16Array.from({ length: 128 }, (_, code) => BITS.get(code) ?? 0);

/** 0 for anything else. */
function separatorBit(code: number): number {
  return code < 128 ? (ASCII_BITS[code] ?? 0) : (BITS.get(code) ?? 0);
}

const ESCAPES = new EscapedMarks([...BITS.keys()], separatorBit);

function separatorBits(text: string, at: number, length: number): number {
  let bits = 0;
  for (let one = at; one < at + length; ) {
    const escaped = ESCAPES.lengthAt(text, one);
    bits |= escaped > 0 ? ESCAPES.bitAt(text, one, escaped) : separatorBit(text.charCodeAt(one));
    one += escaped || 1;
  }
  return bits;
}

const isSeparator = (code: number): boolean => separatorBit(code) !== 0;
const MOST_SEPARATORS = 5;
const MOST_PLAIN = 3;

/** Length of the separator between the digit before `at` and the next digit; 0 without one. */
function separatorLength(text: string, at: number): number {
  let end = at;
  let count = 0;
  let bits = 0;
  for (; count < MOST_SEPARATORS; count++) {
    const escaped = ESCAPES.lengthAt(text, end);
    const bit = escaped > 0 ? ESCAPES.bitAt(text, end, escaped) : separatorBit(text.charCodeAt(end));
    if (bit === 0) break;
    bits |= bit;
    end += escaped || 1;
  }
  if (count === 0 || !isDigit(text.charCodeAt(end))) return 0;
  if (count === 1 || ((bits & ~(BLANK | DASH)) === 0 && count <= MOST_PLAIN)) return end - at;
  return (bits & WIDE) !== 0 && isOneMark(bits) ? end - at : 0;
}

/** Separators that end before `end`, and their start. */
function separatorBefore(text: string, end: number): { readonly at: number; readonly bits: number } {
  let at = end;
  let bits = 0;
  for (let count = 0; count < MOST_SEPARATORS; count++) {
    const escaped = ESCAPES.lengthBefore(text, at);
    const bit = escaped > 0 ? ESCAPES.bitAt(text, at - escaped, escaped) : separatorBit(text.charCodeAt(at - 1));
    if (bit === 0) break;
    bits |= bit;
    at -= escaped || 1;
  }
  return { at, bits };
}

/** Decimals. */
export const isFraction = (text: string, start: number): boolean =>
  text.charCodeAt(start - 1) === 46 && isDigit(text.charCodeAt(start - 2));

/** Every run without a digit before it, up to `most` digits; a long run yields one for each group. */
export function* digitRuns(text: string, most: number): Generator<DigitRun> {
  const run = new DigitRun(most);
  for (let start = 0; start < text.length; start++) {
    if (!isDigit(text.charCodeAt(start))) continue;
    if (start > 0 && isDigit(text.charCodeAt(start - 1)) && !endsEscape(text, start)) continue;
    run.read(text, start);
    yield run;
  }
}

/** True if a number ends at `end`. */
export const endsDigits = (text: string, end: number): boolean => !isDigit(text.charCodeAt(end));

/** `%20`, `%3d`, `%91`: a mark, or the last byte of one. */
function endsEscape(text: string, end: number): boolean {
  if (text.charCodeAt(end - 3) !== 37) return false;
  const code = Number.parseInt(text.slice(end - 2, end), 16);
  return code >= 128 || (code > 0 && !/\w/.test(String.fromCharCode(code))) || code === UNDERLINE;
}
const UNDERLINE = 95;

/** Start of digits at the end that may continue, at most `most`; `text.length` without any. */
export function openDigits(text: string, most: number): number {
  let start = text.length - ESCAPES.openLength(text);
  let first = text.length;
  let count = 0;
  for (let between = 0; start > 0 && count <= most; ) {
    const code = text.charCodeAt(start - 1);
    const escaped = ESCAPES.lengthBefore(text, start);
    if (escaped === 0 && isDigit(code)) {
      count++;
      between = 0;
      first = start - 1;
    } else if ((escaped === 0 && !isSeparator(code)) || ++between > MOST_SEPARATORS) break;
    start -= escaped || 1;
  }
  return count > most ? Math.min(first, Math.max(0, text.length - (MOST_SEPARATORS + 1) * (most + 1))) : first;
}
