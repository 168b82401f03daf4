import type { Random } from '../../chaos/random';

/** What may stand in JSON; numbers that JSON cannot say become text of their own when it is written. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

/** A value of JSON that is written as it stands here. */
const RAW_NUMBERS = [
  '-0',
  '1e400',
  '-1e400',
  '1E+30',
  '0.1e-400',
  '9007199254740993',
  '123456789012345678901234567890',
];
const RAW = /"@raw:([^"]*)"/g;

const NUMBERS = [
  ...[0, -1, 1, 2, 0.5, -0.5, 1e-9, 100, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 32, 2 ** 53, 1e21, 1e300, -1e300],
  ...[5e-324, 1.7976931348623157e308, 127, 128, 255, 256, 65_535, 65_536, 1_760_000_000, 9_999_999_999_999],
];
const TEXTS = [
  ...[
    '',
    ' ',
    '\u0000',
    '\n',
    '\r\n',
    '\t',
    '\\',
    '"',
    "'",
    '`',
    '/',
    '..',
    '../..',
    '%',
    '%00',
    '%2e',
    '{}',
    '[]',
    'null',
  ],
  ...['true', 'NaN', 'Infinity', '0', '-1', '1e999', '0x10', '__proto__', 'constructor', 'toString', 'hasOwnProperty'],
  ...[
    '\ud800',
    '\udfff',
    '\ufeff',
    '\u202e',
    '\u200b',
    'é',
    'e\u0301',
    'ß',
    'İ',
    '中文',
    '😀',
    '👨‍👩‍👧',
    'ﷺ',
    'Ω'.repeat(100),
  ],
  ...['$where', '{{x}}', '<script>', "' OR 1=1 --", '; DROP TABLE', '*', '%s%n', '|', '&', '#', '?a=b', ':'],
  ...[
    'http://x',
    'data:',
    'data:image/png;base64,',
    'data:;base64,!!!!',
    'javascript:',
    'file:///etc/passwd',
    'http://[',
    '://',
  ],
  ...['user', 'assistant', 'system', 'tool', 'developer', 'text', 'image_url', 'function', 'auto', 'none', 'required'],
  ...['gpt-4o-mini', 'claude-haiku-4-5', 'gemini-2.5-flash', 'openai/', '/gpt-4o-mini', 'openai/openai/gpt-4o-mini'],
  ...['2024-01-01', '2024-13-45T99:99:99Z', '0000-00-00', '-000001-01-01T00:00:00Z', '+275760-09-13T00:00:00.001Z'],
  ...['00000000-0000-0000-0000-000000000000', 'x'.repeat(257), 'y'.repeat(5_000), 'a.b.c', '1.5', ' 1 ', '١٢٣'],
];

export const edgeText = (random: Random): string => pick(random, TEXTS);

export function edgeValue(random: Random, depth = 0): Json {
  const kind = Math.floor(random.next() * (depth > 2 ? 5 : 9));
  if (kind === 0) return null;
  if (kind === 1) return random.next() < 0.5;
  if (kind === 2) return pick(random, NUMBERS);
  if (kind === 3) return pick(random, TEXTS);
  if (kind === 4) return `@raw:${pick(random, RAW_NUMBERS)}`;
  if (kind === 5) return [];
  if (kind === 6) return {};
  const count = Math.floor(random.next() * 4);
  if (kind === 7) return Array.from({ length: count }, () => edgeValue(random, depth + 1));
  return Object.fromEntries(Array.from({ length: count }, () => [pick(random, TEXTS), edgeValue(random, depth + 1)]));
}

/** JSON text, with numbers that no number of JavaScript is. */
export const writeJson = (value: Json): string => JSON.stringify(value).replace(RAW, '$1');

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random.next() * list.length)] as T;
}
