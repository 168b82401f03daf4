import { expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { checkPath } from './native-path';

const pieceArb = fc.constantFrom(
  ...[
    'a',
    'b.c',
    '.',
    '..',
    '/',
    '//',
    '\\',
    '%2e',
    '%2E%2e',
    '%2f',
    '%5c',
    '%252e',
    '%00',
    ';',
    ';x',
    '%',
    '%zz',
    '…',
    '．',
    '／',
    ' ',
    '%20',
    '?',
    '#',
  ],
);

/** As servers read it: decoded once or twice, some with what follows a semicolon left out. */
function readings(path: string): readonly string[] {
  const once = decode(path);
  const all = [path, once, decode(once), path.normalize('NFKC'), once.normalize('NFKC')];
  return [...all, ...all.map((one) => one.replace(/;[^/]*/g, ''))];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

test('an accepted path stays below its root under every decoding', () => {
  fc.assert(
    fc.property(fc.array(pieceArb, { maxLength: 8 }), (pieces) => {
      const path = `/${pieces.join('')}`;
      try {
        checkPath(path);
      } catch {
        return;
      }
      for (const reading of readings(path)) {
        const url = new URL(`http://x.test/root${reading}`);
        expect([path, reading, url.pathname.startsWith('/root/'), url.host]).toEqual([path, reading, true, 'x.test']);
        expect(reading.split(/[/\\]/)).not.toContain('..');
      }
    }),
    { numRuns: runs(3000) },
  );
});
