/** What each scenario asks, and which floor it is compared with. */
export interface Scenario {
  readonly name: string;
  readonly what: string;
  readonly stream: boolean;
  readonly unique: boolean;
  readonly model: string;
  readonly expectStatus: number;
  /** Which key it uses. */
  readonly key: 'open' | 'tight';
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'hit',
    what: 'the same question, answered by the exact cache',
    stream: false,
    unique: false,
    model: 'gpt-4o-mini',
    expectStatus: 200,
    key: 'open',
  },
  {
    name: 'miss',
    what: 'a new question each time: admission, hold, upstream, settlement, cache write, log row',
    stream: false,
    unique: true,
    model: 'gpt-4o-mini',
    expectStatus: 200,
    key: 'open',
  },
  {
    name: 'stream',
    what: 'a new question each time, streamed in 20 chunks',
    stream: true,
    unique: true,
    model: 'gpt-4o-mini',
    expectStatus: 200,
    key: 'open',
  },
  {
    name: 'denied',
    what: 'a key without requests left: 429 for each',
    stream: false,
    unique: false,
    model: 'gpt-4o-mini',
    expectStatus: 429,
    key: 'tight',
  },
];
