import { isObject, type JsonObject } from '@llm0/core/chat/json';
import { joinToolName } from '@llm0/core/mcp/tool-name';
import { withoutConsent } from '../endpoint/ask-consent';
import { CallRefusal } from '../endpoint/mcp-errors';
import type { McpRequest } from '../endpoint/mcp-request';
import { splitUri } from '../lists/resource-names';
import type { ServerEntry } from '../servers/server-entry';
import { checkParamHeaders, paramHeaderValues } from '../wire/param-headers';
import { META, plainMeta } from '../wire/protocol';
import { checkArguments } from './check-arguments';
import { checkWhole, findServer, findTool, type Naming, splitName, unknown } from './find-tool';

/** Destination of a request, and its name there. */
export interface CallTarget {
  readonly entry: ServerEntry;
  /** Name in limits and log. */
  readonly tool: string;
  readonly params: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  /** Tools have a price; everything else is free. */
  readonly isPriced: boolean;
}

type Resolve = (mcpRequest: McpRequest) => Promise<CallTarget>;

/** Forwarded methods; each finds its server and its name there. */
export const FORWARDED = {
  'tools/call': resolveTool,
  'prompts/get': resolvePrompt,
  'resources/read': (mcpRequest) => resolveResource(mcpRequest, 'resources/read'),
  'completion/complete': resolveCompletion,
} as const satisfies Record<string, Resolve>;

export type ForwardedMethod = keyof typeof FORWARDED;

const badParam = (param: string, message: string): CallRefusal =>
  new CallRefusal('invalid_request', message, { code: -32602, param });

/** Forwarded part of `_meta`: all except the gateway's own fields. */
function sentParams({ request: { params }, sender }: McpRequest, own: JsonObject): JsonObject {
  const meta = plainMeta(params);
  const logLevel = isObject(params._meta) ? params._meta[META.logLevel] : undefined;
  if (logLevel !== undefined && sender.client.era === 'modern') meta[META.logLevel] = logLevel;
  const { _meta, ...rest } = withoutConsent(params);
  return { ...rest, ...own, ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }) };
}

async function resolveTool(mcpRequest: McpRequest): Promise<CallTarget> {
  const { params } = mcpRequest.request;
  const { name: asked, arguments: given = {} } = params;
  if (typeof asked !== 'string' || asked === '') throw badParam('name', '"name" must be the name of a tool.');
  if (!isObject(given)) throw badParam('arguments', '"arguments" must be an object.');
  const { entry, name } = splitName(mcpRequest, asked, 'tool');
  const { inputSchema, paramHeaders } = await findTool(mcpRequest, entry, name);
  checkArguments(asked, inputSchema, given, mcpRequest.bytesIn);
  const isModern = mcpRequest.sender.client.era === 'modern';
  if (isModern && paramHeaders.length > 0) checkParamHeaders(paramHeaders, given, mcpRequest.headers);
  return {
    ...{ entry, tool: name, isPriced: true },
    params: sentParams(mcpRequest, { name }),
    ...(paramHeaders.length === 0 ? {} : { headers: paramHeaderValues(paramHeaders, given) }),
  };
}

async function resolvePrompt(mcpRequest: McpRequest): Promise<CallTarget> {
  const { name: asked } = mcpRequest.request.params;
  if (typeof asked !== 'string' || asked === '') throw badParam('name', '"name" must be the name of a prompt.');
  const { entry, name } = splitName(mcpRequest, asked, 'prompt');
  checkWhole(mcpRequest, entry, 'prompts');
  return { entry, tool: 'prompts/get', params: sentParams(mcpRequest, { name }), isPriced: false };
}

/** The server that a URI names, and the URI there. */
export function findResource(naming: Naming, asked: unknown): { readonly entry: ServerEntry; readonly uri: string } {
  if (typeof asked !== 'string' || asked === '') throw badParam('uri', '"uri" must be the URI of a resource.');
  const split = naming.scope === undefined ? splitUri(asked) : { alias: naming.scope, uri: asked };
  if (split === undefined || naming.registry.find(split.alias) === undefined) throw unknown(asked, 'resource');
  const entry = findServer(naming, split.alias);
  checkWhole(naming, entry, 'resources');
  return { entry, uri: split.uri };
}

async function resolveResource(mcpRequest: McpRequest, tool: string): Promise<CallTarget> {
  const { entry, uri } = findResource(mcpRequest, mcpRequest.request.params.uri);
  return { entry, tool, params: sentParams(mcpRequest, { uri }), isPriced: false };
}

async function resolveCompletion(mcpRequest: McpRequest): Promise<CallTarget> {
  const { ref } = mcpRequest.request.params;
  if (!isObject(ref)) throw badParam('ref', '"ref" must name a prompt or a resource.');
  const tool = 'completion/complete';
  if (ref.type === 'ref/prompt' && typeof ref.name === 'string') {
    const { entry, name } = splitName(mcpRequest, ref.name, 'prompt');
    checkWhole(mcpRequest, entry, 'prompts');
    return { entry, tool, params: sentParams(mcpRequest, { ref: { ...ref, name } }), isPriced: false };
  }
  if (ref.type !== 'ref/resource') throw badParam('ref', '"ref.type" must be "ref/prompt" or "ref/resource".');
  const { entry, uri } = findResource(mcpRequest, ref.uri);
  return { entry, tool, params: sentParams(mcpRequest, { ref: { ...ref, uri } }), isPriced: false };
}

/** The name that a refused call is logged by, as far as it names a server that is there. */
export function namedTarget(
  mcpRequest: McpRequest,
): { readonly id: string; readonly alias: string; readonly tool: string } | undefined {
  const { name } = mcpRequest.request.params;
  if (mcpRequest.request.method !== 'tools/call' || typeof name !== 'string') return undefined;
  try {
    const { entry, name: tool } = splitName(mcpRequest, name, 'tool');
    return { id: entry.server.id, alias: entry.server.alias, tool: tool.slice(0, joinToolName('', '').length + 128) };
  } catch {
    return undefined;
  }
}
