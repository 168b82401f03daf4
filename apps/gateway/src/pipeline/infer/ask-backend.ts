// A backend in trouble is not asked (503) until its breaker lets one request through.
import { backendProvider } from '@llm0/core/backends/backend';
import { type AttemptSummary, GatewayError, type UpstreamFailure } from '@llm0/core/errors/gateway-error';
import type { RequestTrace } from '@llm0/core/tracing/request-trace';
import {
  type BackendAnswer,
  callBackend,
  readRetryAfterMs,
  wasMalformed,
} from '@llm0/providers/transport/call-backend';
import type { Services } from '../../services/contract';
import { pause } from '../upstream/back-off';
import type { FieldTable } from './forward-headers';
import type { InferBackend, InferJob } from './plan-infer';

type Needs = Pick<Services, 'health' | 'clock' | 'metrics'>;

export interface BackendAsk {
  readonly backend: InferBackend;
  readonly job: Pick<InferJob, 'method' | 'path' | 'search'>;
  readonly fields: FieldTable;
  readonly stream?: ReadableStream<Uint8Array>;
  readonly signal: AbortSignal;
  /** Handed on with each attempt. */
  readonly trace?: RequestTrace;
  /** Monotonic, of the request. */
  readonly startMs: number;
  readonly note?: AskNote;
  /** Called with each attempt's status. */
  readonly onStatus?: (status: number) => void;
}

/** Called for each step. */
export interface AskNote {
  noteSent(): void;
  noteFailure(error: GatewayError): void;
  readonly attempts: { push(attempt: AttemptOf): unknown };
}

interface AttemptOf {
  readonly provider: string;
  readonly model: string;
  readonly outcome: string;
  readonly status?: number;
  readonly startMs: number;
  readonly latencyMs: number;
  readonly span?: number;
}

export interface AskedAnswer extends BackendAnswer {
  /** Milliseconds that the caller waited for the backend, all attempts together. */
  readonly waitMs: number;
  readonly requestedAtMs: number;
}

/** Methods that may be repeated. Source: https://www.rfc-editor.org/rfc/rfc9110#section-9.2.2 */
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);
/** Service unavailable, or its proxy has no upstream; other failures are answers. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504]);
const RETRIED: ReadonlySet<UpstreamFailure | undefined> = new Set<UpstreamFailure>([
  'connection',
  'timeout',
  'malformed',
]);
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1000;

/** Calls the backend, and retries if allowed. Throws one `GatewayError`. */
export async function askBackend(services: Needs, ask: BackendAsk): Promise<AskedAnswer> {
  const { backend, job, stream } = ask;
  const attempts = IDEMPOTENT.has(job.method) && stream === undefined ? 1 + backend.retries : 1;
  const askedMs = services.clock.monotonicMs();
  const url = `${backend.url}${job.path}${job.search}`;
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt === attempts;
    const tried = await tryOnce(services, { ...ask, url, isLast, attempt });
    if (tried.answer !== undefined) return { ...tried.answer, waitMs: services.clock.monotonicMs() - askedMs };
    if (isLast || !mayTryAgain(tried.error)) throw tried.error;
    const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1));
    await pause(pauseMs * (0.5 + Math.random()), ask.signal);
  }
}

type Tried =
  | { readonly answer: Omit<AskedAnswer, 'waitMs'>; readonly error?: undefined }
  | { readonly answer?: undefined; readonly error: GatewayError };

interface Trying extends BackendAsk {
  readonly url: string;
  readonly isLast: boolean;
  /** Counts from 1. */
  readonly attempt: number;
}

async function tryOnce(services: Needs, ask: Trying): Promise<Tried> {
  const { backend, job, stream, signal, note, url, trace, onStatus } = ask;
  const fields = trace === undefined ? ask.fields : { ...ask.fields, ...trace.headersFrom(ask.attempt) };
  const target = { provider: backendProvider(backend.name), model: backend.name };
  const { health } = services;
  const refusal = backend.isUnreadable ? sealed(backend) : refuse(services, ask);
  if (refusal !== undefined) return { error: refusal };
  const startedMs = services.clock.monotonicMs();
  const requestedAtMs = services.clock.nowMs();
  const log = (outcome: string, status?: number) =>
    note?.attempts.push({
      ...{ ...target, outcome, status, startMs: startedMs - ask.startMs },
      latencyMs: services.clock.monotonicMs() - startedMs,
      ...(trace?.hasSpans === true ? { span: ask.attempt } : {}),
    });
  note?.noteSent();
  try {
    const call = { backend: backend.name, method: job.method, headers: fields, timeoutMs: backend.timeoutMs };
    const answer = await callBackend({ ...call, url, stream, signal, fetch: backend.fetch, onStatus });
    const { status, headers } = answer.response;
    if (!AWAY.has(status)) {
      health.succeeded(target, { startedMs });
      log('ok', status);
      return { answer: { ...answer, requestedAtMs } };
    }
    const retryAfterMs = readRetryAfterMs(headers, services.clock.nowMs());
    health.failed(target, 'server_error', { startedMs, retryAfterMs });
    log('server_error', status);
    if (ask.isLast || retryAfterMs !== undefined) return { answer: { ...answer, requestedAtMs } };
    void answer.response.body?.cancel().catch(() => {});
    const said = `${backend.name} answered with status ${status}.`;
    const error = new GatewayError('upstream_error', said, { failure: 'connection', upstreamStatus: status });
    note?.noteFailure(error);
    return { error };
  } catch (cause) {
    if (!(cause instanceof GatewayError) || cause.failure === undefined) {
      health.abandoned(target);
      throw cause;
    }
    note?.noteFailure(cause);
    health.failed(target, cause.failure, { startedMs });
    services.metrics.upstreamFailures.inc({ provider: target.provider, failure: cause.failure });
    log(cause.failure);
    return { error: withKind(cause) };
  }
}

const mayTryAgain = ({ failure }: GatewayError): boolean => RETRIED.has(failure);

/** Distinguishes an unreachable backend from a bad answer. */
function withKind(error: GatewayError): GatewayError {
  if (error.failure !== 'connection') return error;
  const { message, failure, cause } = error;
  if (wasMalformed(error)) return new GatewayError('upstream_error', message, { failure: 'malformed', cause });
  return new GatewayError('upstream_unavailable', message, { failure, cause, retryAfterMs: 1000 });
}

function refuse({ health, clock }: Needs, { backend }: BackendAsk): GatewayError | undefined {
  const provider = backendProvider(backend.name);
  const reason = health.refuses({ provider, model: backend.name });
  if (reason === undefined) return undefined;
  const state = health.list().find((one) => one.provider === provider);
  const retryAfterMs = Math.max(1000, state?.openForMs ?? 0, state?.coolForMs ?? 0);
  const attempts: readonly AttemptSummary[] = [{ provider, model: backend.name, failure: reason, latencyMs: 0 }];
  const againAt = () => new Date(clock.nowMs() + retryAfterMs).toISOString();
  const why = {
    breaker_open: () => 'failed again and again: it is not asked right now.',
    cooling_down: () => `sent Retry-After: the next call is at ${againAt()}.`,
  } as const satisfies Record<typeof reason, () => string>;
  const message = `The backend "${backend.name}" ${why[reason]()}`;
  return new GatewayError('upstream_unavailable', message, { retryAfterMs, attempts });
}

const sealed = ({ name }: InferBackend): GatewayError =>
  new GatewayError('upstream_unavailable', `The backend "${name}" has headers sealed with another ENCRYPTION_KEY.`, {
    retryAfterMs: 60_000,
  });
