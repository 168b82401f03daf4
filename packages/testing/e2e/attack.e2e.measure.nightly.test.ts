import { expect, test } from 'bun:test';
import { readAttackCommand } from '../attack/attack-options';
import { ATTACKS } from '../attack/attacks/index';
import { judge, type Outcome } from '../attack/judge';
import { runAttacks } from '../attack/run-attacks';

const RUN_MS = 120_000;

/** One of each family; `bun run attack` plays them all. */
const SHORT = [
  'openai/bearer and 100 kB of spaces',
  'worst texts as the model',
  '19 MiB of JSON: brackets',
  '19 MiB of JSON: a million names',
  'an honest body of 20 MB: chat',
  'a body of 30 MB of a known length',
  'bytes other than HTTP',
  'a vendor answers 600 MB in 600 kB of gzip',
  'a vendor answers a wide list',
  'a vendor streams deep JSON in an event',
  '19 MiB of JSON: one endless number',
  'a vendor answers a status of 999',
  'the usage a vendor tells is less than nothing',
  'the usage a vendor streams is huge',
  'leaving before the first output: chat',
  'a vendor that breaks off before a word: messages',
  'fifty at once before a cap for a few',
  'passing through where it is not allowed',
  'the operator’s account by native paths',
  'the operator’s account by paths in disguise',
  'masks that hide usage',
  'read, but not sent: responses tools web_search',
  'models besides the allowed one',
  'guessing the admin token by sign-ins',
  'the admin API with a data-plane key, or none',
];

test(
  'the laws hold against hostile keys and vendors',
  async () => {
    const chosen = ATTACKS.filter(({ name }) => SHORT.includes(name)).map((attack) => ({
      ...attack,
      profiles: ['bodies'] as const,
    }));
    expect(chosen.map(({ name }) => name).sort()).toEqual([...SHORT].sort());
    const lines: string[] = [];
    const options = { stores: 'embedded', seed: 1, only: undefined, short: true } as const;
    const { breaches } = await runAttacks(chosen, { ...options, say: (line) => void lines.push(line) });
    if (breaches.size > 0) console.error(lines.join('\n'));
    expect(Object.fromEntries(breaches)).toEqual({});
  },
  RUN_MS,
);

const HELD: Outcome = {
  ...{
    name: 'a',
    failed: undefined,
    seconds: 1,
    statuses: new Map([[400, 1]]),
    grownBytes: 0,
    gained: undefined,
    hasEnded: false,
    isStrict: true,
    repeats: 0,
  },
  readings: { livezMs: 10, ownMs: 10, bareMs: 1, memoryBytes: 0, nowBytes: 0, asked: 10, failed: 0 },
  books: { bookedNanoUsd: 5, billedNanoUsd: 5, isEven: true },
};

test.each<[string, Partial<Outcome>, RegExp]>([
  ['a slow /livez', { readings: { ...HELD.readings, livezMs: 60, ownMs: 51 } }, /livez took 60 ms/],
  ['memory', { grownBytes: 201 * 1024 * 1024 }, /memory grew by 201 MB/],
  ['a status 500', { statuses: new Map([[500, 2]]) }, /status 500 2 times/],
  ['a nano-dollar', { books: { ...HELD.books, billedNanoUsd: 6 } }, /bills more/],
  ['uneven books', { books: { ...HELD.books, isEven: false } }, /not even/],
  ['an end', { hasEnded: true }, /ended/],
  ['what was got', { gained: 'a file' }, /a file/],
])('the judge sees %s', (_name, change, text) => {
  expect(judge(HELD)).toEqual([]);
  expect(judge({ ...HELD, ...change })).toEqual([expect.stringMatching(text)]);
});

test('a wrong option stops the command and says which', () => {
  expect(() => readAttackCommand(['--stores', 'none'])).toThrow('--stores none');
  expect(() => readAttackCommand(['--fuzz', 'many'])).toThrow('--fuzz many');
  expect(readAttackCommand(['--fuzz', '20', '--seed', '3', '--from', '7'])).toEqual({
    kind: 'fuzz',
    options: { seed: 3, count: 20, from: 7 },
  });
});
