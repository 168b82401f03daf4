import { type CachedAnswer, packBody, type SentAnswer } from '@llm0/core/cache/cached-answer';
import type { IdempotencyClaim } from '@llm0/core/cache/idempotency/idempotency-keys';
import { packText } from '@llm0/core/cache/packed-text';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatResponse } from '@llm0/core/chat/response';
import { piecesOfJson } from '@llm0/core/chat/write-json-in-slices';
import type { GivenBodies } from '@llm0/core/logs/body-log';
import type { Dialect, ResponseSummary } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import { givenBodies } from '../metering/logged-bodies';
import type { Meter } from '../metering/meter';
import type { Admission } from '../request/admit';
import type { RequestContext } from '../request/open-context';
import { type HeaderTable, responseHeaders } from '../request/response-headers';
import type { Completion } from '../upstream/completion';
import { ownerOf } from './answer-owner';

export type RespondNeeds = Pick<
  Services,
  'log' | 'bodyLog' | 'clock' | 'metrics' | 'storedResponses' | 'config' | 'readers'
>;

export interface RespondInput {
  readonly dialect: Dialect;
  readonly ctx: RequestContext;
  readonly admission: Admission;
  readonly answer: Completion;
  readonly meter: Meter;
  /** Claim of a request with an Idempotency-Key. */
  readonly claim: IdempotencyClaim<CachedAnswer>;
  /** Its signal fires when the caller disconnects. It is costly, so only slow answers ask for it. */
  readonly httpRequest: Request;
  /** Called once the last byte went out or the caller left. */
  readonly onEnd: () => void;
}

/** A complete answer that is settled. */
export interface Finished {
  readonly response: ChatResponse;
  readonly summary: ResponseSummary;
  /** JSON text of the answer; absent for streams of formats without one. */
  readonly text: string | undefined;
  /** All bytes the caller gets, where they are known and an `Idempotency-Key` is to give them again. */
  readonly bytes?: readonly Uint8Array[];
}

/**
 * Stores a settled answer for later turns, replays and the body log. Resolves (undefined: at once) when the answer may
 * end.
 */
export function finishCompletion(
  services: RespondNeeds,
  input: RespondInput,
  finished: Finished,
): Promise<void> | undefined {
  const { text } = finished;
  const keeping =
    text !== undefined && input.dialect.responseStorage !== undefined && keepForLater(services, input, text);
  const claimed = input.claim.isNone ? undefined : completeClaim(input, finished);
  if (services.bodyLog.isOff !== true) keepBodies(services, input, finished);
  const { handedOver } = input.meter;
  if (keeping instanceof Promise) return Promise.all([keeping, claimed, handedOver]).then(() => {});
  if (claimed === undefined) return handedOver;
  return handedOver === undefined ? claimed : claimed.then(() => handedOver);
}

function keepBodies({ bodyLog }: RespondNeeds, input: RespondInput, { response, summary, text }: Finished): void {
  const bodies = () => bodiesOf(input, text ?? input.dialect.encodeResponse(response, summary));
  // A large request is cut and searched for secrets in a turn of its own.
  if (input.admission.plan.request.digest === undefined) bodyLog.keep(bodies);
  else setImmediate(() => bodyLog.keep(bodies));
}

function completeClaim(input: RespondInput, { response, summary, bytes }: Finished): Promise<void> | undefined {
  return input.claim.complete(() =>
    storedAnswer({ summary, response: keptOf(input, response) }, bytes && sentOf(bytes)),
  );
}

/** Owner of outgoing bytes. */
export const takenBy = ({ readers }: RespondNeeds, { httpRequest: request, ctx, admission }: RespondInput) => {
  return { readers, request, held: ctx.held, key: admission.principal.key.id };
};

/** The provider's original answer, for later checks. */
export const keptOf = ({ answer }: Pick<RespondInput, 'answer'>, response: ChatResponse): ChatResponse =>
  answer.original?.() ?? response;

/** Bodies that LOG_BODIES stores of an answered request, at least in part. `response`: JSON text. */
export function bodiesOf(input: RespondInput, response: string): GivenBodies {
  return givenBodies(input, input.admission.plan.request.wire?.body, response);
}

type SentBody = Pick<SentAnswer, 'body' | 'bytes'>;

function sentOf(parts: readonly Uint8Array[]): SentBody {
  return { body: packBody(parts), bytes: lengthOf(parts) };
}

export const lengthOf = (parts: readonly Uint8Array[]): number =>
  parts.reduce((sum, { byteLength }) => sum + byteLength, 0);

/** Replayed answer of a request with an Idempotency-Key. */
export function storedAnswer(
  { response, summary }: Pick<Finished, 'response' | 'summary'>,
  body?: SentBody,
): CachedAnswer {
  const { provider, model, usage, costNanoUsd, requestId, createdSeconds } = summary;
  const sent = { requestId, ...body };
  const dated = { ...response, createdSeconds: response.createdSeconds ?? createdSeconds };
  return { v: 1, provider, model, response: dated, usage, costNanoUsd, sent };
}

/** Stores a complete answer if format and caller allow it. */
function keepForLater(
  services: Pick<Services, 'storedResponses'>,
  { dialect, ctx, admission }: RespondInput,
  answer: string,
): Promise<void> | void {
  // A replayed answer is already stored.
  if (admission.decision.type === 'replayed') return;
  const { requestId } = ctx;
  const part = dialect.responseStorage?.partToKeep(admission.plan.request, requestId, JSON.parse(answer) as JsonObject);
  if (part === undefined) return;
  const owner = ownerOf(ctx, admission.principal);
  const keep = (input: string) => services.storedResponses.keep({ ...part, ...owner, id: requestId, input, answer });
  if (admission.plan.request.digest === undefined) return keep(JSON.stringify(part.input));
  return piecesOfJson(part.input).then(packText).then(keep);
}

const STREAM_HEADERS: HeaderTable = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};

/** Headers of a body or stream in the caller's format, all but cost and tokens. */
export function bodyHeaders({ dialect, ctx, admission, answer }: RespondInput, overheadMs: number): HeaderTable {
  const headers = responseHeaders(ctx, admission, answer, overheadMs);
  if (admission.plan.request.stream) Object.assign(headers, STREAM_HEADERS);
  else headers['Content-Type'] = 'application/json';
  if (dialect.requestIdHeader !== undefined) headers[dialect.requestIdHeader] = ctx.requestId;
  return headers;
}
