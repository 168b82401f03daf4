import { GatewayError } from '@llm0/core/errors/gateway-error';
import { allowedToolsOf } from '@llm0/core/keys/api-key';
import { refreshPrincipal } from '../../pipeline/exchange/load-principal';
import { addDecisionHeaders, type HeaderTable } from '../../pipeline/exchange/response-headers';
import type { Services } from '../../services/contract';
import type { CallAdmission, CallBooking } from '../calls/call-booking';
import { type CallTarget, FORWARDED, type ForwardedMethod } from '../calls/resolve-target';
import { startCall } from '../calls/start-call';
import { META } from '../wire/protocol';
import { unbindState } from './bound-state';
import { callerOf, levelOwner, type McpContext } from './context';
import { relayAnswer } from './relay';
import { selfOf } from './self';

/** What a failed request leaves: its row is written by whoever answers it. */
export interface Forwarding {
  booking?: CallBooking;
  admission?: CallAdmission;
}

/** Sends a request on to the server that it names, and its answer back. */
export async function forward(
  services: Services,
  given: McpContext,
  method: ForwardedMethod,
  progress: Forwarding,
): Promise<Response> {
  const { context, target } = await resolveFresh(services, given, method);
  const { exchange, principal, sender, request, runId, bytesIn, signal } = context;
  const { entry, tool, isPriced, headers } = target;
  const owner = { keyHash: principal.keyHash, serverId: entry.server.id };
  const params = withState(withLogLevel(services, context, target), owner);
  const call = { exchange, principal, registry: context.registry, entry, tool, runId, bytesIn, isPriced };
  const ask = { method: request.method, params, client: sender.client, caller: callerOf(context), headers, signal };
  const { answer, booking, admission } = await startCall(services, { ...call, ask }, (booked, admitted) => {
    progress.booking = booked;
    progress.admission = admitted;
  });
  const relay = { context, alias: entry.server.alias, owner, self: selfOf(services), answer, booking };
  return relayAnswer(services, { ...relay, headers: headersOf(context, admission) });
}

function withState(params: CallTarget['params'], owner: Parameters<typeof unbindState>[0]): CallTarget['params'] {
  if (params.requestState === undefined) return params;
  return { ...params, requestState: unbindState(owner, params.requestState) };
}

/** What a client of the older way has set once. */
function withLogLevel({ mcp }: Services, context: McpContext, { params }: CallTarget): CallTarget['params'] {
  const level = context.sender.client.era === 'modern' ? undefined : mcp.logLevels.get(levelOwner(context));
  if (level === undefined) return params;
  return { ...params, _meta: { ...(params._meta as object | undefined), [META.logLevel]: level } };
}

/** What is not there, or not for this key, may have come since this process read its tables. */
async function resolveFresh(services: Services, context: McpContext, method: ForwardedMethod) {
  const resolve = FORWARDED[method];
  try {
    return { context, target: await resolve(context) };
  } catch (refusal) {
    const mayBeStale =
      refusal instanceof GatewayError && (refusal.kind === 'not_found' || refusal.kind === 'permission_denied');
    if (!mayBeStale) throw refusal;
    const principal = await refreshPrincipal(services, context.principal, refusal);
    const fresh = { ...context, principal, patterns: allowedToolsOf(principal) };
    return { context: fresh, target: await resolve(fresh) };
  }
}

function headersOf({ exchange, runId }: McpContext, admission: CallAdmission): HeaderTable {
  const headers: HeaderTable = {
    'X-Request-Id': exchange.requestId,
    'X-LLM0-Run-Id': runId,
  };
  addDecisionHeaders(headers, admission);
  return headers;
}
