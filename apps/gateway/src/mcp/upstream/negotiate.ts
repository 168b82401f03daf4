import { isObject, type JsonObject } from '@llm0/core/chat/json';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { upstreamFailure } from '@llm0/providers/transport/upstream-failure';
import type { RpcErrorBody } from '../wire/json-rpc';
import {
  type ClientFacts,
  LEGACY_VERSION,
  LEGACY_VERSIONS,
  LISTING_CAPABILITIES,
  META,
  MODERN_VERSION,
} from '../wire/protocol';
import type { LegacySession } from './legacy-sessions';
import { nextMessageId } from './message-id';
import { type Endpoint, postMessage } from './post-message';
import { type AnswerOptions, AnswerReader, hasModernCode, readRefusal, supportedVersions } from './read-answer';
import type { UpstreamFacts } from './upstream';

/** Longer texts are no lists of abilities. */
const MAX_BYTES = 1024 * 1024;

export interface Negotiating extends Endpoint {
  /** Identity of the gateway for servers. */
  readonly self: JsonObject;
}

interface Said {
  readonly result?: JsonObject;
  readonly error?: RpcErrorBody;
  /** Set for a failure status. */
  readonly failure?: GatewayError;
  readonly status: number;
  readonly headers: Headers;
}

/** Headers and `_meta` of a request of the newest revision. */
export function modernMeta(client: Pick<ClientFacts, 'capabilities' | 'info'>, self: JsonObject): JsonObject {
  return {
    [META.protocolVersion]: MODERN_VERSION,
    [META.clientInfo]: client.info ?? self,
    [META.clientCapabilities]: client.capabilities,
  };
}

export const modernHeaders = (method: string): Record<string, string> => ({
  'mcp-protocol-version': MODERN_VERSION,
  'mcp-method': method,
});

/** Discovers capabilities by the newest revision; undefined for older servers. */
export async function discover(to: Negotiating, signal: AbortSignal): Promise<UpstreamFacts | undefined> {
  const params = { _meta: modernMeta({ capabilities: {} }, to.self) };
  const said = await say(to, { method: 'server/discover', params, headers: modernHeaders('server/discover'), signal });
  const { result, failure } = said;
  if (failure?.failure === 'auth') throw failure;
  if (result === undefined) {
    // The server knows the revision, but offers none in common.
    if (hasModernCode(said.error) && supportedVersions(said.error).includes(MODERN_VERSION)) {
      throw upstreamFailure('malformed', to.server.alias, `refuses its own revision: ${said.error?.message}`);
    }
    return undefined;
  }
  const versions = Array.isArray(result.supportedVersions) ? result.supportedVersions : [];
  if (!versions.includes(MODERN_VERSION)) return undefined;
  const meta = isObject(result._meta) ? result._meta : {};
  const info = meta[META.serverInfo];
  return {
    era: 'modern',
    version: MODERN_VERSION,
    capabilities: isObject(result.capabilities) ? result.capabilities : {},
    info: isObject(info) ? info : {},
  };
}

/** Opens a session by the handshake of older revisions. Throws where the server knows that neither. */
export async function initialize(
  to: Negotiating,
  client: ClientFacts | undefined,
  signal: AbortSignal,
): Promise<LegacySession> {
  const asked = client?.era === 'legacy' ? client.version : LEGACY_VERSION;
  // The gateway can't forward a server's requests to modern callers mid-call.
  const abilities = client?.era === 'legacy' ? client.capabilities : {};
  const params = {
    protocolVersion: asked,
    capabilities: client === undefined ? LISTING_CAPABILITIES : abilities,
    clientInfo: client?.info ?? to.self,
  };
  const { result, error, failure, headers } = await say(to, { method: 'initialize', params, headers: {}, signal });
  if (result === undefined) {
    throw failure ?? upstreamFailure('malformed', to.server.alias, `refuses to begin: ${error?.message ?? ''}`);
  }
  const version = result.protocolVersion;
  if (typeof version !== 'string' || !(LEGACY_VERSIONS as readonly string[]).includes(version)) {
    throw upstreamFailure('malformed', to.server.alias, 'speaks no revision of the protocol that is known here.');
  }
  const session: LegacySession = {
    id: sessionIdOf(headers),
    version,
    capabilities: isObject(result.capabilities) ? result.capabilities : {},
    info: isObject(result.serverInfo) ? result.serverInfo : {},
  };
  await noteInitialized(to, session, signal);
  return session;
}

const VISIBLE = /^[\x21-\x7e]{1,1024}$/;

function sessionIdOf(headers: Headers): string | undefined {
  const id = headers.get('mcp-session-id');
  return id !== null && VISIBLE.test(id) ? id : undefined;
}

export function sessionHeaders({ id, version }: LegacySession): Record<string, string> {
  return { 'mcp-protocol-version': version, ...(id === undefined ? {} : { 'mcp-session-id': id }) };
}

async function noteInitialized(to: Negotiating, session: LegacySession, signal: AbortSignal): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const { response } = await postMessage(to, { body, headers: sessionHeaders(session), signal });
  void response.body?.cancel().catch(() => {});
}

interface Saying {
  readonly method: string;
  readonly params: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

async function say(to: Negotiating, { method, params, headers, signal }: Saying): Promise<Said> {
  const id = nextMessageId();
  const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
  const fetched = await postMessage(to, { body, headers, signal });
  const { alias, timeoutMs } = to.server;
  const options: AnswerOptions = { alias, id, timeoutMs, maxBytes: MAX_BYTES, signal };
  const { status, headers: said } = fetched.response;
  if (!fetched.response.ok) return { ...(await readRefusal(fetched, options)), headers: said };
  const reader = new AnswerReader(fetched, options);
  try {
    for (let read = await reader.next(); read !== undefined; read = await reader.next()) {
      const { message } = read;
      if (message.kind !== 'response' || (message.response.id !== id && message.response.id !== null)) continue;
      const { result, error } = message.response;
      return { result, error, status, headers: said };
    }
  } finally {
    reader.close();
  }
  throw upstreamFailure('malformed', alias, `did not answer ${method}.`);
}
