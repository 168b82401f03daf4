// Every failure of a known key counts against its rate, once, and a failed call leaves a row.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Authenticated } from '../../pipeline/request/authenticate';
import { AdmissionDenied } from '../../pipeline/request/denials';
import type { RequestContext } from '../../pipeline/request/open-context';
import { asGatewayError, respondError } from '../../pipeline/request/respond-error';
import type { Services } from '../../services/contract';
import { recordRefusedCall } from '../calls/call-booking';
import { callJob } from '../calls/plan-call';
import { namedTarget } from '../calls/resolve-target';
import { ConsentNeeded } from '../oauth/consent-needed';
import { RpcFailure, type RpcId, rpcError } from '../wire/json-rpc';
import { admitOwn } from './admit-own';
import { askConsent } from './ask-consent';
import type { Forwarding } from './forward';
import { asTold, mcpEnvelope } from './mcp-errors';
import type { McpRequest } from './mcp-request';

/** State of a failing request. */
export interface Progress extends Forwarding {
  ctx?: RequestContext;
  principal?: Authenticated;
  mcpRequest?: McpRequest;
  /** The gateway's own decision was asked for. */
  isCounted?: boolean;
  id: RpcId | null;
  readonly path: string;
}

/** The gateway's own decision, once a request. The current key and project; throws if denied. */
export function countOwn(
  services: Services,
  request: Parameters<typeof admitOwn>[1],
  { progress, method }: { readonly progress: Progress; readonly method: string },
): Promise<Authenticated> {
  progress.isCounted = true;
  return admitOwn(services, request, method);
}

/** A failure before the decision is an answer too: it counts, and a key beyond its rate gets the denial instead. */
async function counted(services: Services, progress: Progress, cause: unknown): Promise<unknown> {
  const { ctx, principal, booking, isCounted } = progress;
  const isDecided = isCounted || booking !== undefined || cause instanceof AdmissionDenied;
  const isUndecidable = cause instanceof GatewayError && UNDECIDABLE.has(cause.kind);
  if (ctx === undefined || principal === undefined || isDecided || isUndecidable) return cause;
  try {
    await countOwn(services, { ctx, principal }, { progress, method: 'refused' });
    return cause;
  } catch (denied) {
    return denied;
  }
}

/** The caller is gone, or the store is. */
const UNDECIDABLE: ReadonlySet<string> = new Set<GatewayError['kind']>(['client_closed', 'store_unavailable']);

/** Answers a failed request, and leaves its row. */
export async function tellFailure(services: Services, progress: Progress, failure: unknown): Promise<Response> {
  const cause = await counted(services, progress, failure);
  const { ctx, principal, id } = progress;
  const requestId = ctx?.requestId ?? services.createId();
  if (cause instanceof RpcFailure) {
    const status = cause.options.httpStatus ?? 200;
    return Response.json(rpcError(id, cause.body), { status, headers: { 'X-Request-Id': requestId } });
  }
  const error = asGatewayError(cause, services.log, ctx);
  await leaveRow(services, progress, error);
  const { mcpRequest } = progress;
  if (error instanceof ConsentNeeded && mcpRequest !== undefined) {
    const asked = askConsent(services, mcpRequest, error);
    if (asked !== undefined) return asked;
  }
  const response = respondError(asTold(error), {
    requestId,
    dialect: mcpEnvelope(id),
    projectCapNanoUsd: principal?.project.monthlyCapNanoUsd,
  });
  if (mcpRequest !== undefined) response.headers.set('X-LLM0-Run-Id', mcpRequest.runId);
  if (response.status === 401) response.headers.set('WWW-Authenticate', challengeOf(services, progress.path));
  return response;
}

/** Location of the authorization metadata. Source: RFC 9728, section 5.1. */
const challengeOf = ({ mcp }: Services, path: string): string =>
  `Bearer resource_metadata="${mcp.oauth.identity.publicUrl}/.well-known/oauth-protected-resource${path}"`;

async function leaveRow(
  services: Services,
  { booking, mcpRequest, principal }: Progress,
  error: GatewayError,
): Promise<void> {
  if (booking !== undefined) {
    booking.fail(error);
    await booking.handedOver;
    return;
  }
  const target = mcpRequest && namedTarget(mcpRequest);
  if (mcpRequest === undefined || target === undefined || principal === undefined) return;
  const server = { id: target.id, alias: target.alias, pricePerCallNanoUsd: 0 };
  const { runId, bytesIn, ctx } = mcpRequest;
  const job = callJob({ alias: target.alias, tool: target.tool, runId, bytesIn, server: () => server });
  const { params } = mcpRequest.request;
  await recordRefusedCall(services, { ctx, job, params, principal, server, error });
}
