import { isObject, type JsonObject } from '@llm0/core/chat/json';

/** Revisions without a handshake: each request is self-contained. */
export const MODERN_VERSION = '2026-07-28';
/** Revisions that begin with `initialize`, best first. */
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;
export const LEGACY_VERSION = LEGACY_VERSIONS[0];
/** Version of a client that sends no `MCP-Protocol-Version`. */
export const SILENT_VERSION = '2025-03-26';

/** `modern`: 2026-07-28; `legacy`: all before it. */
export type Era = 'modern' | 'legacy';

export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
  /** Items omitted from a list, with the reason. */
  notices: 'dev.llm0/notices',
} as const;

/** Capabilities for loading lists: some servers hide features from lesser clients. */
export const LISTING_CAPABILITIES: JsonObject = { sampling: {}, elicitation: { form: {}, url: {} } };

/** Client information, sent with each request or once per session. */
export interface ClientFacts {
  readonly era: Era;
  readonly version: string;
  readonly capabilities: JsonObject;
  readonly info?: JsonObject;
}

/** Hop-by-hop keys of `_meta`; all others pass. */
const ENVELOPE: readonly string[] = [META.protocolVersion, META.clientInfo, META.clientCapabilities, META.logLevel];

/** The `_meta` of a request, without the envelope. */
export function plainMeta(params: JsonObject): JsonObject {
  const { _meta: meta } = params;
  if (!isObject(meta)) return {};
  return Object.fromEntries(Object.entries(meta).filter(([name]) => !ENVELOPE.includes(name)));
}

/** Methods whose name or URI also travels in the header `Mcp-Name`, and its field. */
export const NAMED_BY: Readonly<Record<string, 'name' | 'uri'>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/** Requests of a client during a call, on connections with sessions. */
export const MAX_NAME_LENGTH = 256;
export const MAX_URI_LENGTH = 8192;
