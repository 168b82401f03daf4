// Folds one code point at a time, so that the result doesn't depend on how the text is cut.
import { type Traits, traitsOf } from './span';

/** Original position of each character of a folded text. */
interface Origins {
  readonly begins: readonly number[];
  readonly ends: readonly number[];
  /** Length of the original. */
  readonly length: number;
}

/** Folded text with original positions; without `origins`, they are equal. */
export class FoldedText {
  private traits: Traits | undefined;
  private traitsFrom = -1;

  constructor(
    readonly text: string,
    private readonly origins?: Origins,
  ) {}

  /** Position of a character in the original; `text.length` is its end. */
  originOf(at: number): number {
    const { origins } = this;
    return origins === undefined ? at : (origins.begins[at] ?? origins.length);
  }

  /** End of a span's last character in the original. */
  endOf(end: number): number {
    const { origins } = this;
    if (origins === undefined || end === 0) return end;
    return origins.ends[end - 1] ?? origins.length;
  }

  /** The first character from `origin` or later in the original. */
  indexOf(origin: number): number {
    return this.origins === undefined ? origin : firstFrom(this.origins.begins, origin);
  }

  /** Traits of the text from `from` on; cached, because detectors ask in turn. */
  traitsOf(from: number): Traits {
    if (this.traits === undefined || this.traitsFrom !== from) this.traits = traitsOf(this.text, from);
    this.traitsFrom = from;
    return this.traits;
  }
}

const ASCII_ONLY = /^[\x20-\x7e\n\r\t]*$/;
/** Invisible characters that split words against detection. */
const INVISIBLE = /^(?:\p{Cf}|[\u115f\u1160\u17b4\u17b5\u180e\u3164\uffa0]|\p{Variation_Selector}|\u034f)$/u;
/** Marks over letters, and control characters: written between others, nothing is seen of them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are meant
const UNSEEN = /^[\u0300-\u036f\u20d0-\u20f0\ufe20-\ufe2f\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]$/;
const MARK = /\p{M}/gu;

/** Letters of other scripts that look like Latin ones. Source: Unicode Technical Standard 39, confusables.txt. */
const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: 'аɑα',
    b: 'ЬƄ',
    c: 'сϲ',
    d: 'ԁɗ',
    e: 'еєҽ',
    f: 'ƒ',
    g: 'ɡց',
    h: 'һհ',
    i: 'іιɩı',
    j: 'јϳ',
    k: 'κк',
    l: 'ӏǀɭ',
    m: 'м',
    n: 'пո',
    o: 'оοօσ',
    p: 'рρ',
    q: 'ԛգ',
    r: 'гᴦ',
    s: 'ѕꜱ',
    t: 'тτ',
    u: 'υսʋ',
    v: 'νѵ',
    w: 'ԝѡա',
    x: 'хχ',
    y: 'уүγ',
    z: 'ᴢ',
  }).flatMap(([latin, others]) => [...others].map((other) => [other, latin] as const)),
);

const LATIN = 'abcdefghijklmnopqrstuvwxyz';
/** Alphabets of such letters, in the order of the Latin one; `.` where one has none. NFKD knows none of them. */
const ALPHABETS = [
  // Small capitals, and the letters of Lisu.
  ...['ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡ.ʏᴢ', 'ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑ.ꓣꓢꓔꓴꓦꓪꓫꓬꓜ'],
  // White on black, in circles and in squares, and those that flags are made of.
  ...[0x1f150, 0x1f170, 0x1f1e6].map((first) => [...LATIN].map((_, at) => String.fromCodePoint(first + at)).join('')),
];
const LETTERS = new Map(LOOKALIKES);
for (const alphabet of ALPHABETS)
  for (const [at, letter] of [...alphabet].entries()) if (letter !== '.') LETTERS.set(letter, LATIN.charAt(at));

export type Folding = 'none' | 'width' | 'keys' | 'digits' | 'words';

/** `½` after a number isn't its next digit. */
const FRACTION = /^[\u00bc-\u00be\u2150-\u215f\u2189]$/;

function asWidth(point: string): string {
  if (INVISIBLE.test(point) || UNSEEN.test(point)) return '';
  if (FAR_DASHES.includes(point)) return '-';
  return FRACTION.test(point) ? point : point.normalize('NFKC');
}

/** Dashes beyond the first plane, so that detectors see one unit. */
const FAR_DASHES = '\u{10d6e}\u{10ead}';
/** Characters read as a hyphen: Unicode's dashes (`Dash`, first plane), the hyphen bullet, the modifier minus. */
export const DASHES =
  '\u058a\u05be\u1400\u1806\u2010\u2011\u2012\u2013\u2014\u2015\u2053\u207b\u208b\u2212\u2e17\u2e1a\u2e3a\u2e3b\u2e40' +
  '\u2e5d\u301c\u3030\u30a0\ufe31\ufe32\ufe58\ufe63\uff0d\u2043\u02d7';

const asKey = (point: string): string => (DASHES.includes(point) ? '-' : asWidth(point));

/** Zeros of other scripts' digits, each with nine more. Source: Unicode's category Nd. */
const ZEROS = [
  ...[0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0, 0xf20],
  ...[0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0],
];
const DIGIT = /^\p{Nd}$/u;

function asDigits(point: string): string {
  if (!DIGIT.test(point)) return asWidth(point);
  const code = point.codePointAt(0) ?? 0;
  const zero = ZEROS.find((from) => code >= from && code < from + 10);
  return zero === undefined ? asWidth(point) : String(code - zero);
}

function asWord(point: string): string {
  if (INVISIBLE.test(point) || UNSEEN.test(point)) return '';
  const plain = point.normalize('NFKD').replace(MARK, '').toLowerCase();
  let folded = '';
  for (const part of plain) folded += LETTERS.get(part) ?? part;
  return folded;
}

const FOLDS: Readonly<Record<Exclude<Folding, 'none'>, (point: string) => string>> = {
  ...{ width: asWidth, keys: asKey, digits: asDigits, words: asWord },
};

/** Part of a text in all foldings, each made once. */
export class FoldedStretch {
  private readonly isAscii: boolean;
  private readonly plain: FoldedText;
  private known: Map<Folding, FoldedText> | undefined;

  /** `begin`: start in the text. */
  constructor(
    private readonly original: string,
    readonly begin: number,
  ) {
    this.isAscii = ASCII_ONLY.test(original);
    this.plain = new FoldedText(original);
  }

  as(folding: Folding): FoldedText {
    const { original, isAscii } = this;
    if (folding === 'none' || (isAscii && folding !== 'words')) return this.plain;
    this.known ??= new Map();
    let folded = this.known.get(folding);
    if (folded === undefined) {
      folded = isAscii ? new FoldedText(original.toLowerCase()) : foldText(original, folding);
      this.known.set(folding, folded);
    }
    return folded;
  }
}

const KNOWN: Readonly<Record<keyof typeof FOLDS, Map<string, string>>> = {
  ...{ width: new Map(), keys: new Map(), digits: new Map(), words: new Map() },
};
/** Alphabets have fewer characters; larger scripts fill it with their first ones. */
const MOST_KNOWN = 4096;

function foldPoint(point: string, folding: keyof typeof FOLDS): string {
  const folded = FOLDS[folding](point);
  if (KNOWN[folding].size < MOST_KNOWN) KNOWN[folding].set(point, folded);
  return folded;
}

/** First index whose ascending value is at least `least`. */
export function firstFrom(rising: readonly number[], least: number): number {
  let [low, high] = [0, rising.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rising[middle] ?? 0) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * `none`: unchanged. `width`: plain width, invisible characters removed. `keys`: also one hyphen. `digits`: also one
 * script of digits. `words`: also no case, accents or look-alikes.
 */
export function foldText(original: string, folding: Folding): FoldedText {
  if (folding === 'none') return new FoldedText(original);
  if (ASCII_ONLY.test(original)) return new FoldedText(folding === 'words' ? original.toLowerCase() : original);
  const known = KNOWN[folding];
  let text = '';
  const begins: number[] = [];
  const ends: number[] = [];
  let at = 0;
  for (const point of original) {
    const folded = known.get(point) ?? foldPoint(point, folding);
    for (let index = 0; index < folded.length; index++) {
      begins.push(at);
      ends.push(at + point.length);
    }
    text += folded;
    at += point.length;
  }
  return new FoldedText(text, { begins, ends, length: original.length });
}
