import type { JsonObject } from '@llm0/core/chat/json';
import type { FakeBehaviour } from './behaviour';
import type { Billed } from './bill';
import type { AnswerCounters } from './serve-answer';

export interface RecordedRequest {
  readonly path: string;
  /** Query parameters. */
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

export interface FakeCounters extends AnswerCounters {
  /** Chat requests that came in. */
  received: number;
  /** Requests held at the gate right now. */
  waiting: number;
}

export interface FakeControl {
  /** What every request gets unless something below says otherwise. */
  setDefault(behaviour: FakeBehaviour): void;
  setModel(model: string, behaviour: FakeBehaviour): void;
  /** Behaviours for the next requests, one each. */
  enqueue(...behaviours: readonly FakeBehaviour[]): void;
  /** From now on no request is answered until `release`. */
  hold(): void;
  release(): void;
  /** Forgets everything set, recorded and counted. */
  reset(): void;
  readonly counters: Readonly<FakeCounters>;
  /** What a vendor that bills all it did not refuse has on its books (`GET /billed`). */
  billed(): readonly Billed[];
}

export interface FakeUpstream {
  /** Without a path. */
  readonly url: string;
  /** Ends in `/v1`, as an OpenAI base URL does. */
  readonly baseUrl: string;
  readonly port: number;
  /** Recorded chat requests, oldest first. */
  readonly requests: readonly RecordedRequest[];
  readonly control: FakeControl;
  stop(): Promise<void>;
}

export interface FakeUpstreamOptions {
  readonly port?: number;
  readonly hostname?: string;
  /** Keep every request's body, headers and bill (default). Off for benches. */
  readonly record?: boolean;
  /** Models that `/v1/models` lists. */
  readonly models?: readonly string[];
}
