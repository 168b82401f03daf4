import { describe, expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { compileRule } from '../compile-guardrails';
import { CODINGS } from '../decoders/encodings';
import type { GuardrailCheck } from '../policy';
import { TextWindow } from '../text-window';

const DECODING: GuardrailCheck = { type: 'pii', kinds: ['email', 'card'], decode: ['base64'] };
const { detectors } = compileRule(
  { name: 'r', on: 'both', check: DECODING, action: 'redact', onError: 'block' },
  {},
  false,
);

function judge(pieces: readonly string[]): string {
  const window = new TextWindow(detectors, ({ kind }) => `[${kind}]`);
  return pieces.map((piece) => window.push(piece)).join('') + window.flush();
}
const slices = (text: string, size: number): string[] =>
  Array.from({ length: Math.ceil(text.length / size) }, (_, at) => text.slice(at * size, (at + 1) * size));
const base64 = (said: string | Buffer) => Buffer.from(said).toString('base64');
const wrap = (run: string, columns: number, line: string) =>
  run.replace(new RegExp(`.{${columns}}(?=.)`, 'g'), `$&${line}`);

const LETTER = `${'Lorem ipsum dolor sit amet. '.repeat(9)}Ask ann@example.com, then go on. ${'More of it. '.repeat(9)}`;

describe('base64 in lines', () => {
  test.each([
    [76, '\r\n'],
    [64, '\n'],
    [60, '\r'],
    [20, '\n'],
    [76, '\n    '],
    [72, '\r\n\t'],
  ])('%p characters separated by %p are one piece', (columns, line) => {
    const wrapped = wrap(base64(LETTER), columns, line);
    const text = `Body:${line}${wrapped}${line}Bye, and thanks${line}`;
    const expected = `Body:${line}[email]${line}Bye, and thanks${line}`;
    expect(judge([text])).toBe(expected);
    for (let at = 1; at < text.length; at++)
      expect([at, judge([text.slice(0, at), text.slice(at)])]).toEqual([at, expected]);
    expect(judge([...text])).toBe(expected);
  });

  test('words in lines, and digests in lines, are what they are', () => {
    const digests = Array.from({ length: 9 }, (_, at) => Bun.SHA1.hash(String(at), 'hex')).join('\n');
    const words = 'internationalization\ncharacteristically\nresponsibilities\nmy\nname\nis\n';
    for (const text of [digests, words, `${words}${digests}`]) expect(judge([text])).toBe(text);
  });
});

describe('base64 that is long', () => {
  const filler = (characters: number) => 'Nothing is in this one. '.repeat(characters / 24 + 1).slice(0, characters);

  test('is read to its end, and what has a find in it is replaced', () => {
    for (const before of [0, 5000, 12_200, 12_288, 12_300, 30_000, 100_000])
      for (const [columns, line] of [
        [1e6, ''],
        [76, '\r\n'],
      ] as const) {
        const said = `${filler(before)}mail ann@example.com now ${filler(20_000)}`;
        const text = `See ${wrap(base64(said), columns, line)} (end)`;
        const once = judge([text]);
        const left = Buffer.from(once.replace(/^See |\[email\]| \(end\)$/g, ''), 'base64').toString('latin1');
        expect([before, once.startsWith('See '), once.endsWith(' (end)')]).toEqual([before, true, true]);
        expect([before, once.split('[email]').length]).toEqual([before, 2]);
        expect(left).not.toContain('example.com');
        for (const size of [977, 16_384]) expect(judge(slices(text, size)) === once).toBe(true);
      }
  });

  test('the same wherever it is cut, whatever stands around it', () => {
    const part = fc.constantFrom(
      ...['a ', '\n', '4111 1111 1111 1111 ', 'x', base64('to bob@example.com, ok'), `\n${'A'.repeat(20)}\n`, '='],
      base64(`${filler(15_000)}ann@example.com ${filler(9000)}`),
      wrap(base64(`${filler(11_000)}ann@example.com ${filler(19_000)}`), 76, '\n'),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), fc.integer({ min: 3000, max: 20_000 }), (parts, size) => {
        const text = parts.join('');
        expect(judge(slices(text, size)) === judge([text])).toBe(true);
      }),
      { numRuns: runs(40) },
    );
  }, 60_000);
});

test.each(['utf-16le', 'utf-16be', 'windows-1252'] as const)('text in %s is read', (encoding) => {
  for (const mark of encoding === 'windows-1252' ? [''] : ['', '\ufeff'])
    for (const before of ['', 'x', 'xy', 'xyz', 'wxyz']) {
      const said = CODINGS[encoding].encode(`${mark}Grüße an bücher@exämple.de und 4111 1111 1111 1111`);
      // Behind characters that belong to it by their number, the first ones are none of this encoding.
      const found = before === 'wxyz' ? /^Here: \[(?:email|card)\] \(end\)$/ : /^Here: \[email\] \(end\)$/;
      expect(judge([`Here: ${before}${base64(said)} (end)`])).toMatch(found);
    }
});

test('binary parts stay', () => {
  const noise = Buffer.from(Array.from({ length: 60_000 }, (_, at) => (at * at * 31 + at * 7) % 251));
  expect(judge([base64(noise)])).toBe(base64(noise));
});
