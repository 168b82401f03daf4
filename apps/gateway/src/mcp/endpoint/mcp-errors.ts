import { type ErrorKind, GatewayError } from '@llm0/core/errors/gateway-error';
import type { ErrorEnvelope } from '../../dialects/dialect';
import { RPC, type RpcErrorBody, type RpcId, rpcError } from '../wire/json-rpc';

/** Codes of this gateway's own, from the range that the protocol leaves to implementations. */
export const OWN_CODES = {
  authentication: -32010,
  permission: -32011,
  budget: -32012,
  rateLimit: -32013,
  unavailable: -32014,
  upstream: -32015,
  upstreamTimeout: -32016,
} as const;

const CODE_BY_KIND = {
  invalid_json: RPC.parseError,
  invalid_request: RPC.invalidRequest,
  unsupported_parameter: RPC.invalidParams,
  model_not_priced: RPC.invalidParams,
  request_over_limit: OWN_CODES.budget,
  context_length_exceeded: RPC.invalidParams,
  missing_api_key: OWN_CODES.authentication,
  invalid_api_key: OWN_CODES.authentication,
  key_expired: OWN_CODES.permission,
  model_not_allowed: OWN_CODES.permission,
  project_inactive: OWN_CODES.permission,
  permission_denied: OWN_CODES.permission,
  sign_in_again: OWN_CODES.permission,
  spend_cap_exceeded: OWN_CODES.budget,
  key_budget_exceeded: OWN_CODES.budget,
  label_budget_exceeded: OWN_CODES.budget,
  team_budget_exceeded: OWN_CODES.budget,
  user_budget_exceeded: OWN_CODES.budget,
  run_budget_exceeded: OWN_CODES.budget,
  run_stopped: OWN_CODES.budget,
  guardrail_blocked: RPC.invalidParams,
  model_not_found: RPC.invalidParams,
  not_found: RPC.invalidParams,
  method_not_allowed: RPC.invalidRequest,
  conflict: RPC.invalidRequest,
  idempotency_conflict: RPC.invalidRequest,
  request_too_large: RPC.invalidRequest,
  rate_limit_exceeded: OWN_CODES.rateLimit,
  customer_spend_limit: OWN_CODES.budget,
  upstream_rejected: OWN_CODES.upstream,
  upstream_error: OWN_CODES.upstream,
  upstream_unavailable: OWN_CODES.upstream,
  upstream_rate_limited: OWN_CODES.upstream,
  upstream_timeout: OWN_CODES.upstreamTimeout,
  not_cached: OWN_CODES.unavailable,
  overloaded: OWN_CODES.unavailable,
  store_unavailable: OWN_CODES.unavailable,
  client_closed: OWN_CODES.unavailable,
  internal: RPC.internalError,
} as const satisfies Record<ErrorKind, number>;

/** The failure happened behind the gateway, so the HTTP status is 200. */
const BEHIND: ReadonlySet<ErrorKind> = new Set([
  ...(['upstream_rejected', 'upstream_error', 'upstream_unavailable', 'upstream_rate_limited'] as const),
  'upstream_timeout',
]);

/** A call with an unknown tool, prompt, resource or argument. */
export class CallRefusal extends GatewayError {
  constructor(
    kind: ErrorKind,
    message: string,
    readonly told: {
      readonly code?: number;
      readonly param?: string;
      readonly httpStatus?: number;
      readonly data?: RpcErrorBody['data'];
    } = {},
  ) {
    super(kind, message, { param: told.param, status: told.httpStatus ?? 200 });
  }
}

/** The gateway's error in JSON-RPC; `data` helps an agent to react. */
export function rpcErrorOf(error: GatewayError, requestId?: string): RpcErrorBody {
  const told = error instanceof CallRefusal ? error.told : {};
  const { kind, param, retryAfterMs } = error;
  const own = {
    type: kind,
    ...(param === undefined ? {} : { param }),
    ...(retryAfterMs === undefined ? {} : { retry_after_ms: Math.ceil(retryAfterMs) }),
    ...(requestId === undefined ? {} : { request_id: requestId }),
  };
  return { code: told.code ?? CODE_BY_KIND[kind], message: error.message, data: told.data ?? own };
}

/** The envelope for the answer of one request. */
export const mcpEnvelope = (id: RpcId | null): ErrorEnvelope => ({
  encodeError: (error, requestId) => JSON.stringify(rpcError(id, rpcErrorOf(error, requestId))),
});

/** Error for the caller: failures behind the gateway have status 200. */
export function asTold(error: GatewayError): GatewayError {
  if (!BEHIND.has(error.kind) || error.status === 200) return error;
  const { kind, message, param, failure, upstreamStatus, cause } = error;
  return new GatewayError(kind, message, { param, failure, upstreamStatus, cause, status: 200 });
}
