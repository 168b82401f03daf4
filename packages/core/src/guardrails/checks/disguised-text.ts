const SPACED = /(?<![\p{L}\p{N}])\p{L}(?:[ ._*-]\p{L}){3,200}(?![\p{L}\p{N}])/gu;
const BASE64 = /[A-Za-z0-9+/_-]{16,8000}/g;
const BASE32 = /[A-Z2-7]{24,8000}/g;
const HEX = /(?:[0-9a-fA-F]{2}[ ,]?){12,8000}/g;
const BINARY = /(?:[01]{8} ?){8,8000}/g;
const ESCAPED = /(?:(?:%|\\x)[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4})/g;
/** Invisible copies of ASCII. Source: the Unicode block Tags. */
const TAGS = /[\u{e0020}-\u{e007e}]{8,8000}/gu;
const LEET: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
};
const LEET_WORD = /[a-z013457@$]{3,40}/g;
const READABLE = /^[\x20-\x7e\n\r\t]{8,8000}$/;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Decoders, one for each disguise; empty without any. */
const WAYS: readonly ((text: string) => readonly string[])[] = [
  (text) =>
    readRuns(text, BASE64, (run) => Buffer.from(run, /[-_]/.test(run) ? 'base64url' : 'base64').toString('latin1')),
  (text) => readRuns(text, BASE32, fromBase32),
  (text) => readRuns(text, HEX, (run) => Buffer.from(run.replace(/[ ,]/g, ''), 'hex').toString('latin1')),
  (text) => readRuns(text, BINARY, fromBinary),
  (text) =>
    readRuns(text, TAGS, (run) => String.fromCharCode(...[...run].map((one) => (one.codePointAt(0) ?? 0) - 0xe0000))),
  (text) => changed(text, text.replace(ESCAPED, fromEscape)),
  (text) =>
    changed(
      text,
      text.replace(SPACED, (letters) => letters.replace(/[ ._*-]/g, '')),
    ),
  (text) => changed(text.toLowerCase(), text.toLowerCase().replace(LEET_WORD, fromLeet)),
  (text) => [[...text].reverse().join('')],
  (text) => [text.replace(/[a-z]/gi, rotate)],
];

/**
 * Decodes a text by every known disguise: base64, base32, hexadecimal, binary, escapes, tags, spaced letters, digits
 * for letters, reversal and ROT13. Joins the results, which may be meaningless.
 */
export const undisguise = (text: string): string => WAYS.flatMap((way) => way(text)).join('\n');

const changed = (before: string, after: string): readonly string[] => (before === after ? [] : [after]);

function readRuns(text: string, runs: RegExp, read: (run: string) => string): readonly string[] {
  return [...text.matchAll(runs)].map(([run]) => read(run)).filter((shown) => READABLE.test(shown));
}

function fromEscape(escaped: string): string {
  return String.fromCharCode(Number.parseInt(escaped.replace(/^(?:%|\\[xu])/, ''), 16));
}

function fromLeet(word: string): string {
  return /[a-z]/.test(word) ? word.replace(/[013457@$]/g, (one) => LEET[one] ?? one) : word;
}

function rotate(letter: string): string {
  const code = letter.charCodeAt(0);
  const base = code >= 97 ? 97 : 65;
  return String.fromCharCode(base + ((code - base + 13) % 26));
}

function fromBinary(run: string): string {
  const bits = run.replaceAll(' ', '');
  let shown = '';
  for (let at = 0; at + 8 <= bits.length; at += 8)
    shown += String.fromCharCode(Number.parseInt(bits.slice(at, at + 8), 2));
  return shown;
}

/** Source: RFC 4648, 6. */
function fromBase32(run: string): string {
  let shown = '';
  let [bits, held] = [0, 0];
  for (const character of run) {
    bits = ((bits << 5) | ALPHABET.indexOf(character)) & 0xfff;
    held += 5;
    if (held < 8) continue;
    held -= 8;
    shown += String.fromCharCode((bits >> held) & 255);
  }
  return shown;
}
