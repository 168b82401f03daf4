// Without the hot store, MCP fails as chat does. A refusal before admission is free; it leaves a row once the key is
// known.
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { allowedToolsOf } from '@llm0/core/keys/api-key';
import type { UnderWay } from '../../observe/open-requests';
import { authenticate, type ChosenKey } from '../../pipeline/request/authenticate';
import { openContext } from '../../pipeline/request/open-context';
import { readRequestBody } from '../../pipeline/request/read-request';
import type { Services } from '../../services/contract';
import { findServer } from '../calls/find-tool';
import { inMessageTrace } from '../calls/message-trace';
import { FORWARDED, type ForwardedMethod } from '../calls/resolve-target';
import { readRunId } from '../calls/run-id';
import { RPC, RpcFailure, type RpcMessage, readRpcMessage } from '../wire/json-rpc';
import { checkOrigin } from './check-origin';
import { classify, type Sender, unknownSession } from './classify';
import { CODE_METHODS, CODE_SCOPE } from './code-methods';
import { forward } from './forward';
import { listenLegacy } from './listen';
import type { McpRequest } from './mcp-request';
import { takeNotification, takeResponse } from './one-way';
import { OWN_METHODS } from './own-methods';
import { countOwn, type Progress, tellFailure } from './tell-failure';

/** Scope of the endpoint: all servers of the key, or one. */
export interface McpPlace {
  readonly scope: string | undefined;
}

const pathOf = ({ scope }: McpPlace): string => (scope === undefined ? '/mcp' : `/mcp/${encodeURIComponent(scope)}`);

type Opened = Omit<McpRequest, 'sender' | 'request' | 'bytesIn' | 'takesStream' | 'signal'>;

/** One message of a client. */
export async function handleMcp(
  services: Services,
  place: McpPlace,
  httpRequest: Request,
  chosen?: ChosenKey,
): Promise<Response> {
  const progress: Progress = { id: null, path: pathOf(place) };
  const underWay = services.openRequests.enter();
  try {
    const opened = await open(services, place, { httpRequest, underWay, progress, chosen });
    const { body } = await readRequestBody(services, httpRequest, underWay);
    const message = readRpcMessage(body);
    if (message === undefined) throw notJsonRpc(body.id);
    if (message.kind === 'request') progress.id = message.request.id;
    const sender = knownSender(services, opened, message);
    if (message.kind === 'response') {
      await countOwn(services, opened, { progress, method: 'response' });
      await takeResponse(opened, message.response);
    }
    if (message.kind === 'notification') {
      // A caller at its limit may still cancel its calls.
      takeNotification(services, { ...opened, sender }, message.notification);
      await countOwn(services, opened, { progress, method: message.notification.method });
    }
    if (message.kind !== 'request') {
      underWay.end();
      return new Response(null, { status: 202, headers: { 'X-Request-Id': opened.ctx.requestId } });
    }
    return await answerRequest(services, { opened, sender, message, httpRequest, progress });
  } catch (cause) {
    underWay.end();
    return tellFailure(services, progress, cause);
  }
}

/** The stream of a client with a session (`GET`). */
export async function handleMcpStream(services: Services, place: McpPlace, httpRequest: Request): Promise<Response> {
  return withoutBody(services, place, httpRequest, async (mcpRequest) => {
    if (!takesStream(httpRequest.headers)) {
      throw new GatewayError('invalid_request', 'This stream is for clients that accept text/event-stream.', {
        status: 406,
      });
    }
    return listenLegacy(services, mcpRequest);
  });
}

/** The end of a session (`DELETE`). */
export async function handleMcpEnd(services: Services, place: McpPlace, httpRequest: Request): Promise<Response> {
  return withoutBody(services, place, httpRequest, async (mcpRequest) => {
    const { sender, ctx, release } = mcpRequest;
    const { sessionId } = sender;
    if (sessionId === undefined)
      throw new GatewayError('invalid_request', 'The header Mcp-Session-Id names no session.');
    await services.mcp.endedSessions.end(sessionId);
    services.mcp.registry.endSession(sessionId);
    release();
    return new Response(null, { status: 204, headers: { 'X-Request-Id': ctx.requestId } });
  });
}

async function withoutBody(
  services: Services,
  place: McpPlace,
  httpRequest: Request,
  answer: (mcpRequest: McpRequest) => Response | Promise<Response>,
): Promise<Response> {
  const progress: Progress = { id: null, path: pathOf(place) };
  const underWay = services.openRequests.enter();
  try {
    const opened = await open(services, place, { httpRequest, underWay, progress });
    const asked = { method: httpRequest.method, params: {} };
    const sender = knownSender(services, opened, { kind: 'notification', notification: asked });
    if (sender.client.era === 'modern') {
      throw new GatewayError('method_not_allowed', 'This revision of the protocol uses POST only.');
    }
    await countOwn(services, opened, { progress, method: asked.method });
    const request = { ...asked, id: '' };
    const signal = httpRequest.signal;
    return await answer({ ...opened, sender, request, signal, bytesIn: 0, takesStream: true });
  } catch (cause) {
    underWay.end();
    const failed = await tellFailure(services, progress, cause);
    if (failed.status === 405) failed.headers.set('Allow', 'POST');
    return failed;
  }
}

interface Opening {
  readonly httpRequest: Request;
  readonly underWay: UnderWay;
  readonly progress: Progress;
  readonly chosen?: ChosenKey;
}

async function open(
  services: Services,
  { scope }: McpPlace,
  { httpRequest, underWay, progress, chosen }: Opening,
): Promise<Opened> {
  const { headers } = httpRequest;
  const ctx = openContext(services, httpRequest, { held: underWay.held, chosen });
  progress.ctx = ctx;
  // The admin API has already checked an operator's origin.
  if (chosen === undefined) checkOrigin(headers, services.config.corsOrigins);
  const principal = await authenticate(services, httpRequest, chosen);
  progress.principal = principal;
  ctx.held.key = principal.key.id;
  const runId = readRunId(headers, services.createId);
  const owner = { apiKeyId: principal.key.id, customerId: ctx.customerId ?? '' };
  const naming = { registry: services.mcp.registry.of(owner), patterns: allowedToolsOf(principal), scope };
  return { ...naming, ctx, principal, runId, headers, httpRequest, release: underWay.end };
}

function knownSender(
  { mcp }: Services,
  { headers, principal }: Pick<Opened, 'headers' | 'principal'>,
  message: RpcMessage,
): Sender {
  const sender = classify(message, headers, principal.key.id);
  if (sender.sessionId !== undefined && mcp.endedSessions.has(sender.sessionId)) throw unknownSession();
  return sender;
}

interface Answering extends Pick<Opening, 'httpRequest' | 'progress'> {
  readonly opened: Opened;
  readonly sender: Sender;
  readonly message: Extract<RpcMessage, { kind: 'request' }>;
}

async function answerRequest(
  services: Services,
  { opened, sender, message, httpRequest, progress }: Answering,
): Promise<Response> {
  const { request } = message;
  const { headers } = httpRequest;
  const underWay =
    sender.sessionId === undefined
      ? undefined
      : services.mcp.underWay.begin(`${opened.principal.key.id}\n${sender.sessionId}`, request.id);
  const signal = underWay === undefined ? httpRequest.signal : AbortSignal.any([httpRequest.signal, underWay.signal]);
  const release = () => {
    underWay?.end();
    opened.release();
  };
  const bytesIn = Number(headers.get('content-length') ?? 0);
  const mcpRequest: McpRequest = {
    ...opened,
    ctx: inMessageTrace(services, opened.ctx, request.params),
    sender,
    request,
    release,
    signal,
    bytesIn,
    takesStream: takesStream(headers),
  };
  progress.mcpRequest = mcpRequest;
  try {
    const isCode = opened.scope === CODE_SCOPE;
    if (opened.scope !== undefined && !isCode) findServer(mcpRequest, opened.scope);
    const methods = (isCode ? CODE_METHODS : OWN_METHODS)[sender.client.era];
    const own = Object.hasOwn(methods, request.method) ? methods[request.method] : undefined;
    if (own !== undefined) return await own(services, await withAdmitted(services, mcpRequest, progress));
    if (!isCode && Object.hasOwn(FORWARDED, request.method)) {
      return await forward(services, mcpRequest, request.method as ForwardedMethod, progress);
    }
    const shown = request.method.slice(0, 80);
    throw new RpcFailure(RPC.methodNotFound, `There is no method "${shown}" in this revision.`, {
      httpStatus: sender.client.era === 'modern' ? 404 : 200,
    });
  } catch (cause) {
    release();
    throw cause;
  }
}

async function withAdmitted(services: Services, mcpRequest: McpRequest, progress: Progress): Promise<McpRequest> {
  const principal = await countOwn(services, mcpRequest, { progress, method: mcpRequest.request.method });
  return { ...mcpRequest, principal, patterns: allowedToolsOf(principal) };
}

const takesStream = (headers: Headers): boolean => {
  const accept = headers.get('accept');
  return accept === null || accept.includes('text/event-stream') || accept.includes('*/*');
};

const notJsonRpc = (id: unknown): RpcFailure =>
  new RpcFailure(RPC.invalidRequest, 'The body must be one JSON-RPC 2.0 message.', {
    httpStatus: 400,
    data: typeof id === 'string' || typeof id === 'number' ? { id } : null,
  });
