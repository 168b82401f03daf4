import type { IdempotencyClaim } from '@llm0/core/cache/idempotency/idempotency-keys';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { RequestGuard } from '@llm0/core/guardrails/request-guard';
import type { DialectName } from '@llm0/core/logs/log-record';
import type { ErrorEnvelope } from '../dialects/dialect';
import type { Services } from '../services/contract';
import { guardFailure } from './guard/guard-failure';
import { asLogAttempt, type Booking } from './metering/booking';
import { buildRecord, errorOutcome, type Outcome, settleRecord } from './metering/build-record';
import type { Authenticated } from './request/authenticate';
import { AdmissionDenied } from './request/denials';
import type { RequestContext } from './request/open-context';
import { asGatewayError, respondError } from './request/respond-error';

/** State of a failing request, for its row and error answer. */
export interface Progress {
  ctx?: RequestContext;
  principal?: Authenticated;
  /** As its caller sent it, until it is decoded. */
  body?: JsonObject | undefined;
  requestedModel?: string;
  stream?: boolean;
  /** Set once decoded, if LOG_BODIES stores its body. */
  request?: Pick<ChatRequest, 'wire'>;
  guard?: RequestGuard;
  claim?: Pick<IdempotencyClaim<unknown>, 'fail' | 'release'>;
  /** Set after admission: from then on it settles. */
  meter?: Pick<Booking, 'fail' | 'handedOver' | 'guard'>;
}

export interface Refused {
  readonly dialect: DialectName;
  readonly envelope: ErrorEnvelope;
  readonly progress: Progress;
  readonly cause: unknown;
}

type Needs = Pick<
  Services,
  'log' | 'bodyLog' | 'createId' | 'hotStore' | 'storeClock' | 'clock' | 'metrics' | 'refusals'
>;

/** The caller's error. Every authenticated request leaves a row, refused ones included. */
export async function handleRefusal(services: Needs, refused: Refused): Promise<Response> {
  const { envelope, progress } = refused;
  const { ctx, principal } = progress;
  const told = await guardFailure(progress.guard, asGatewayError(refused.cause, services.log, ctx));
  const error = boundFailures(services, progress, told);
  if (error.kind === 'client_closed') progress.claim?.release();
  else progress.claim?.fail(error);
  if (ctx !== undefined && principal !== undefined) {
    const known = { ...refused, ctx, principal, error };
    if (await leaveRow(services, known)) keepBody(services, known);
  }
  return respondError(error, {
    requestId: ctx?.requestId ?? services.createId(),
    dialect: envelope,
    projectCapNanoUsd: principal?.project.monthlyCapNanoUsd,
  });
}

const RETRY_MS = 1000;

/** Repeated refusals before a decision count against the key's rate. */
function boundFailures({ refusals }: Needs, { principal, meter }: Progress, error: GatewayError): GatewayError {
  const { httpStatus } = errorOutcome(error);
  const isTheirs = httpStatus >= 400 && httpStatus < 500 && httpStatus !== 429;
  const isDecided = meter !== undefined || error instanceof AdmissionDenied;
  if (principal === undefined || isDecided || !isTheirs || error.kind === 'client_closed') return error;
  if (error.kind === 'guardrail_blocked' && mayAskMore(principal)) return error;
  if (refusals.mayFail(principal.key.id)) return error;
  const message = `Too many requests with this API key were refused, the last one because: ${error.message}`;
  return new GatewayError('rate_limit_exceeded', message, { retryAfterMs: RETRY_MS, cause: error });
}

/** Guardrail refusals keep their own code, up to the key's limit. */
const mayAskMore = ({ key: { rateLimitPerMinute } }: Authenticated): boolean =>
  rateLimitPerMinute === null || rateLimitPerMinute > REFUSALS_A_MINUTE;

/** Limit of refusals per key. */
const REFUSALS_A_MINUTE = 600;

interface Known extends Refused {
  readonly ctx: RequestContext;
  readonly principal: Authenticated;
  readonly error: GatewayError;
}

/** False where the request shares its row with others. */
async function leaveRow(services: Needs, known: Known): Promise<boolean> {
  const { meter, guard } = known.progress;
  if (meter === undefined) return recordRefusal(services, known);
  // Guardrails from after admission may refuse a request.
  meter.guard ??= guard;
  meter.fail(known.error);
  await meter.handedOver;
  return true;
}

/** Writes the row of a request refused before admission; books nothing. */
async function recordRefusal(services: Needs, known: Known): Promise<boolean> {
  const { progress, dialect, ctx, principal, error } = known;
  const { requestedModel = '', stream = false } = progress;
  const createdAtMs = error instanceof AdmissionDenied ? error.nowMs : services.storeClock.nowMs();
  const latencyMs = services.clock.monotonicMs() - ctx.startMs;
  const outcome: Outcome = {
    ...{ requestedModel, model: requestedModel, stream },
    ...{ usage: ZERO_USAGE, costNanoUsd: 0, savedNanoUsd: 0 },
    latencyMs,
    overheadMs: latencyMs,
    ...{ cache: 'miss', attempts: (error.attempts ?? []).map(asLogAttempt), failoverCount: 0 },
    ...errorOutcome(error),
  };
  const record = buildRecord({ ctx, principal, dialect, createdAtMs, guard: progress.guard }, outcome);
  if (services.refusals.fold(record)) return false;
  await settleRecord(services, record, { held: false, tokens: 0 });
  return true;
}

function keepBody(services: Needs, { progress, envelope, ctx, principal, error }: Known): void {
  if (progress.request === undefined) return;
  const request = progress.request.wire?.body;
  services.bodyLog.keep(() => ({
    requestId: ctx.requestId,
    projectId: principal.project.id,
    createdAtMs: services.storeClock.nowMs(),
    request,
    response: envelope.encodeError(error),
  }));
}
