import type { AnswerClaim } from '@llm0/core/cache/idempotency/idempotent-answers';
import type { StoredAnswer } from '@llm0/core/cache/stored-answer';
import type { ChatRequest } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Dialect } from '../../dialects/dialect';
import type { Services } from '../../services/contract';
import { admit } from '../exchange/admit';
import { type Authenticated, authenticate } from '../exchange/authenticate';
import { claimAnswer, hasIdempotencyKey, NO_TURN } from '../exchange/idempotency';
import { type Exchange, openExchange } from '../exchange/open-exchange';
import { readRequestBody } from '../exchange/read-request';
import { asGatewayError, respondError } from '../exchange/respond-error';
import { Meter } from '../ledger/meter';
import { recordRefusal } from '../ledger/record-refusal';
import { type Completion, type PendingCompletion, produceAnswer } from './produce-answer';
import { recallConversation } from './recall-conversation';
import { respond } from './respond';

/** What is known of a request when it fails, for its row and its error answer. */
interface Progress {
  exchange?: Exchange;
  principal?: Authenticated;
  requestedModel?: string;
  stream?: boolean;
  request?: ChatRequest;
  claim?: AnswerClaim<StoredAnswer>;
  /** Set once admitted: from then on the meter settles. */
  meter?: Meter;
}

/** `POST` of a chat dialect: the request path, in reading order. */
export async function handleChat(services: Services, dialect: Dialect, httpRequest: Request): Promise<Response> {
  const progress: Progress = {};
  const release = services.activity.enter();
  try {
    const exchange = openExchange(services, httpRequest);
    progress.exchange = exchange;
    const principal = await authenticate(services, httpRequest);
    progress.principal = principal;
    const body = await readRequestBody(services, httpRequest);
    if (typeof body.model === 'string') progress.requestedModel = body.model;
    progress.stream = body.stream === true;
    const { headers } = httpRequest;
    const { keeping } = dialect;
    const request =
      keeping === undefined
        ? dialect.decodeRequest(body, headers)
        : await recallConversation(services, { dialect, keeping, body, headers, projectId: principal.project.id });
    progress.request = request;
    const input = { exchange, principal, dialect: dialect.name, request };
    const turn = hasIdempotencyKey(httpRequest) ? await claimAnswer(services, input, httpRequest) : NO_TURN;
    const { claim } = turn;
    progress.claim = claim;
    const admission = turn.replay ?? (await admit(services, input));
    progress.principal = admission.principal;
    const meter = new Meter(services, { exchange, dialect: dialect.name, admission });
    progress.meter = meter;
    const pending = produceAnswer(services, exchange, admission);
    const answer = pending.ready ?? (await untilGone(httpRequest.signal, pending));
    meter.attach(answer);
    return await respond(services, {
      ...{ dialect, exchange, admission, answer, meter, claim, onEnd: release },
      // Asked for only by answers that take time: making it costs as much as reading the body.
      get signal() {
        return httpRequest.signal;
      },
    });
  } catch (cause) {
    release();
    return refuse(services, { dialect, progress, error: asGatewayError(cause, services.log) });
  }
}

/** Rejects as soon as the caller is gone, and gives up its place, so that the last one out cancels upstream. */
async function untilGone(signal: AbortSignal, pending: PendingCompletion): Promise<Completion> {
  let onAbort: (() => void) | undefined;
  const gone = new Promise<never>((_resolve, reject) => {
    onAbort = () => {
      pending.leave();
      reject(new GatewayError('client_closed', 'The caller closed the connection.'));
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort);
  });
  try {
    return await Promise.race([pending.answer, gone]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}

interface Failure {
  readonly dialect: Dialect;
  readonly progress: Progress;
  readonly error: GatewayError;
}

/** Every request that passed auth leaves a row, refused ones too. */
async function refuse(services: Services, failure: Failure): Promise<Response> {
  const { dialect, progress, error } = failure;
  const { exchange, principal, meter } = progress;
  if (error.kind === 'client_closed') progress.claim?.release();
  else progress.claim?.fail(error);
  if (meter !== undefined) {
    if (error.kind === 'client_closed') meter.abort();
    else meter.fail(error);
    await meter.handedOver;
  } else if (exchange !== undefined && principal !== undefined) {
    const { requestedModel, stream } = progress;
    await recordRefusal(services, { dialect: dialect.name, exchange, principal, requestedModel, stream, error });
  }
  if (exchange !== undefined && principal !== undefined && progress.request !== undefined) {
    const request = progress.request.wire?.body;
    services.bodyLog.keep(() => ({
      requestId: exchange.requestId,
      projectId: principal.project.id,
      createdAtMs: services.storeClock.nowMs(),
      request,
      response: dialect.encodeError(error),
    }));
  }
  return respondError(error, {
    requestId: exchange?.requestId ?? services.createId(),
    dialect,
    projectCapNanoUsd: principal?.project.monthlyCapNanoUsd,
  });
}
