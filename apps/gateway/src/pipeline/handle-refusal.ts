import type { IdempotencyClaim } from '@llm0/core/cache/idempotency/idempotency-keys';
import type { ChatRequest } from '@llm0/core/chat/request';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import type { DialectName } from '@llm0/core/logs/log-record';
import type { ErrorEnvelope } from '../dialects/dialect';
import type { Services } from '../services/contract';
import { AdmissionDenied } from './exchange/denials';
import type { Authenticated } from './exchange/load-principal';
import type { Exchange } from './exchange/open-exchange';
import { asGatewayError, respondError } from './exchange/respond-error';
import type { Booking } from './ledger/booking';
import { buildRecord, errorOutcome, type Outcome } from './ledger/build-record';
import { settleRecord } from './ledger/settle-record';

/** What is known of a request when it fails, for its row and its error answer. */
export interface Progress {
  exchange?: Exchange;
  principal?: Authenticated;
  requestedModel?: string;
  stream?: boolean;
  /** Set once decoded, where its body is kept for LOG_BODIES. */
  request?: Pick<ChatRequest, 'wire'>;
  claim?: Pick<IdempotencyClaim<unknown>, 'fail' | 'release'>;
  /** Set once admitted: from then on it settles. */
  meter?: Pick<Booking, 'fail' | 'handedOver'>;
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

/** The error as the caller is told it. Every request that passed auth leaves a row, refused ones too. */
export async function handleRefusal(services: Needs, refused: Refused): Promise<Response> {
  const { envelope, progress } = refused;
  const error = asGatewayError(refused.cause, services.log);
  const { exchange, principal } = progress;
  if (error.kind === 'client_closed') progress.claim?.release();
  else progress.claim?.fail(error);
  if (exchange !== undefined && principal !== undefined) {
    const known = { ...refused, exchange, principal, error };
    if (await leaveRow(services, known)) keepBody(services, known);
  }
  return respondError(error, {
    requestId: exchange?.requestId ?? services.createId(),
    dialect: envelope,
    projectCapNanoUsd: principal?.project.monthlyCapNanoUsd,
  });
}

interface Known extends Refused {
  readonly exchange: Exchange;
  readonly principal: Authenticated;
  readonly error: GatewayError;
}

/** False where the request shares its row with others. */
async function leaveRow(services: Needs, known: Known): Promise<boolean> {
  const { meter } = known.progress;
  if (meter === undefined) return recordRefusal(services, known);
  meter.fail(known.error);
  await meter.handedOver;
  return true;
}

/** The row of a request that was refused before it was admitted; nothing is booked. */
async function recordRefusal(services: Needs, known: Known): Promise<boolean> {
  const { progress, dialect, exchange, principal, error } = known;
  const { requestedModel = '', stream = false } = progress;
  const createdAtMs = error instanceof AdmissionDenied ? error.nowMs : services.storeClock.nowMs();
  const latencyMs = services.clock.monotonicMs() - exchange.startMs;
  const outcome: Outcome = {
    ...{ requestedModel, model: requestedModel, stream },
    ...{ usage: ZERO_USAGE, costNanoUsd: 0, savedNanoUsd: 0 },
    timing: { latencyMs, overheadMs: latencyMs },
    ...{ cache: 'miss', attempts: [], failoverCount: 0 },
    ...errorOutcome(error),
  };
  const record = buildRecord({ exchange, principal, dialect, createdAtMs }, outcome);
  if (services.refusals.fold(record)) return false;
  await settleRecord(services, record, { held: false, tokens: 0 });
  return true;
}

function keepBody(services: Needs, { progress, envelope, exchange, principal, error }: Known): void {
  if (progress.request === undefined) return;
  const request = progress.request.wire?.body;
  services.bodyLog.keep(() => ({
    requestId: exchange.requestId,
    projectId: principal.project.id,
    createdAtMs: services.storeClock.nowMs(),
    request,
    response: envelope.encodeError(error),
  }));
}
