import { describe, expect, test } from 'bun:test';
import { GuardrailCompiler } from './compile-guardrails';
import { createTextChecks } from './create-checks';
import { longestStretch } from './longest-stretch.fixture';
import type { GuardrailCheck, GuardrailRule } from './policy';
import { RequestGuard } from './request-guard';

const MEGABYTE = 1_000_000;
/** Characters of a text whose check takes 16 µs for each. */
const SLOW = 60_000;
/** Longest time in which nothing else has its turn. */
const MOST_MS = 50;
const TEST_MS = 120_000;
/** Others on the same core slow this thread even by its own clock. */
const TRIES = 8;
const USER = { on: 'input', part: 'user' } as const;
const REFUSED = /couldn't be checked/;

const checks = createTextChecks({
  embed: async () => ({ type: 'vector', vector: Float32Array.of(0.1) }),
  askModel: async () => ({ text: '{}', costNanoUsd: 0 }),
  moderate: async () => ({ flagged: false, categories: [], costNanoUsd: 0 }),
  post: async () => ({ status: 200, body: '{"verdict":"allow"}' }),
  webhookSecret: () => new Uint8Array(24),
  ...{ nowMs: Date.now, createId: () => 'id' },
});
const WORDS = Array.from({ length: 500 }, (_, index) => `forbidden${index}`);
const regex = (pattern: string): GuardrailCheck => ({ type: 'regex', pattern });

/** Each with the pieces of text that are hardest on it. */
const HARDEST: readonly (readonly [
  name: string,
  checks: readonly GuardrailCheck[],
  pieces: readonly string[],
  characters?: number,
])[] = [
  [
    'pii',
    [{ type: 'pii' }],
    [
      '6759 ',
      'а',
      '4 ',
      'a@',
      '1.',
      '+1',
      'DE89 ',
      '12345678Z',
      '::',
      'Ann x@y.io, ',
      '536 22 8145 ',
      '\\n6759 ',
      'a\\u0040',
    ],
  ],
  [
    'pii, with the phone numbers of ten countries',
    [{ type: 'pii', kinds: ['phone'], countries: ['US', 'GB', 'DE', 'FR', 'ES', 'IT', 'NL', 'PL', 'BR', 'SE'] }],
    ['030 901820 ', '1-2', '(0', '612345678 '],
  ],
  [
    'secrets',
    [{ type: 'secrets' }],
    ['а', 'a=', 'IGQVJa=', 'A1b', 'http://a:b@', '-----BEGIN ', 'secret: ', '/sk-', '/A1b', '\\u0041=', '\\\\\\'],
  ],
  [
    'base64',
    [
      { type: 'pii', decode: ['base64'] },
      { type: 'secrets', decode: ['base64'] },
    ],
    [
      ...['QUJDREVGR0hJSktM', 'NDExMSAxMTExIDEx ', 'YUBiLmNvbSBhQGIu\n', `|${'NDExMSAxMTExIDEx'.repeat(1000)} `],
      ...[
        'NDExMSAxMTExIDEx',
        `${'NDExMSAxMTExIDEx'.repeat(4)}\r\n`,
        `${'YUBiLmNvbSBhQGIu'.repeat(2)}\n`,
        '6TQxMTHp',
        'NAAxADEAMQAg',
      ],
    ],
  ],
  ['words', [{ type: 'words', words: ['aaab', ...WORDS] }], ['é', 'forbidden', 'a', 'forbidden1 ', '\\u0061']],
  ['words in a token', [{ type: 'secrets' }, { type: 'words', words: ['key'] }], ['key-', '|key-| x']],
  ['regex, bounded', [regex('(?i)\\bproject-[a-z]{1,8}\\d{0,3}')], ['project-', 'a']],
  ['regex, everywhere', [regex('a')], ['ab', '{"a":"|a\\n', 'a\\u0061']],
  ['regex, wide', [regex('.{1,100}x')], [`${'a'.repeat(99)}x`, 'x', '\\u0078']],
  ['regex, unbounded', [regex('.{1,1000}x')], ['|a|x', 'x', '|é|x', '{"a":"|\\u0061|x"}'], SLOW],
  ['regex in a schema', [{ type: 'json_schema', schema: { pattern: '.{1,1000}x' } }], ['"|a|x"'], SLOW],
  ['regex, greedy', [regex('(?s)a.*b.*c')], ['ab', 'abc', '|ab|c']],
  ['length', [{ type: 'length', max: 5 }], ['a', '😀']],
  [
    'url',
    [{ type: 'url', allow: ['good.com'], deny: ['evil.com'] }],
    ['a.b ', 'http://', '//"', 'a@', '.a', 'a.', 'é.', '&#46;', '%2e', 'xn--', 'https://a@'],
  ],
  [
    'injection',
    [{ type: 'injection' }],
    ['ignore all ', 'а', 'i g n ', '1gn0r3 ', 'QUJD', '忽', '<|im_', 'ab12', '01000001 ', '%61', 'MFRGG'],
  ],
  ['similar_to', [{ type: 'similar_to', examples: ['a'], threshold: 0.9 }], ['One sentence is this. ', 'a', 'a ']],
  ['moderation', [{ type: 'moderation', model: 'm' }], ['a']],
  ['webhook', [{ type: 'webhook', url: 'https://hook.example', timeoutMs: 1000 }], ['a', '😀']],
  ['json_schema', [{ type: 'json_schema', schema: { type: 'array', uniqueItems: true } }], ['[', '"\\u0061",']],
  [
    'all at once, behind a key without an end',
    [
      { type: 'pii' },
      { type: 'secrets' },
      { type: 'words', words: WORDS },
      regex('(?s)a.*b'),
      { type: 'length', max: 5 },
    ],
    [
      '{"a":"|4111111111111111","',
      '-----BEGIN RSA PRIVATE KEY-----\n|6759 ',
      '|6759 4111-1111',
      '{"a":"|\\n1',
      'x|а',
      '|a b=c ',
    ],
  ],
];

/** `head|body|tail`, of which the body comes again and again. */
const repeated = (piece: string, characters: number): string => {
  const [head = '', body = '', tail = ''] = piece.includes('|') ? piece.split('|') : ['', piece];
  return head + body.repeat(characters / body.length) + tail;
};

const compiler = new GuardrailCompiler(checks);
function guardOf(asked: readonly GuardrailCheck[]): RequestGuard {
  const rules = asked.map(
    (check, index): GuardrailRule => ({ name: `r${index}`, on: 'both', check, action: 'redact', onError: 'block' }),
  );
  const policy = { mode: 'enforce', rules, pseudonymScope: 'request', version: 1 } as const;
  const guardrails = compiler.compile({ policy, keyRules: null, pseudonymSecret: '' });
  if (guardrails === undefined) throw new Error('nothing is asked');
  return new RequestGuard(guardrails, {
    ...{ projectId: 'p', keyId: 'k', requestId: 'r', customerId: undefined, monotonicMs: () => performance.now() },
  });
}

const judgeAll = async (asked: readonly GuardrailCheck[], text: string): Promise<void> => {
  try {
    await guardOf(asked).judge(text, USER);
  } catch (cause) {
    // A text that is too much for its check is refused, and that is told.
    if (!(cause instanceof Error) || !REFUSED.test(cause.message)) throw cause;
  }
};

describe.each(HARDEST)('%s', (_name, asked, pieces, characters = MEGABYTE) => {
  test.each(pieces)(
    'a long text of %p holds nobody up',
    async (piece) => {
      const text = repeated(piece, characters);
      await judgeAll(asked, text.slice(-characters / 20));
      let best = Number.POSITIVE_INFINITY;
      for (let tries = 0; tries < TRIES && best > MOST_MS; tries++)
        best = Math.min(best, await longestStretch(() => judgeAll(asked, text)));
      if (process.env.SHOW) console.log(_name, JSON.stringify(piece), best.toFixed(1));
      expect(best).toBeLessThan(MOST_MS);
    },
    TEST_MS,
  );
});
