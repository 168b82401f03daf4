// Detects and decodes the encodings of text files.
import { isUtf8 } from 'node:buffer';

export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

interface Coding {
  decode(bytes: Buffer): string;
  encode(text: string): Buffer;
}

const UTF8 = new TextDecoder('utf-8');
const UTF16_LE = new TextDecoder('utf-16le', { ignoreBOM: true });
const UTF16_BE = new TextDecoder('utf-16be', { ignoreBOM: true });
/** Latin-1 with Windows' characters in place of control characters. Source: WHATWG Encoding, windows-1252. */
const LATIN = new TextDecoder('windows-1252');
const LATIN_BYTES: ReadonlyMap<string, number> = new Map(
  Array.from({ length: 256 }, (_, byte) => [LATIN.decode(Uint8Array.of(byte)), byte]),
);
const UNKNOWN_BYTE = 0x3f;
/** No text has these; five have no character in windows-1252. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: what no text has in it
const NO_LATIN = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f\x81\x8d\x8f\x90\x9d]/;
const [MARK_FIRST, MARK_LAST] = [0xfe, 0xff];
/** UTF-16 without a mark: the zeros of ASCII stand on one side, except for this share. */
const MOST_ODD_ZEROS = 1 / 8;

export const CODINGS: Readonly<Record<TextEncoding, Coding>> = {
  'utf-8': { decode: (bytes) => UTF8.decode(bytes), encode: (text) => Buffer.from(text) },
  'utf-16le': { decode: (bytes) => UTF16_LE.decode(bytes), encode: (text) => Buffer.from(text, 'utf16le') },
  'utf-16be': { decode: (bytes) => UTF16_BE.decode(bytes), encode: (text) => Buffer.from(text, 'utf16le').swap16() },
  'windows-1252': {
    decode: (bytes) => LATIN.decode(bytes),
    encode: (text) => Buffer.from(Array.from(text, (one) => LATIN_BYTES.get(one) ?? UNKNOWN_BYTE)),
  },
};

/** Text encoding of bytes; undefined if they aren't text. */
export function encodingOf(bytes: Buffer): TextEncoding | undefined {
  const wide = wideEncodingOf(bytes);
  if (wide !== undefined) return wide;
  if (bytes.includes(0)) return undefined;
  if (isUtf8(bytes)) return 'utf-8';
  return NO_LATIN.test(bytes.toString('latin1')) ? undefined : 'windows-1252';
}

/** By its mark, or by the position of zeros. */
export function wideEncodingOf(bytes: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second] = bytes;
  if (first === MARK_LAST && second === MARK_FIRST) return 'utf-16le';
  if (first === MARK_FIRST && second === MARK_LAST) return 'utf-16be';
  const zeros = [0, 0] as [number, number];
  for (let at = bytes.indexOf(0); at >= 0; at = bytes.indexOf(0, at + 1)) zeros[at % 2 === 0 ? 0 : 1]++;
  const [even, odd] = zeros;
  if (even + odd === 0 || Math.min(even, odd) > MOST_ODD_ZEROS * Math.max(even, odd)) return undefined;
  return odd > even ? 'utf-16le' : 'utf-16be';
}
