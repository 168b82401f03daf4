import { type ErrorKind, GatewayError, type UpstreamFailure } from '@llm0/core/errors/gateway-error';
import { redactMessage } from '@llm0/core/logs/redact';
import { isBilledStatus } from '../billing/billed-statuses';

/** Statuses of the upstream that speak of the request itself and are passed on as they are. */
const REJECTED: ReadonlySet<number> = new Set([400, 413, 422]);

const FAILURE_BY_STATUS: Readonly<Record<number, UpstreamFailure>> = {
  401: 'auth',
  403: 'auth',
  404: 'not_found',
  429: 'rate_limited',
};

/** The kind of error that each failure is, as far as one attempt goes. */
export const KIND_BY_FAILURE = {
  rate_limited: 'upstream_unavailable',
  server_error: 'upstream_error',
  auth: 'upstream_error',
  not_found: 'upstream_error',
  timeout: 'upstream_timeout',
  connection: 'upstream_error',
  rejected: 'upstream_rejected',
  malformed: 'upstream_error',
  truncated: 'upstream_error',
} as const satisfies Record<UpstreamFailure, ErrorKind>;

/** Routing's reaction to a status. */
export function failureOfStatus(status: number): UpstreamFailure {
  if (status >= 500) return 'server_error';
  if (status >= 400) return FAILURE_BY_STATUS[status] ?? 'rejected';
  return 'malformed';
}

export interface UpstreamAnswerFailure {
  readonly provider: string;
  readonly status: number;
  /** The vendor's own words; may be empty. */
  readonly message: string;
  readonly param?: string;
  readonly retryAfterMs?: number;
}

/** An answer other than 2xx (or an error inside a 2xx) as the gateway's own error. */
export function upstreamAnswerError(answer: UpstreamAnswerFailure): GatewayError {
  const failure = failureOfStatus(answer.status);
  const words = redactMessage(answer.message);
  const said = words === '' ? `answered with status ${answer.status} and no message.` : `answered: ${words}`;
  return new GatewayError(KIND_BY_FAILURE[failure], `${answer.provider} ${said}`, {
    failure,
    upstreamStatus: answer.status,
    param: answer.param,
    retryAfterMs: answer.retryAfterMs,
    // Another 4xx (no credit left, …) is the operator's business with the vendor, not the caller's fault.
    status: failure === 'rejected' ? (REJECTED.has(answer.status) ? answer.status : 502) : undefined,
  });
}

/** The upstream never gave a usable answer. `message` continues the provider's name. */
export function upstreamFailure(
  failure: UpstreamFailure,
  provider: string,
  message: string,
  cause?: unknown,
): GatewayError {
  return new GatewayError(KIND_BY_FAILURE[failure], `${provider} ${message}`, { failure, cause });
}

/** The code of our own for a host that takes no connection. */
const CONNECT_TIMEOUT = 'ConnectTimeout';

/** Nothing was sent: the host accepts no connections. */
export function notConnected(provider: string, ms: number): GatewayError {
  const cause = Object.assign(new Error('no connection in time'), { code: CONNECT_TIMEOUT });
  return upstreamFailure('timeout', provider, `accepted no connection within ${Math.round(ms)} ms.`, cause);
}

/** The runtime's codes for failed connections. */
const NEVER_CONNECTED: ReadonlySet<unknown> = new Set([
  'ConnectionRefused',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'FailedToOpenSocket',
  CONNECT_TIMEOUT,
  // Untrusted certificates: nothing was sent.
  ...['CERT_HAS_EXPIRED', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'UNABLE_TO_GET_ISSUER_CERT'],
]);

const UNRESOLVED: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'ENODATA', 'ESERVFAIL']);
const MAX_CAUSES = 5;

/** True where the host's name leads nowhere, at least for now. */
export function isUnresolved(error: unknown): boolean {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && current instanceof Error; depth++) {
    if ('code' in current && UNRESOLVED.has(current.code)) return true;
    current = current.cause;
  }
  return false;
}

/** True where the vendor can't have seen the request, and so can't bill it. */
export function wasNeverSent({ failure, cause }: GatewayError): boolean {
  return (
    (failure === 'connection' || failure === 'timeout') &&
    cause instanceof Error &&
    'code' in cause &&
    NEVER_CONNECTED.has(cause.code)
  );
}

/** Codes of the runtime for answers that are none of HTTP. */
const NOT_HTTP: ReadonlySet<unknown> = new Set([
  ...['Malformed_HTTP_Response', 'InvalidHTTPResponse', 'InvalidContentLength', 'UnrequestedUpgrade'],
  ...['UnsupportedTransferEncoding'],
]);

export const isNotHttp = (code: unknown): boolean => NOT_HTTP.has(code);

/** True if a server answered with unreadable content. */
export function wasMalformed({ failure, cause }: GatewayError): boolean {
  return failure === 'connection' && cause instanceof Error && 'code' in cause && isNotHttp(cause.code);
}

/** True if the vendor may bill a failed request: not if it refused it or never got it. */
export function mayBeBilled(error: unknown, provider: string): boolean {
  if (!(error instanceof GatewayError)) return true;
  if (error.upstreamStatus !== undefined) return isBilledStatus(provider, error.upstreamStatus, error.message);
  return !wasNeverSent(error);
}
