import { describe, expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { findInBase64 } from './detectors/base64';
import { findCards } from './detectors/card';
import { findEmails } from './detectors/email';
import { findInTags } from './detectors/hidden-text';
import { findIbans } from './detectors/iban';
import { findIpAddresses } from './detectors/ip-address';
import { findNationalIds } from './detectors/national-id';
import { findPattern } from './detectors/pattern';
import { findPhones } from './detectors/phone';
import { SECRET_DETECTORS } from './detectors/secrets';
import { findWords } from './detectors/words';
import { foldText } from './folded-text';
import type { WindowRule } from './rule-search';
import type { Detector } from './span';
import { TextWindow } from './text-window';

const DETECTORS: Readonly<Record<string, Detector | readonly Detector[]>> = {
  email: findEmails,
  card: findCards,
  iban: findIbans,
  ip: findIpAddresses,
  phone: findPhones,
  secrets: SECRET_DETECTORS,
  'national id': findNationalIds,
  'a bounded expression': findPattern('(?i)\\bproject-[a-z]{1,8}\\d{0,3}'),
};
const WORDS = ['darn', 'heck no', 'no way', 'way out', 'x'];
const unbounded: WindowRule = { detector: findPattern('an+.*z'), folding: 'width' };
const words: WindowRule = {
  detector: findWords(WORDS.map((word) => foldText(word, 'words').text)),
  folding: 'words',
};
const ALL: readonly WindowRule[] = [
  ...Object.values(DETECTORS)
    .flat()
    .map((detector): WindowRule => ({ detector, folding: 'width' })),
  words,
];

const replaceAll = (rules: readonly WindowRule[], pieces: readonly string[]): string => {
  const window = new TextWindow(rules, ({ kind }) => `<${kind}>`);
  return pieces.map((piece) => window.push(piece)).join('') + window.flush();
};

/** Things that are found, things that nearly are, and what stands around them. */
const PLANTED = [
  ...[
    'https://a.io/?e=ann@example.com',
    'x=1&user=ann=b@пример.рф',
    `${'x-'.repeat(40)}?e=ann@exa.mple`,
    'é@例子.中国',
  ],
  ...['ann@example.com', "o'neil.x+tag@mail.example.co.uk", 'ann@example', '@ann', 'a@b.c', 'x@y.museum.'],
  ...['4111 1111 1111 1111', '5500-0000-0000-0004', '378282246310005', '4111111111111112', '12 4111111111111111'],
  ...['DE89 3704 0044 0532 0130 00', 'GB82WEST12345698765432', 'de89370400440532013000', 'DE00 3704 0044', 'IS'],
  ...['192.168.0.1', '10.0.0.256', '2001:db8::ff00:42:8329', '::1', '12:30:45', '1.2.3', 'fe80::1%eth0'],
  ...['+49 30 901820', '+1 (212) 555-0147', '(212) 555-0147', '0049 30 901820', '+999 12345678', '2026-11-24'],
  ...['sk-proj-abcdefghijklmnop1234', 'AKIAIOSFODNN7EXAMPLE', 'ghp_0123456789abcdefghij0123456789abcdef'],
  ...[
    '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----',
    '-----BEGIN',
    '-----BEGIN PRIVATE KEY-----\nabc',
  ],
  ...[
    'postgres://me:secret@db.example/x',
    'https://example.com/a?b=c',
    'key=Zx9aB3kLm0Qw7ErTy5UiOp2s',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcdefghij',
  ],
  ...[
    'darn',
    'd\u200barn',
    'dаrn',
    'DÁRN',
    'darning',
    'heck  no',
    'heck no way out',
    'ｄａｒｎ',
    '４１１１ 1111 1111 1111',
  ],
  ...[
    'IGQVJa=bcd1efghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz',
    '123456789:AAbbccddeeffgghhiijjkkllmmnnooppqqr',
    'password: ',
    'api_key="',
    'abc123def456ghi789"',
    '0f97dd1509718dace159ebc6642d0f8f',
    'data:image/png;base64,',
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk',
    'hf_home=/root/x2',
    '501556794.6681913',
    '536 22 8145',
    '536-22-8145',
  ],
  ...['a', 'is', '1', '.', ' ', '\n', '-', '😀', 'é', 'e\u0301', '\ud83d', '"', ':', '=', '0', '00', '+', '('],
];
const text = fc
  .array(fc.tuple(fc.constantFrom(...PLANTED), fc.constantFrom('', ' ', '  ', ', ', '\n', '.')), { maxLength: 8 })
  .map((parts) => parts.flat().join(''));
const cuts = fc.array(fc.nat(200), { maxLength: 12 });

const cutAt = (whole: string, at: readonly number[]): string[] => {
  const places = [...new Set(at.map((place) => place % (whole.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, index) => whole.slice(from, places[index]));
};

describe.each([
  ...Object.entries(DETECTORS).map(
    ([name, detectors]) => [name, [detectors].flat().map((detector) => ({ detector, folding: 'width' }))] as const,
  ),
  ['words', [words]] as const,
  ['an unbounded expression', [unbounded]] as const,
  ['all', ALL] as const,
  ['all, one of which waits for the end', [...ALL, unbounded]] as const,
])('in pieces: %s', (_, rules) => {
  test('any chunking gives the same output', () => {
    fc.assert(
      fc.property(text, cuts, (whole, at) => {
        const once = replaceAll(rules as readonly WindowRule[], [whole]);
        expect(replaceAll(rules as readonly WindowRule[], cutAt(whole, at))).toBe(once);
        expect(replaceAll(rules as readonly WindowRule[], [...whole])).toBe(once);
        expect(replaceAll(rules as readonly WindowRule[], whole.split(''))).toBe(once);
      }),
      { numRuns: runs(300) },
    );
  });
});

const HIDDEN = [findInTags(ALL), findInBase64(ALL)];

test('a detector that is asked first whether it may find something says no only where nothing is found', () => {
  fc.assert(
    fc.property(text, fc.nat(200), fc.boolean(), (whole, at, isEnd) => {
      for (const { detector, folding } of [
        ...ALL,
        ...HIDDEN.map((detector) => ({ detector, folding: 'none' as const })),
      ]) {
        const folded = foldText(whole, folding);
        const { text: said } = folded;
        const from = at % (said.length + 1);
        const isThere = detector.find(said, isEnd).some(({ start }) => start >= from);
        expect(isThere && detector.mayFind?.(said, from, folded.traitsOf(from)) === false).toBe(false);
      }
    }),
    { numRuns: runs(500) },
  );
});

test('a detector that is asked about the rest only leaves the same open as one that begins anew', () => {
  fc.assert(
    fc.property(text, fc.nat(200), (whole, at) => {
      for (const { detector, folding } of ALL) {
        const said = foldText(whole, folding).text;
        const from = Math.min(at % (said.length + 1), detector.openFrom(said, 0));
        expect(detector.openFrom(said, from)).toBe(detector.openFrom(said, 0));
      }
    }),
    { numRuns: runs(500) },
  );
});

test('characters of a folded text are found again by where they come from', () => {
  fc.assert(
    fc.property(text, fc.nat(200), fc.constantFrom('none', 'width', 'digits', 'words'), (whole, at, folding) => {
      const folded = foldText(whole, folding);
      const origin = at % (whole.length + 1);
      const index = folded.indexOf(origin);
      expect(folded.originOf(index)).toBeGreaterThanOrEqual(origin);
      if (index > 0) expect(folded.originOf(index - 1)).toBeLessThan(origin);
    }),
  );
});

test('the same behind what waits long: rules go on at their own pace', () => {
  const long = fc
    .tuple(fc.constantFrom('-----BEGIN PRIVATE KEY-----\n', 'sk-', 'b://c:d@', ''), text, fc.nat(3000), text)
    .map(([head, before, filler, behind]) => `${head}${before}${'lorem-4111 '.repeat(filler / 11)}${behind}`);
  fc.assert(
    fc.property(long, cuts, fc.integer({ min: 1, max: 700 }), (whole, at, size) => {
      const once = replaceAll(ALL, [whole]);
      expect(replaceAll(ALL, cutAt(whole, at))).toBe(once);
      const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, index) =>
        whole.slice(index * size, (index + 1) * size),
      );
      expect(replaceAll(ALL, pieces)).toBe(once);
      expect(replaceAll([...ALL, unbounded], pieces)).toBe(replaceAll([...ALL, unbounded], [whole]));
    }),
    { numRuns: runs(100) },
  );
}, 60_000);

test('half a character in front of a hit is given out once', () => {
  const text = '\ud83d5500-0000-0000-0004  de89370400440532013000';
  expect(replaceAll(ALL, text.split(''))).toBe(replaceAll(ALL, [text]));
  expect(replaceAll(ALL, [...text])).toBe('\ud83d<card>  <iban>');
});

test('an expression without a bound reads a hostile text once', () => {
  const greedy: WindowRule = { detector: findPattern('a.*b'), folding: 'width' };
  const startMs = performance.now();
  expect(replaceAll([greedy], [`${'a'.repeat(200_000)}b`])).toBe('<pattern>');
  expect(performance.now() - startMs).toBeLessThan(5000);
});

test('clean text comes out as it went in, and little of it waits', () => {
  const clean = 'The quick brown fox jumps over the lazy dog, 12 times a day; see section 4.2 of the handbook. '.repeat(
    20,
  );
  const window = new TextWindow(ALL, () => '!');
  let out = '';
  for (const character of clean) {
    out += window.push(character);
    expect(window.heldLength).toBeLessThanOrEqual(42);
  }
  expect(out + window.flush()).toBe(clean);
});

test.each([
  ['write to ann@example.com.', 'write to <email>.'],
  ['card 4111 1111 1111 1111, please', 'card <card>, please'],
  ['order 99 4111 1111 1111 1111', 'order 99 <card>'],
  ['4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1', '<card>'],
  ['４１１１１１１１１１１１１１１１', '<card>'],
  ['4111\u200b111111111111', '<card>'],
  ['to DE89 3704 0044 0532 0130 00 now', 'to <iban> now'],
  ['from 192.168.0.1:8080', 'from <ip>:8080'],
  ['at 2001:db8::1, or', 'at <ip>, or'],
  ['call +49 30 901820 today', 'call <phone> today'],
  ['OPENAI_API_KEY=sk-proj-abcdefghijklmnop1234', 'OPENAI_API_KEY=<api_key>'],
  ['password = "abc123def456ghi789"', 'password = "<token>"'],
  ['commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b', 'commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b'],
  ['secret: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b', 'secret: <token>'],
  ['hf_home=/root/.cache/model2', 'hf_home=/root/.cache/model2'],
  ['sk-learn-and-other-packages', 'sk-learn-and-other-packages'],
  ['it took 501556794.6681913 s', 'it took 501556794.6681913 s'],
  ['DARN it', '<word> it'],
  ['dаrn', '<word>'],
  ['d\u200ba\u200br\u200bn', '<word>'],
  ['darning', 'darning'],
  ['DNI 12345678Z,', 'DNI <national_id>,'],
  ['CPF 529.982.247-25', 'CPF <national_id>'],
  ['in Project-Blue12 now', 'in <pattern> now'],
])('%j becomes %j', (given, expected) => {
  expect(replaceAll(ALL, [given])).toBe(expected);
});

test('finds one behind the other are searched once, and told once where nothing is done about them', () => {
  const text = '6759 '.repeat(60_000);
  let searched = 0;
  const detector = {
    ...findCards,
    find: (said: string, isEnd: boolean) => {
      searched += said.length;
      return findCards.find(said, isEnd);
    },
  };
  const originals: string[] = [];
  const pieces = text.match(/.{1,16384}/gs) ?? [];
  const window = new TextWindow([{ detector, folding: 'width' }], (_hit, original) => {
    originals.push(original);
    return '!';
  });
  const out = pieces.map((piece) => window.push(piece)).join('') + window.flush();
  expect([out.replaceAll(/\s/g, ''), originals.length, searched < 1.2 * text.length]).toEqual(['!', 1, true]);
  expect(text.startsWith(originals[0] ?? 'none')).toBe(true);
  let told = 0;
  const watching = new TextWindow([{ detector, folding: 'width', watches: true }], () => {
    told += 1;
    return undefined;
  });
  const passed = pieces.map((piece) => watching.push(piece)).join('') + watching.flush();
  expect([passed === text, told]).toEqual([true, findCards.find(text, true).length]);
});
