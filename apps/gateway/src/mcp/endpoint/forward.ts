import { GatewayError } from '@llm0/core/errors/gateway-error';
import { allowedToolsOf } from '@llm0/core/keys/api-key';
import { refreshPrincipal } from '../../pipeline/request/authenticate';
import { addDecisionHeaders, type HeaderTable } from '../../pipeline/request/response-headers';
import type { Services } from '../../services/contract';
import type { CallAdmission, CallBooking } from '../calls/call-booking';
import { type CallTarget, FORWARDED, type ForwardedMethod } from '../calls/resolve-target';
import { startCall } from '../calls/start-call';
import { META } from '../wire/protocol';
import { unbindState } from './bound-state';
import { callerOf, levelOwner, type McpRequest } from './mcp-request';
import { relayAnswer } from './relay';
import { selfOf } from './self';

/** State of a failed request; the head writes its row. */
export interface Forwarding {
  booking?: CallBooking;
  admission?: CallAdmission;
}

/** Sends a request on to the server that it names, and its answer back. */
export async function forward(
  services: Services,
  given: McpRequest,
  method: ForwardedMethod,
  progress: Forwarding,
): Promise<Response> {
  const { mcpRequest, target } = await resolveFresh(services, given, method);
  const { ctx, principal, sender, request, runId, bytesIn, signal } = mcpRequest;
  const { entry, tool, isPriced, headers } = target;
  const owner = { keyHash: principal.keyHash, serverId: entry.server.id };
  const params = withState(withLogLevel(services, mcpRequest, target), owner);
  const call = { ctx, principal, registry: mcpRequest.registry, entry, tool, runId, bytesIn, isPriced };
  const ask = { method: request.method, params, client: sender.client, caller: callerOf(mcpRequest), headers, signal };
  const { answer, booking, admission } = await startCall(services, { ...call, ask }, (booked, admitted) => {
    progress.booking = booked;
    progress.admission = admitted;
  });
  const relay = { mcpRequest, alias: entry.server.alias, owner, self: selfOf(services), answer, booking };
  return relayAnswer(services, { ...relay, headers: headersOf(mcpRequest, admission) });
}

function withState(params: CallTarget['params'], owner: Parameters<typeof unbindState>[0]): CallTarget['params'] {
  if (params.requestState === undefined) return params;
  return { ...params, requestState: unbindState(owner, params.requestState) };
}

/** Settings of a client with a session. */
function withLogLevel({ mcp }: Services, mcpRequest: McpRequest, { params }: CallTarget): CallTarget['params'] {
  const level = mcpRequest.sender.client.era === 'modern' ? undefined : mcp.logLevels.get(levelOwner(mcpRequest));
  if (level === undefined) return params;
  return { ...params, _meta: { ...(params._meta as object | undefined), [META.logLevel]: level } };
}

/** A missing or forbidden object may have appeared since the last table read. */
async function resolveFresh(services: Services, mcpRequest: McpRequest, method: ForwardedMethod) {
  const resolve = FORWARDED[method];
  try {
    return { mcpRequest, target: await resolve(mcpRequest) };
  } catch (refusal) {
    const mayBeStale =
      refusal instanceof GatewayError && (refusal.kind === 'not_found' || refusal.kind === 'permission_denied');
    if (!mayBeStale) throw refusal;
    const principal = await refreshPrincipal(services, mcpRequest.principal, refusal);
    const fresh = { ...mcpRequest, principal, patterns: allowedToolsOf(principal) };
    return { mcpRequest: fresh, target: await resolve(fresh) };
  }
}

function headersOf({ ctx, runId }: McpRequest, admission: CallAdmission): HeaderTable {
  const headers: HeaderTable = {
    'X-Request-Id': ctx.requestId,
    'X-LLM0-Run-Id': runId,
  };
  addDecisionHeaders(headers, admission);
  return headers;
}
