import type { CacheOutcome, CachePlace } from '@llm0/core/http-cache/http-cache';
import type { LeadFlight } from '@llm0/core/http-cache/http-flights';
import type { AnswerTimes, StoredAnswer } from '@llm0/core/http-cache/stored-answer';
import type { CacheWrite } from '@llm0/core/limits/hot-store';
import type { Admission } from '../request/admit';
import type { RequestContext } from '../request/open-context';
import type { AskedAnswer } from './ask-backend';
import type { FieldTable } from './forward-headers';
import type { InferMeter } from './infer-meter';
import type { CacheHit, InferJob, InferPlan } from './plan-infer';
import type { SentBody } from './read-stream';

/** One admitted request to a backend. */
export interface InferCall {
  readonly ctx: RequestContext;
  readonly admission: Admission<InferPlan, CacheHit>;
  readonly meter: InferMeter;
  readonly job: InferJob;
  readonly request: Request;
  readonly body: SentBody | undefined;
}

/** Consumers of an answer besides its caller. */
export interface Keeping {
  readonly place: CachePlace;
  readonly described: Omit<StoredAnswer, 'body'>;
}

/** An answer that the backend gives now. */
export interface PassedAnswer {
  readonly type: 'passed';
  readonly asked: AskedAnswer;
  /** Headers of the answer that the caller gets. */
  readonly fields: FieldTable;
  readonly keeping?: Keeping;
  /** Others wait for it. */
  readonly lead: LeadFlight;
}

/** An answer that is there as a whole. */
export interface KeptAnswer {
  readonly type: 'kept';
  readonly answer: StoredAnswer;
  readonly outcome: CacheOutcome;
  /** The backend was not asked for it. */
  readonly isFree: boolean;
  readonly waitMs: number;
  readonly write?: CacheWrite;
}

export type Produced = PassedAnswer | KeptAnswer;

export const timesOf = ({ requestedAtMs }: Pick<AskedAnswer, 'requestedAtMs'>, receivedAtMs: number): AnswerTimes => ({
  requestedAtMs,
  receivedAtMs,
});
