// A failed listener retries; the client's stream continues with other servers.
import { isObject, type JsonObject } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { StalePart } from '@llm0/core/limits/hot-store';
import type { Services } from '../../services/contract';
import { serversOf } from '../calls/find-tool';
import { findResource } from '../calls/resolve-target';
import { joinUri } from '../lists/resource-names';
import type { SessionResource } from '../sessions/session-notes';
import { RPC, type RpcId, rpcNotification, rpcResult } from '../wire/json-rpc';
import { META } from '../wire/protocol';
import { CallRefusal } from './mcp-errors';
import type { McpRequest } from './mcp-request';
import { NewsStream } from './news-stream';
import { selfOf } from './self';

/** Subscriptions of a client. */
interface Wanted {
  readonly tools: boolean;
  readonly prompts: boolean;
  readonly resources: boolean;
  readonly uris: readonly SessionResource[];
}

const LIST_NEWS = {
  tools: 'notifications/tools/list_changed',
  prompts: 'notifications/prompts/list_changed',
  resources: 'notifications/resources/list_changed',
} as const;

/** `subscriptions/listen`: a stream of the requested news, which starts with the accepted ones. */
export async function listen(services: Services, mcpRequest: McpRequest): Promise<Response> {
  const { notifications: filter } = mcpRequest.request.params;
  if (!isObject(filter)) {
    const message = '"notifications" must say what to tell.';
    throw new CallRefusal('invalid_request', message, { code: RPC.invalidParams, param: 'notifications' });
  }
  const asked = Array.isArray(filter.resourceSubscriptions) ? filter.resourceSubscriptions.slice(0, 100) : [];
  const found = asked.map((uri) => ({ uri, at: findResource(mcpRequest, uri) }));
  const wanted: Wanted = {
    tools: filter.toolsListChanged === true,
    prompts: filter.promptsListChanged === true,
    resources: filter.resourcesListChanged === true,
    uris: found.map(({ at }) => ({ alias: at.entry.server.alias, uri: at.uri })),
  };
  const { id } = mcpRequest.request;
  const honoured: JsonObject = {
    ...(wanted.tools ? { toolsListChanged: true } : {}),
    ...(wanted.prompts ? { promptsListChanged: true } : {}),
    ...(wanted.resources ? { resourcesListChanged: true } : {}),
    ...(asked.length > 0 ? { resourceSubscriptions: asked } : {}),
  };
  const stream = openStream(services, mcpRequest, id);
  stream.tell('notifications/subscriptions/acknowledged', { notifications: honoured });
  if (Object.keys(honoured).length === 0) stream.end();
  else feed(mcpRequest, stream, { wanted: () => wanted });
  return stream.response({ 'X-Request-Id': mcpRequest.ctx.requestId });
}

/** The stream of a client with a session, for everything that it was not asked for. */
export function listenLegacy(services: Services, mcpRequest: McpRequest): Response {
  const { sessionId } = mcpRequest.sender;
  const { sessionNotes } = services.mcp;
  const all = { tools: true, prompts: true, resources: true };
  const stream = openStream(services, mcpRequest, undefined);
  feed(mcpRequest, stream, {
    wanted: () => ({ ...all, uris: sessionId === undefined ? [] : sessionNotes.of(sessionId) }),
    ...(sessionId === undefined ? {} : { onChange: (listener) => sessionNotes.onChange(sessionId, listener) }),
  });
  return stream.response({ 'X-Request-Id': mcpRequest.ctx.requestId });
}

function openStream(services: Services, mcpRequest: McpRequest, id: RpcId | undefined): NewsStream {
  const { principal, release } = mcpRequest;
  const { key, project } = principal;
  // A drain need not wait for it.
  release();
  if (!services.mcp.streams.mayOpen(key.id)) {
    const message = 'This API key has too many streams open. Close one of them.';
    throw new GatewayError('rate_limit_exceeded', message, { param: 'concurrency', retryAfterMs: 1000 });
  }
  const stamp = id === undefined ? undefined : { [META.subscriptionId]: id };
  return new NewsStream({
    opened: () => services.mcp.streams.open(key.id),
    encode: (method, params) => rpcNotification(method, stamp === undefined ? params : { ...params, _meta: stamp }),
    last:
      id === undefined
        ? undefined
        : rpcResult(id, { resultType: 'complete', _meta: { ...stamp, [META.serverInfo]: selfOf(services) } }),
    isStale: async () => {
      if (services.openRequests.isDraining) return true;
      const known = { projectId: project.id, keyId: key.id, projectVersion: project.version, keyVersion: key.version };
      const stale = await services.hotStore.findStale(known).catch((): readonly StalePart[] => []);
      return stale.includes('principal');
    },
  });
}

interface Feed {
  readonly wanted: () => Wanted;
  /** Runs when `wanted` changes. */
  readonly onChange?: (listener: () => void) => () => void;
}

function feed(mcpRequest: McpRequest, stream: NewsStream, { wanted, onChange }: Feed): void {
  for (const entry of serversOf(mcpRequest)) {
    stream.onEnd(
      entry.onNews(({ method }) => {
        const now = wanted();
        const isWanted = (['tools', 'prompts', 'resources'] as const).some(
          (kind) => now[kind] && LIST_NEWS[kind] === method,
        );
        if (isWanted) stream.tell(method, {});
      }),
    );
  }
  let round = new AbortController();
  const start = () => {
    round.abort();
    round = new AbortController();
    follow(mcpRequest, stream, { uris: wanted().uris, signal: round.signal });
  };
  stream.onEnd(() => round.abort());
  if (onChange !== undefined) stream.onEnd(onChange(start));
  start();
}

const RETRY_MS = 5000;

interface Following {
  readonly uris: readonly SessionResource[];
  readonly signal: AbortSignal;
}

/** Subscribes to single resources, by server. */
function follow(mcpRequest: McpRequest, stream: NewsStream, { uris, signal }: Following): void {
  for (const [alias, own] of Map.groupBy(uris, (one) => one.alias)) {
    const again = async (): Promise<void> => {
      while (!signal.aborted) {
        await followServer(mcpRequest, stream, { alias, uris: own.map(({ uri }) => uri), signal }).catch(() => {});
        await new Promise<void>((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
    };
    void again();
  }
}

async function followServer(
  mcpRequest: McpRequest,
  stream: NewsStream,
  { alias, uris, signal }: { readonly alias: string; readonly uris: readonly string[]; readonly signal: AbortSignal },
): Promise<void> {
  const upstream = mcpRequest.registry.find(alias)?.upstream;
  if (upstream === undefined) return;
  const { sender, scope, principal, ctx } = mcpRequest;
  const caller = { keyId: principal.key.id, customerId: ctx.customerId, sessionId: sender.sessionId };
  const filter = { lists: false, resources: uris, client: sender.client, caller, signal };
  await upstream.listen(filter, ({ method, params }) => {
    const { uri } = params;
    if (method !== 'notifications/resources/updated' || typeof uri !== 'string') return;
    stream.tell(method, { ...params, uri: scope === undefined ? joinUri(alias, uri) : uri });
  });
}
