import { expect, test } from 'bun:test';
import { CODINGS, encodingOf, type TextEncoding } from './encodings';

const SAID = 'Grüße an ann@example.com, €5 für „Bob“\r\n';
const mark = '\ufeff';

test.each<[TextEncoding, string]>([
  ['utf-8', SAID],
  ['utf-16le', SAID],
  ['utf-16be', SAID],
  ['utf-16le', mark + SAID],
  ['utf-16be', mark + SAID],
  ['utf-16le', 'Привет, мир: ann@example.com'],
  ['utf-16be', '私のメールは ann@example.com です'],
  ['windows-1252', SAID],
  ['utf-8', 'plain'],
])('%s is told, read and written again: %p', (encoding, text) => {
  const bytes = CODINGS[encoding].encode(text);
  expect(encodingOf(bytes)).toBe(encoding);
  expect(CODINGS[encoding].decode(bytes)).toBe(text);
});

test('binary data has no encoding', () => {
  const sound = Buffer.from(new Int16Array(Array.from({ length: 600 }, (_, at) => Math.sin(at) * 300)).buffer);
  const picture = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk', 'base64');
  for (const bytes of [picture, Buffer.from([0, 0, 0, 0]), Buffer.from([0xe9, 1, 0xff]), sound]) {
    const encoding = encodingOf(bytes);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what no text has in it
    if (encoding !== undefined) expect(CODINGS[encoding].decode(bytes)).toMatch(/[\x00-\x08\x0e-\x1a]/);
  }
});

test('unencodable characters become question marks', () => {
  expect(CODINGS['windows-1252'].encode('é中').toString('latin1')).toBe('é?');
});
