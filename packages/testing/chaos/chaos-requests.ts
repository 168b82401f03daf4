import { ask } from '../e2e/environment';
import { type ChaosKey, type ChaosKeys, CUSTOMERS } from './chaos-keys';
import type { Random } from './random';

/** One request of the load. */
export interface ChaosRequest {
  readonly kind: string;
  readonly key: ChaosKey;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The client leaves after so long. */
  readonly leaveAfterMs?: number;
}

interface RequestKind {
  readonly kind: string;
  readonly weight: number;
  readonly make: (random: Random, keys: ChaosKeys) => Omit<ChaosRequest, 'kind'>;
}

const QUESTIONS_REPEATED = 12;
let number = 0;
const unique = () => `question ${++number} ${'padding '.repeat(number % 5)}`;
/** Bills that differ from request to request, so that a mix-up of two shows in the sums. */
const bill = (random: Random) => ({
  prompt: Math.floor(random.between(5, 900)),
  completion: Math.floor(random.between(1, 90)),
});
const LIMIT = { max_tokens: 100 };

/** What comes in, and how often. */
const KINDS: readonly RequestKind[] = [
  {
    kind: 'plain',
    weight: 20,
    make: (random, { free }) => ({ key: free, body: ask(unique(), { ...LIMIT, x_fake: { usage: bill(random) } }) }),
  },
  {
    kind: 'stream',
    weight: 14,
    make: (random, { free }) => ({
      key: free,
      body: ask(unique(), {
        ...LIMIT,
        stream: true,
        x_fake: { usage: bill(random), gapMs: Math.floor(random.between(0, 40)) },
      }),
    }),
  },
  {
    kind: 'hit',
    weight: 14,
    make: (random, { free }) => ({
      key: free,
      body: ask(`again ${Math.floor(random.between(0, QUESTIONS_REPEATED))}`, {
        ...LIMIT,
        stream: random.next() < 0.4,
      }),
    }),
  },
  {
    kind: 'customer',
    weight: 14,
    make: (random, { customers }) => ({
      key: customers,
      headers: { 'x-customer-id': random.pick(CUSTOMERS) },
      body: ask(unique(), { ...LIMIT, stream: random.next() < 0.3, x_fake: { usage: bill(random) } }),
    }),
  },
  {
    kind: 'capped',
    weight: 8,
    make: (random, { capped }) => ({
      key: capped,
      body: ask(unique(), { ...LIMIT, x_fake: { usage: bill(random) } }),
    }),
  },
  {
    kind: 'budgeted',
    weight: 12,
    make: (random, { budgeted }) => ({
      key: budgeted,
      headers: { 'x-llm0-team': random.pick(budgeted.teams) },
      ...(random.next() < 0.2 ? { leaveAfterMs: Math.floor(random.between(5, 600)) } : {}),
      body: ask(unique(), {
        ...LIMIT,
        stream: random.next() < 0.4,
        x_fake: { usage: bill(random), gapMs: Math.floor(random.between(0, 40)) },
      }),
    }),
  },
  { kind: 'strict', weight: 4, make: (_random, { strict }) => ({ key: strict, body: ask(unique()) }) },
  {
    kind: 'limited',
    weight: 10,
    make: (random, { limited }) => ({
      key: limited,
      body: ask(unique(), {
        ...LIMIT,
        x_fake: { usage: bill(random), firstDelayMs: Math.floor(random.between(0, 150)) },
      }),
    }),
  },
  {
    kind: 'failing',
    weight: 8,
    make: (random, { free }) => ({
      key: free,
      body: ask(unique(), {
        ...LIMIT,
        stream: random.next() < 0.6,
        x_fake: random.pick([
          { status: 500 },
          { status: 429, retryAfter: '1' },
          { status: 400 },
          { errorAfter: 3 },
          { resetAfter: 4 },
          { truncateAfter: 2 },
          { html: true },
          { empty: true },
        ]),
      }),
    }),
  },
  {
    kind: 'idle',
    weight: 3,
    make: (random, { free }) => ({
      key: free,
      body: ask(unique(), { ...LIMIT, stream: true, x_fake: { usage: bill(random), chunks: 8, gapMs: 800 } }),
    }),
  },
  {
    kind: 'leaving',
    weight: 5,
    make: (random, { free }) => ({
      key: free,
      leaveAfterMs: Math.floor(random.between(5, 600)),
      body: ask(unique(), { ...LIMIT, stream: random.next() < 0.8, x_fake: { usage: bill(random), gapMs: 40 } }),
    }),
  },
  {
    kind: 'bad',
    weight: 2,
    make: (random, { free }) => ({
      key: free,
      body: random.pick([{ model: 'gpt-4o-mini', messages: [] }, '{"model":', ask('x', { model: 'no-such-model' })]),
    }),
  },
];

export function nextRequest(random: Random, keys: ChaosKeys): ChaosRequest {
  const kind = random.pickWeighted(KINDS) ?? KINDS[0];
  if (kind === undefined) throw new Error('there are no kinds of requests');
  return { kind: kind.kind, ...kind.make(random, keys) };
}
