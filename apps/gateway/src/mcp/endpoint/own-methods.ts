import type { JsonObject } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Services } from '../../services/contract';
import { listJudge } from '../calls/guard-list';
import { findResource } from '../calls/resolve-target';
import type { ListKind } from '../lists/read-list';
import { createSessionId } from '../sessions/session-id';
import { RPC } from '../wire/json-rpc';
import { isLogLevel } from '../wire/log-levels';
import { LEGACY_VERSIONS, MODERN_VERSION } from '../wire/protocol';
import { askServer } from './ask-server';
import { abilitiesOf, listItems } from './list-items';
import { listen } from './listen';
import { CallRefusal } from './mcp-errors';
import { levelOwner, type McpRequest } from './mcp-request';
import { respond } from './own-result';
import { selfOf } from './self';

export type OwnAnswer = (services: Services, mcpRequest: McpRequest) => Promise<Response>;

/** Methods that the gateway answers itself, in each of the two ways of the protocol. */
export const OWN_METHODS: Readonly<Record<'modern' | 'legacy', Readonly<Record<string, OwnAnswer>>>> = {
  modern: {
    'server/discover': discover,
    'subscriptions/listen': listen,
    ...lists(),
  },
  legacy: {
    initialize,
    ping: async (services, mcpRequest) => respond(services, mcpRequest, {}),
    'logging/setLevel': setLevel,
    'resources/subscribe': subscribe,
    'resources/unsubscribe': unsubscribe,
    ...lists(),
  },
};

function lists(): Readonly<Record<string, OwnAnswer>> {
  const list =
    (kind: ListKind): OwnAnswer =>
    async (services, mcpRequest) => {
      const asked = { params: mcpRequest.request.params, judge: listJudge(services, mcpRequest) };
      return respond(services, mcpRequest, await listItems(mcpRequest, kind, asked));
    };
  return {
    'tools/list': list('tools'),
    'prompts/list': list('prompts'),
    'resources/list': list('resources'),
    'resources/templates/list': list('resourceTemplates'),
  };
}

const DISCOVER_TTL_MS = 60_000;

async function discover(services: Services, mcpRequest: McpRequest): Promise<Response> {
  const { logging: _old, ...capabilities } = await abilitiesOf(mcpRequest);
  return respondDiscovered(services, mcpRequest, capabilities);
}

/** Capabilities of the endpoint, for clients without a handshake. */
export function respondDiscovered(
  services: Services,
  mcpRequest: McpRequest,
  capabilities: JsonObject,
): Promise<Response> {
  const supportedVersions = [MODERN_VERSION, ...LEGACY_VERSIONS];
  return respond(services, mcpRequest, {
    supportedVersions,
    capabilities,
    ttlMs: DISCOVER_TTL_MS,
    cacheScope: 'private',
  });
}

async function initialize(services: Services, mcpRequest: McpRequest): Promise<Response> {
  return respondInitialized(services, mcpRequest, await abilitiesOf(mcpRequest));
}

/** Answers `initialize`, for clients that begin with it. */
export function respondInitialized(
  services: Services,
  mcpRequest: McpRequest,
  capabilities: JsonObject,
): Promise<Response> {
  const { client } = mcpRequest.sender;
  const result = { protocolVersion: client.version, capabilities, serverInfo: selfOf(services) };
  return respond(services, mcpRequest, result, {
    'Mcp-Session-Id': createSessionId(client, mcpRequest.principal.key.id),
  });
}

/** The next call to each server sets the level. */
async function setLevel(services: Services, mcpRequest: McpRequest): Promise<Response> {
  const { level } = mcpRequest.request.params;
  if (!isLogLevel(level)) {
    throw new CallRefusal('invalid_request', '"level" is none of the protocol.', {
      code: RPC.invalidParams,
      param: 'level',
    });
  }
  services.mcp.logLevels.set(levelOwner(mcpRequest), level);
  return respond(services, mcpRequest, {});
}

async function subscribe(services: Services, mcpRequest: McpRequest): Promise<Response> {
  return aboutResource(services, mcpRequest, 'resources/subscribe');
}

async function unsubscribe(services: Services, mcpRequest: McpRequest): Promise<Response> {
  return aboutResource(services, mcpRequest, 'resources/unsubscribe');
}

/** Sent in the client's own server session; its notifications arrive on the client's stream. */
async function aboutResource(services: Services, mcpRequest: McpRequest, method: string): Promise<Response> {
  const { entry, uri } = findResource(mcpRequest, mcpRequest.request.params.uri);
  const { sessionId } = mcpRequest.sender;
  if (sessionId === undefined) {
    throw new GatewayError('invalid_request', 'Only a client with a session can subscribe: begin with "initialize".');
  }
  const isWanted = method === 'resources/subscribe';
  await services.mcp.sessionNotes.note(sessionId, { alias: entry.server.alias, uri }, isWanted);
  const { era } = await entry.upstream.facts();
  if (era === 'legacy') await askServer(mcpRequest, entry, { method, params: { uri } });
  return respond(services, mcpRequest, {});
}
