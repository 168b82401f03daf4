import { describe, expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { compileRule } from '../compile-guardrails';
import { Guardrails } from '../guardrails';
import type { GuardrailRule } from '../policy';
import { RequestGuard } from '../request-guard';

const SAID = { on: 'output', part: 'assistant' } as const;
const rule = (given: Partial<GuardrailRule>): GuardrailRule => ({
  ...{ name: 'pii', on: 'both', check: { type: 'pii' }, action: 'redact', onError: 'block' },
  ...given,
});
const RULES: readonly GuardrailRule[] = [
  rule({}),
  rule({ name: 'keys', check: { type: 'secrets' } }),
  rule({ name: 'words', check: { type: 'words', words: ['darn', 'no way'] } }),
  rule({ name: 'own', check: { type: 'regex', pattern: 'Proj-[a-z]{2,8}' } }),
];

function guardOf(rules: readonly GuardrailRule[]): RequestGuard {
  const compiled = rules.map((one) => compileRule(one, {}, false));
  return new RequestGuard(new Guardrails(compiled, '', { scope: 'request' }), {
    ...{ projectId: 'p', keyId: 'k', requestId: 'r', customerId: undefined, monotonicMs: () => 0 },
  });
}

interface Read {
  readonly text: string;
  readonly counts: Readonly<Record<string, number>>;
}

const countsOf = (guard: RequestGuard) =>
  Object.fromEntries((guard.list() ?? []).map(({ rule: name, count }) => [name, count]));

async function readWhole(rules: readonly GuardrailRule[], text: string): Promise<Read> {
  const guard = guardOf(rules);
  return { text: await guard.judge(text, SAID), counts: countsOf(guard) };
}

function readPieces(rules: readonly GuardrailRule[], pieces: readonly string[]): Read {
  const guard = guardOf(rules);
  const windows = [guard.watching(SAID, 'plain'), guard.window(SAID, 'plain')].filter((one) => one !== undefined);
  const pass = (text: string) => windows.reduce((passed, window) => window.push(passed), text);
  let text = pieces.map(pass).join('');
  let rest = '';
  for (const window of windows) rest = (rest === '' ? '' : window.push(rest)) + window.flush();
  text += rest;
  return { text, counts: countsOf(guard) };
}

const cutAt = (whole: string, at: readonly number[]): string[] => {
  const places = [...new Set(at.map((place) => place % (whole.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, index) => whole.slice(from, places[index]));
};

const SECRETS = [
  ...['ann@example.com', '4111 1111 1111 1111', 'DE89 3704 0044 0532 0130 00', '192.168.0.1', '+49 30 901820'],
  ...['sk-proj-abcdefghijklmnop1234', 'postgres://me:s3cretpw@db.example/x', 'darn', 'no way', 'Proj-blue'],
  '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----',
];
/** Some of a text's characters as escapes, at one or two depths. */
const escaped = fc
  .tuple(fc.constantFrom(...SECRETS), fc.array(fc.constantFrom('', '', '\\', '\\\\'), { minLength: 1, maxLength: 7 }))
  .map(([text, flags]) =>
    [...text]
      .map((one, at) => {
        const flag = flags[at % flags.length] ?? '';
        if (one === '\n') return flag === '' ? one : `${flag}n`;
        return flag === '' ? one : `${flag}u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
      })
      .join(''),
  );
const around = fc.constantFrom(
  ...[
    '',
    ' ',
    '\n',
    '.',
    ', ',
    '"',
    '\\',
    '\\\\',
    '\\n',
    '\\"',
    '\\u',
    '\\u00',
    'a',
    '1',
    '4111 ',
    '-',
    '😀',
    '\\ud83d',
  ],
  ...['\ud83d', 'ann@', 'x@y.', 'sk-', 'C:\\temp\\new', '\\section', '=', 'password: ', '-----BEGIN '],
);
const text = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom(...SECRETS), escaped, around), around), { maxLength: 7 })
  .map((parts) => parts.flat().join(''));
const cuts = fc.array(fc.nat(300), { maxLength: 12 });
const RUNS = runs(300);
const asEscapes = (text: string, backslashes: string) =>
  [...text].map((one) => `${backslashes}u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
const [CONNECTION = '', KEY = ''] = [SECRETS[6], SECRETS[10]];
/** Texts that failed once. */
const FAILED: [string, number[]][] = [
  [`${CONNECTION}${asEscapes(CONNECTION, '\\')}\\n${asEscapes(KEY, '\\\\')}`, []],
  [`${CONNECTION}${'x'.repeat(700)}`, [40, 690]],
];

describe('a text that is read as it is written and by what its escapes stand for', () => {
  test.each<[string, readonly GuardrailRule[]]>([
    ['rules that act', RULES],
    ['rules that only watch', RULES.map((one) => ({ ...one, action: 'flag' as const }))],
    ['some of each', RULES.map((one, at) => (at % 2 === 0 ? one : { ...one, action: 'flag' as const }))],
    ['pseudonyms', RULES.map((one) => ({ ...one, action: 'pseudonymise' as const }))],
  ])('becomes the same, and counts the same, in whatever pieces it comes: %s', async (_, rules) => {
    await fc.assert(
      fc.asyncProperty(text, cuts, async (whole, at) => {
        const once = await readWhole(rules, whole);
        for (const pieces of [cutAt(whole, at), whole.split(''), [whole]]) {
          const read = readPieces(rules, pieces);
          expect(read).toEqual(once);
        }
      }),
      { numRuns: RUNS, examples: FAILED },
    );
  });

  test.each([
    ['to \\u0061nn@example.com now', 'to [EMAIL] now'],
    ['bob@x.io \\u0061nn@example.com', '[EMAIL] [EMAIL]'],
    ['\\u0061nn@example.com bob@x.io', '[EMAIL] [EMAIL]'],
    ['see ann\\u0040example.com,4111 1111 1111 1111', 'see [EMAIL],[CARD]'],
    ['sk-\\u0070roj-abcdefghijklmnop1234@example.com', expect.stringMatching(/^\[(?:API_KEY|EMAIL)\]$/)],
    ['p\\\\u006fstgres://me:s3cretpw@db.example/x ok', expect.stringMatching(/^\[[A-Z_]+\] ok$/)],
    ['C:\\temp\\new and \\section', 'C:\\temp\\new and \\section'],
    ['d\\u0061rn 4111-1111-1111-1111', '[WORD] [CARD]'],
  ])('%j becomes %j', async (given, expected) => {
    expect((await readWhole(RULES, given)).text).toEqual(expected);
    for (let at = 0; at <= given.length; at++)
      expect(readPieces(RULES, [given.slice(0, at), given.slice(at)]).text).toEqual(expected);
  });

  test('a find counts once, in whichever of its forms it is found', async () => {
    for (const action of ['flag', 'redact', 'pseudonymise'] as const) {
      const rules = [rule({ action, check: { type: 'pii', kinds: ['email', 'card'] } })];
      for (const said of [
        'ann@example.com \\n',
        'x\\nann@example.com, \\u0062ob@example.com',
        '4111 1111 1111 1111\\t',
      ]) {
        const expected = { pii: said.includes('u0062') ? 2 : 1 };
        expect([action, said, (await readWhole(rules, said)).counts]).toEqual([action, said, expected]);
        expect([action, said, readPieces(rules, said.split('')).counts]).toEqual([action, said, expected]);
      }
    }
  });

  test('all spellings of an address have one pseudonym', async () => {
    const guard = guardOf([rule({ action: 'pseudonymise', on: 'both' })]);
    const place = { on: 'input', part: 'user' } as const;
    expect(await guard.judge('ann@example.com or \\u0061nn@example.com', place)).toBe('<EMAIL_1> or <EMAIL_1>');
    expect(guard.restore('<EMAIL_1>')).toBe('ann@example.com');
  });
});
