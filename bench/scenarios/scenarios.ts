import type { RequestShape } from '../load/load-job';

/** Which of the gateway's keys a scenario uses. */
export type KeyName = 'open' | 'uncached' | 'tight' | 'capped' | 'semantic';
export type TargetKind = 'direct' | 'floor' | 'gateway' | 'other';

/** One fixed rate of a scenario that has several. */
export interface RateStep {
  readonly label: string;
  readonly rate: number;
}

export interface Scenario {
  readonly name: string;
  readonly what: string;
  readonly requests: readonly RequestShape[];
  /** Of the gateway; all others answer 200. */
  readonly expectStatus: number;
  readonly key: KeyName;
  /** Seconds of a trial. */
  readonly seconds: number;
  /** Run when nothing is named. */
  readonly isDefault: boolean;
  readonly targets: readonly TargetKind[];
  /** Loaded on end in each trial, in this order; absent = as fast as it goes. */
  readonly steps?: readonly RateStep[];
}

const MINI = 'gpt-4o-mini';
/** Takes a question of a megabyte. */
const LONG = 'gpt-4.1-mini';
const CLAUDE = 'claude-haiku-4-5';
const GEMINI = 'gemini-2.5-flash';
const EMBEDDING = 'text-embedding-3-small';

const miss: RequestShape = { model: MINI, stream: false, question: 'unique' };
const hit: RequestShape = { ...miss, question: 'same' };
const stream: RequestShape = { ...miss, stream: true };

const EVERYBODY: readonly TargetKind[] = ['direct', 'floor', 'gateway', 'other'];
/** What only this gateway can answer, beside the floor. */
const OURS: readonly TargetKind[] = ['floor', 'gateway'];

/** Other gateways have no such path. */
const PLAIN: readonly TargetKind[] = ['direct', 'floor', 'gateway'];

/** A scenario with what most have in common; `own` says its requests, and what is different about it. */
const usual = (name: string, what: string, own: Pick<Scenario, 'requests'> & Partial<Scenario>): Scenario => ({
  ...{ name, what, expectStatus: 200, key: 'open', seconds: 5, isDefault: true, targets: EVERYBODY },
  ...own,
});

/** Other ways to ask, judged beside chat in the same run; by name, since they say nothing of the floor. */
const DIALECT = { isDefault: false, targets: ['gateway'] } as const;

const steps = (...rates: readonly number[]): readonly RateStep[] =>
  rates.map((rate) => ({ label: rate.toLocaleString('en'), rate }));

export const MIXED: readonly RequestShape[] = [
  { ...hit, share: 6 },
  { ...miss, share: 3 },
  { ...stream, share: 1 },
];

export const SCENARIOS: readonly Scenario[] = [
  usual('hit', 'the same question, answered by the exact cache', { requests: [hit] }),
  usual('hit-stream', 'the same question, replayed as a stream', { requests: [{ ...hit, stream: true }] }),
  usual('miss', 'a new question each time: admission, hold, upstream, settlement, cache write, log row', {
    requests: [miss],
  }),
  usual('miss-uncached', 'as miss, of a project without a cache', { requests: [miss], key: 'uncached' }),
  usual('stream', 'a new question each time, streamed in 20 chunks', { requests: [stream] }),
  usual('stream-500', 'a new question each time, streamed in 500 chunks', { requests: [{ ...stream, chunks: 500 }] }),
  usual('denied', 'a key without requests left: 429 for each', {
    requests: [miss],
    expectStatus: 429,
    key: 'tight',
    targets: OURS,
  }),
  usual('capped', 'a project at its cap: 402 for each', {
    requests: [miss],
    expectStatus: 402,
    key: 'capped',
    targets: OURS,
  }),
  usual('semantic-hit', 'another wording each time, answered by the semantic cache (embedding included)', {
    requests: [{ ...hit, question: 'reworded' }],
    key: 'semantic',
    targets: OURS,
  }),
  usual('anthropic-miss', 'as miss, translated for the Messages API and back', {
    requests: [{ ...miss, model: CLAUDE }],
  }),
  usual('messages-miss', 'as miss, by a client of the Messages API (left out where the gateway has none)', {
    requests: [{ ...miss, model: CLAUDE, path: '/v1/messages' }],
    targets: ['direct', 'floor', 'gateway'],
  }),
  usual('messages-openai', 'as miss, by a client of the Messages API, translated for OpenAI and back', {
    ...DIALECT,
    requests: [{ ...miss, path: '/v1/messages' }],
  }),
  usual('responses-miss', 'as miss, by a client of the Responses API', {
    ...DIALECT,
    requests: [{ ...miss, path: '/v1/responses' }],
  }),
  usual('responses-claude', 'as miss, by a client of the Responses API, translated for the Messages API and back', {
    ...DIALECT,
    requests: [{ ...miss, model: CLAUDE, path: '/v1/responses' }],
  }),
  usual('embeddings-hit', 'the same text, its vector from the exact cache', {
    ...DIALECT,
    requests: [{ ...hit, model: EMBEDDING, path: '/v1/embeddings' }],
  }),
  usual('image', 'a picture of another prompt each time', {
    ...DIALECT,
    requests: [{ ...miss, model: 'gpt-image-2', path: '/v1/images/generations' }],
  }),
  usual('speech', 'another text each time, spoken', {
    ...DIALECT,
    requests: [{ ...miss, model: 'gpt-4o-mini-tts', path: '/v1/audio/speech' }],
  }),
  usual('gemini-stream', 'as stream, translated from generateContent', { requests: [{ ...stream, model: GEMINI }] }),
  usual('large-100k', 'as miss, with a question of 100 kB', { requests: [{ ...miss, model: LONG, bytes: 100_000 }] }),
  usual('large-300k', 'as miss, with a question of 300 kB', { requests: [{ ...miss, model: LONG, bytes: 300_000 }] }),
  usual('large-1m', 'as miss, with a question of 1 MB', { requests: [{ ...miss, model: LONG, bytes: 1_000_000 }] }),
  usual('infer-cached', 'the same GET of a plain HTTP backend, answered by the cache in memory', {
    requests: [{ ...hit, method: 'GET', path: '/infer/bench/kept' }],
    targets: PLAIN,
  }),
  usual('infer-miss', 'another GET each time: admission, hold, backend, settlement, log row, cache entry', {
    requests: [{ ...miss, method: 'GET', path: '/infer/bench/kept' }],
    targets: PLAIN,
  }),
  usual('mixed', '60 % hits, 30 % misses, 10 % streams', { requests: MIXED }),
  usual('burst', 'misses at 200 req/s, at 5,000, and at 200 again; each for the time of a trial', {
    requests: [miss],
    isDefault: false,
    steps: [
      { label: '200', rate: 200 },
      { label: '5,000', rate: 5000 },
      { label: '200 after it', rate: 200 },
    ],
  }),
  usual('sustained', 'misses at 20, 50, 100, 500, 1,000 and 2,000 req/s', {
    requests: [miss],
    seconds: 60,
    isDefault: false,
    steps: steps(20, 50, 100, 500, 1000, 2000),
  }),
];

/** What one name stands for, beside the names of the table. */
export const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  streams: ['stream', 'stream-500'],
  dialects: [
    ...['hit', 'miss', 'messages-miss', 'messages-openai', 'responses-miss', 'responses-claude', 'embeddings-hit'],
  ],
  media: ['miss', 'miss-uncached', 'image', 'speech'],
  'large-payload': ['large-100k', 'large-300k', 'large-1m'],
};

/** Paths beyond chat completions that a scenario needs. */
export const pathsOf = ({ requests }: Scenario): readonly string[] => requests.flatMap(({ path }) => path ?? []);
