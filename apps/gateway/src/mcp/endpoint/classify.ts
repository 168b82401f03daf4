import { isObject, type JsonObject } from '@llm0/core/chat/json';
import { readSessionId } from '../sessions/session-id';
import { decodeHeaderValue } from '../wire/header-values';
import { RPC, RpcFailure, type RpcMessage, type RpcRequest } from '../wire/json-rpc';
import { type ClientFacts, LEGACY_VERSIONS, META, MODERN_VERSION, NAMED_BY, SILENT_VERSION } from '../wire/protocol';

/** Sender and protocol revision of a message. */
export interface Sender {
  readonly client: ClientFacts;
  /** Session of a client that sent `initialize`. */
  readonly sessionId?: string;
}

const bad = (code: number, message: string, data?: JsonObject) =>
  new RpcFailure(code, message, { httpStatus: 400, data });
const isModern = (version: string): boolean => version >= MODERN_VERSION;

/**
 * Validates headers against the body, for the key's own sessions. Throws `RpcFailure` for a mismatch or missing data.
 */
export function classify(message: RpcMessage, headers: Headers, keyId: string): Sender {
  const version = headers.get('mcp-protocol-version')?.trim();
  if (message.kind === 'request') {
    const { method, params } = message.request;
    const meta = isObject(params._meta) ? params._meta : undefined;
    const claims = meta !== undefined && META.protocolVersion in meta;
    if (claims) return modernSender(message.request, meta, headers);
    if (version !== undefined && isModern(version)) {
      throw version === MODERN_VERSION ? lacksEnvelope(method, version, meta) : notSpoken(version);
    }
    if (method === 'initialize') return { client: legacyClient(params) };
  } else if (version !== undefined && isModern(version)) {
    return { client: { era: 'modern', version, capabilities: {} } };
  }
  return legacySender(version, headers, keyId);
}

function notSpoken(version: string): RpcFailure {
  const requested = version.slice(0, 64);
  const data = { supported: [MODERN_VERSION, ...LEGACY_VERSIONS], requested };
  return bad(RPC.unsupportedVersion, `The revision "${requested}" isn't supported.`, data);
}

function lacksEnvelope(method: string, version: string, meta: JsonObject | undefined): RpcFailure {
  if (method === 'initialize') {
    return bad(
      RPC.headerMismatch,
      `"initialize" is no method of ${version}, which the header MCP-Protocol-Version names.`,
    );
  }
  const names = [META.protocolVersion, META.clientCapabilities].filter((name) => !(name in (meta ?? {})));
  return bad(
    RPC.invalidParams,
    `Requests of ${version} say more of themselves in "_meta": ${names.join(', ')} is missing.`,
  );
}

function modernSender({ method, params }: RpcRequest, meta: JsonObject, headers: Headers): Sender {
  const version = meta[META.protocolVersion];
  const capabilities = meta[META.clientCapabilities];
  const info = meta[META.clientInfo];
  if (typeof version !== 'string')
    throw bad(RPC.invalidParams, `"_meta" names no revision in ${META.protocolVersion}.`);
  if (!isObject(capabilities))
    throw bad(RPC.invalidParams, `"_meta" must have an object in ${META.clientCapabilities}.`);
  if (info !== undefined && !isObject(info)) throw bad(RPC.invalidParams, `${META.clientInfo} must be an object.`);
  checkHeader(headers, 'mcp-protocol-version', version);
  if (version !== MODERN_VERSION) throw notSpoken(version);
  checkHeader(headers, 'mcp-method', method);
  const source = NAMED_BY[method];
  const name = source === undefined ? undefined : params[source];
  if (typeof name === 'string') checkHeader(headers, 'mcp-name', name);
  return { client: { era: 'modern', version, capabilities, ...(isObject(info) ? { info } : {}) } };
}

function checkHeader(headers: Headers, name: string, told: string): void {
  const sent = headers.get(name);
  const decoded = sent === null ? undefined : decodeHeaderValue(sent);
  if (decoded === told) return;
  const said = sent === null ? 'is missing' : `says "${sent.slice(0, 80)}"`;
  throw bad(RPC.headerMismatch, `The header ${name} ${said}, and the body "${told.slice(0, 80)}".`);
}

function legacySender(version: string | undefined, headers: Headers, keyId: string): Sender {
  if (version !== undefined && !(LEGACY_VERSIONS as readonly string[]).includes(version)) throw notSpoken(version);
  const sessionId = headers.get('mcp-session-id');
  if (sessionId === null) return { client: { era: 'legacy', version: version ?? SILENT_VERSION, capabilities: {} } };
  const client = readSessionId(sessionId, keyId);
  if (client === undefined) throw unknownSession();
  return { client, sessionId };
}

/** Clients start a new session then. */
export const unknownSession = (): RpcFailure =>
  new RpcFailure(RPC.invalidRequest, 'This session is unknown. Start a new one with "initialize".', {
    httpStatus: 404,
  });

function legacyClient(params: JsonObject): ClientFacts {
  const { protocolVersion, capabilities, clientInfo } = params;
  if (typeof protocolVersion !== 'string') {
    throw new RpcFailure(RPC.invalidParams, '"initialize" must name a revision in "protocolVersion".', {
      httpStatus: 400,
    });
  }
  const version = LEGACY_VERSIONS.find((known) => known === protocolVersion) ?? LEGACY_VERSIONS[0];
  return {
    ...{ era: 'legacy', version, capabilities: isObject(capabilities) ? capabilities : {} },
    ...(isObject(clientInfo) ? { info: clientInfo } : {}),
  };
}
