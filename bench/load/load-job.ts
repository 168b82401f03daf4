import type { Percentiles } from './latencies';

/** One kind of request; a job sends several in turn. */
export interface RequestShape {
  /** From the host on; `/v1/chat/completions` by default. */
  readonly path?: string;
  /** GET has no body: what is unique stands in its query. */
  readonly method?: 'GET' | 'POST';
  readonly model: string;
  readonly stream: boolean;
  /** `unique`: no cache can answer it. `reworded`: the exact cache can't, the semantic one can. */
  readonly question: 'same' | 'unique' | 'reworded';
  /** Sent as it is, instead of a question. */
  readonly body?: object;
  /** Length of the question; by default a few words. */
  readonly bytes?: number;
  /** Content chunks that the fake upstream is asked for; 20 by default. */
  readonly chunks?: number;
  /** How many of the requests in a round are of this shape. */
  readonly share?: number;
}

/** Who asks: one key, or many in turn, each with a customer of its own. */
export type Callers =
  | { readonly type: 'one'; readonly apiKey: string }
  | { readonly type: 'many'; readonly count: number; readonly customers: boolean };

/** What one load process does; handed over as JSON. */
export interface LoadJob {
  readonly url: string;
  readonly callers: Callers;
  /** Beside the callers' own. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly connections: number;
  readonly seconds: number;
  /** Ends after so many requests, if that comes first. */
  readonly amount?: number;
  readonly requests: readonly RequestShape[];
  readonly expectStatus: number;
  /** Requests per second, sent on time whether earlier ones are answered or not; absent = as fast as it goes. */
  readonly rate?: number;
}

export interface LoadResult {
  /** Answered as expected. */
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly latencyMs: Percentiles | null;
  /** Time to first byte of the answer's body; null where it was not measured. */
  readonly ttfbMs: Percentiles | null;
  /** Answers with another status than expected, cut streams, and connection errors. */
  readonly errors: number;
  /** Unexpected statuses and failures by how often they came. */
  readonly errorKinds: Readonly<Record<string, number>>;
  /** Of the client, start-up excluded. */
  readonly clientCpuSeconds: number;
  /** Epoch milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
}
