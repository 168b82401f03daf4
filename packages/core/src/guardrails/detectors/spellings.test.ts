import { describe, expect, test } from 'bun:test';
import { compileRule } from '../compile-guardrails';
import { DASHES, foldText } from '../folded-text';
import type { GuardrailCheck } from '../policy';
import { TextWindow } from '../text-window';

const windowOf = (check: GuardrailCheck) =>
  new TextWindow(
    compileRule({ name: 'r', on: 'both', check, action: 'redact', onError: 'block' }, {}, false).detectors,
    ({ kind }) => `[${kind}]`,
  );
const PII: GuardrailCheck = { type: 'pii' };
const HYPHENS = [...DASHES, '\u{10d6e}', '\u{10ead}'];

/** What becomes of a text, the same wherever it is cut. */
function judged(check: GuardrailCheck, text: string): string {
  const whole = windowOf(check).whole(text);
  for (let at = 1; at < text.length; at++) {
    const window = windowOf(check);
    const cut = window.push(text.slice(0, at)) + window.push(text.slice(at)) + window.flush();
    expect([at, cut]).toEqual([at, whole]);
  }
  return whole;
}

describe('text around numbers', () => {
  test('a fraction is not their next digit', () => {
    const text = 'x 550e8400-e29b-41d4-a716-446655440000½ y';
    expect(judged(PII, text)).toBe(text);
  });
});

describe('everyday spellings', () => {
  test.each([
    ['Call me: +14155552671 12 times', 'Call me: [phone] 12 times'],
    ['Tel. +33 1 42 68 53 00 75001 Paris', 'Tel. [phone] 75001 Paris'],
    ['2671: 415-555-2671 2024-01-15 08:00 caller', '2671: [phone] 2024-01-15 08:00 caller'],
    ['+44 20 7946 0958 10:30', '[phone] 10:30'],
    ['415-555-2671 415-555-2672', '[phone] [phone]'],
    ['(415) 555-2671 12', '[phone] 12'],
  ])('a number behind a phone number: %j', (text, expected) => expect(judged(PII, text)).toBe(expected));

  test('a number behind its name and a dash', () => {
    for (const dash of ['-', '\u2013', '\u2014', ' \u2013'])
      expect(judged(PII, `SSN${dash}536-22-8145.`)).toBe(`SSN${dash}[national_id].`);
    expect(judged(PII, 'order-536-22-8145 is none.')).toBe('order-536-22-8145 is none.');
  });

  test("hyphens are Unicode's dashes, but for the plain one", () => {
    const missing: string[] = [];
    for (let code = 0; code <= 0x10ffff; code++) {
      const point = String.fromCodePoint(code);
      if (/\p{Dash}/u.test(point) && foldText(`a${point}`, 'keys').text !== 'a-') missing.push(code.toString(16));
    }
    expect(missing).toEqual([]);
  });

  const ESC = '\u001b';

  test.each(HYPHENS)('hyphens: %j', (hyphen) => {
    const written = (text: string) => judged(PII, text.replaceAll('-', hyphen));
    expect(written('call 415-555-2671 now')).toBe('call [phone] now');
    expect(written('call +1 415-555-2671 now')).toBe('call [phone] now');
    expect(written('SSN 536-22-8145.')).toBe('SSN [national_id].');
    expect(written('CPF 529.982.247-25.')).toBe('CPF [national_id].');
    expect(written('DE89-3704-0044-0532-0130-00 it is')).toBe('[iban] it is');
  });

  test.each([
    [`${ESC}[32mDE89370400440532013000${ESC}[0m`, `${ESC}[32m[iban]${ESC}[0m`],
    [`${ESC}[1;32m203.0.113.77${ESC}[0m`, `${ESC}[1;32m[ip]${ESC}[0m`],
    [`${ESC}[m${ESC}[K203.0.113.77 GET /`, `${ESC}[m${ESC}[K[ip] GET /`],
    [`${ESC}[m${ESC}[KDE89370400440532013000`, `${ESC}[m${ESC}[K[iban]`],
    [`${ESC}[32m+1 415-555-2671${ESC}[0m`, `${ESC}[32m[phone]${ESC}[0m`],
    ['at _203.0.113.77_ now', 'at _[ip]_ now'],
    ['app_1.2.3.4_amd64.deb', 'app_1.2.3.4_amd64.deb'],
    ['at 1.2.3.4_x', 'at 1.2.3.4_x'],
    ['?a=b%20DE89370400440532013000&c', '?a=b%20[iban]&c'],
    ['bob@corp-example.com-x', '[email]-x'],
    ['mail bob@corp\u2011example.com now', 'mail [email] now'],
    ['bob.smith@corp-example。com', '[email]'],
    ['写信给 bob@corp-example.com。谢谢', '写信给 [email]。谢谢'],
    ['415-555-2671%205 x', '[phone]%205 x'],
    ['left-pad@1.0.beta-2', 'left-pad@1.0.beta-2'],
  ])('%j', (text, expected) => {
    expect(judged(PII, text)).toBe(expected);
  });

  test.each([
    ...['pass=#', 'DB_PASS=#', 'DB_PASS: "#"', 'pw: #', 'login --password # -x', '<password>#</password>'],
    ...['curl -u admin:# https://example.com', 'curl --user admin:# x', '密码：#', 'пароль: #'],
    ...['Server=h;User Id=sa;Password=#;Encrypt=True;', 'jdbc:sqlserver://h;user=sa;password=#;encrypt=true'],
  ])('a password: %j', (text) => {
    const secret = 'Tr0ub4dor3';
    expect(judged({ type: 'secrets' }, text.replace('#', secret))).toBe(text.replace('#', '[password]'));
  });

  const KEY = 'sk-proj-Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56Qr78St90Uv12Wx34';

  test.each(['%20', '%3D', '%2F', '%2f', '%3A', '%22', 'q%3Da%20', 'x%26'])('a key behind %s', (before) => {
    expect(judged({ type: 'secrets' }, `see ${before}${KEY} x`)).not.toContain('Ab12Cd34');
    expect(judged({ type: 'secrets' }, `see ${before}${KEY}%20x`)).not.toContain('Ab12Cd34');
  });

  const ESCAPED = [
    ...[
      '%20',
      '%09',
      '%0A',
      '%0a',
      '%0D%0A',
      '%2D',
      '%2d',
      '%2E',
      '%7C',
      '%5F',
      '%2F',
      '%2B',
      '+',
      '%2A%2A',
      '%20%2D%20',
      ' %2D ',
    ],
    ...['%C2%A0', '%c2%a0', '%E2%80%91', '%e2%80%93', '%E2%88%92', '%E2%A0%80', '%5C', '%5c', '%E2%97%A6', '%C2%A6'],
  ];
  const SHAPES = ['\u25e6', '\u2023', '\u25cf', '\u25aa', '\u2502', '\u00a6', '\uffe8', '\\', ' \u25cf ', ' \u2502 '];
  const MARKS = [...SHAPES, '__', '~~', '`', ':', '\u2022', '\u30fb', '\u2015', '\u2028', '\u0085', '\v', ' \u2022 '];
  test.each(['\t', '\n', '|', ' | ', '**', '\u2800', ...MARKS, ...ESCAPED])(
    'a card in groups, wherever it is cut: %j',
    (mark) => {
      const card = ['4111', '1111', '1111', '1111'].join(mark);
      expect(judged(PII, `pay ${card} now`)).toBe('pay [card] now');
      expect(judged(PII, `pay%20${card}%20now`)).toBe('pay%20[card]%20now');
      for (const before of ['%22', '%28', '%3D', '%26', '%E2%80%91'])
        expect(judged(PII, `pay${before}${card}%29`)).toBe(`pay${before}[card]%29`);
    },
  );

  test.each(HYPHENS)('a key with other hyphens: %j', (hyphen) => {
    for (const key of [KEY, `xoxb-1234567890-${'Ab12Cd34'.repeat(3)}`, `glpat-${'Ab12Cd34'.repeat(3)}`])
      expect(judged({ type: 'secrets' }, `see ${key.replaceAll('-', hyphen)} x`)).not.toContain('Ab12Cd34');
    for (const key of [`sk-or-v1-${'a1b2c3d4e5f60718'.repeat(4)}`, 'key-3ax6xnjp29jd6fds4gc373sgvjxteol0'])
      expect(windowOf({ type: 'secrets' }).whole(`see ${key.replaceAll('-', hyphen)} x`)).toMatch(/^see \[.+\] x$/);
  });

  test.each(['ᴘʀᴏᴊᴇᴄᴛ', 'ꓑꓣꓳꓙꓰꓚꓔ', '🄿🅁🄾🄹🄴🄲🅃', '🅿🆁🅾🅹🅴🅲🆃', '🅟🅡🅞🅙🅔🅒🅣', 'ⓟⓡⓞⓙⓔⓒⓣ'])('a word in %s', (word) => {
    expect(windowOf({ type: 'words', words: ['project'] }).whole(`the ${word} is`)).toBe('the [word] is');
  });

  test.each(['🄿🅁🄾🄹🄴🄲🅃', '🅿🆁🅾🅹🅴🅲🆃', '𝐩𝐫𝐨𝐣𝐞𝐜𝐭'])('a word in %s, cut in the middle of its letters', (word) => {
    expect(judged({ type: 'words', words: ['project'] }, `the ${word} is`)).toBe('the [word] is');
    const window = windowOf({ type: 'words', words: ['project'] });
    const pieces = [...`the ${word} is`].flatMap((point) => point.split('')).map((half) => window.push(half));
    expect([...pieces, window.flush()].join('')).toBe('the [word] is');
  });

  test.each([
    'https://example.com/login?next=%2Faccount%2Fsettings%2Fnotifications%2Femail',
    'https://example.com/login?next=%2FAccount%2FSettings%2FNotifications%2FEmail%2F2',
    'mailto:a?subject=Hello%20World%20from%20the%20team&body=Dear%20all%2C%0A%0Aplease%20see%20below',
    '?q=Best%20Shoes%20for%20Men%20and%20Women%202024&utm_campaign=Spring%20Sale%202024%20Berlin',
    'file=%2Fhome%2FAnna%2FDocuments%2Ftax-return-final-version-2023.pdf',
    'token=%2FAccount%2FSettings%2FNotifications%2FEmail',
    'https://de.wikipedia.org/wiki/M%C3%BCnchen_Hauptbahnhof_(tief)',
    '%E3%81%93%E3%82%93%E3%81%AB%E3%81%A1%E3%81%AF%E4%B8%96%E7%95%8C',
  ])('no secret: %j', (text) => expect(windowOf({ type: 'secrets' }).whole(text)).toBe(text));

  test.each([
    ['?sig=qL8vX2pT%2Fz7Rk4NwYb9Ds%2BHc6Jm3Fg1%3D', '?sig=[token]'],
    ['?q=see%20qL8vX2pTz7Rk4NwYb9DsHc6Jm3Fg1%20now', '?q=see%20[token]%20now'],
    ['password=x7%40Kp2%21mQ9zRt4', 'password=[password]'],
    ['api_key=a81f%2Fc02e9b7d55e1f', 'api_key=[token]'],
  ])('a secret with escapes: %j', (text, expected) => {
    expect(windowOf({ type: 'secrets' }).whole(text)).toBe(expected);
  });

  test.each([
    '1234-5678-9012-3456',
    '| 1234 | 5678 | 9012 | 3456 |',
    '1234 5678 9012 3456',
    '1234%205678%209012%203456',
  ])('no card within four groups: %j', (text) => {
    expect(judged(PII, text)).toBe(text);
    expect(judged(PII, `PO ${text}, and`)).toBe(`PO ${text}, and`);
  });

  test('a card beside other groups', () => {
    expect(judged(PII, '1234 4111 1111 1111 1111 123')).toBe('1234 [card] 123');
    expect(judged(PII, '| 1 |\n| 4111 | 1111 | 1111 | 1111 |')).toBe('| 1 |\n| [card] |');
    expect(judged(PII, 'it costs 12, 4111.1111.1111.1111')).toBe('it costs 12, [card]');
    expect(judged(PII, '5018 0000 0009 it')).toBe('[card] it');
  });

  test('the number of an invoice begins with its year', () => {
    for (const text of ['2024-0815-4711', 'Rechnung Nr. 2024\u20110815\u20114711 vom'])
      expect(judged(PII, text)).toBe(text);
    expect(judged(PII, 'Aadhaar: 2024-0815-4711.')).toBe('Aadhaar: [national_id].');
    expect(judged(PII, '2024 0815 4711')).toBe('[national_id]');
  });

  test('a session in a cookie', () => {
    const id = '9f86d081884c7d659a2feaa0c55ad015';
    expect(judged({ type: 'secrets' }, `Cookie: session=${id}`)).toBe('Cookie: session=[token]');
    for (const clean of [`commit ${id}`, 'bypass=x1y2z3w4', 'compass: a1b2c3d4', 'ls -u 1000:1000'])
      expect(judged({ type: 'secrets' }, clean)).toBe(clean);
  });
});
