import { isObject, type JsonObject } from '@llm0/core/chat/json';
import { redactMessage } from '@llm0/core/logs/redact';
import { mayNameResources, nameResources } from '../lists/resource-names';
import { withClientId } from '../upstream/message-id';
import type { UpstreamAnswer, UpstreamPart } from '../upstream/upstream';
import { RPC, type RpcErrorBody, type RpcResponse, rpcError, rpcResult } from '../wire/json-rpc';
import { META } from '../wire/protocol';
import { bindState, type StateOwner } from './bound-state';
import type { McpRequest } from './mcp-request';

/** Encodes an answer for its client. */
export interface Translation {
  readonly mcpRequest: McpRequest;
  readonly alias: string;
  readonly owner: StateOwner;
  readonly self: JsonObject;
}

export interface ToldResponse {
  /** The whole message. */
  readonly text: string;
  readonly isError: boolean;
  /** Set where the server refused or failed. */
  readonly error?: RpcErrorBody;
}

type ResponsePart = Extract<UpstreamPart, { kind: 'response' }>;

/** The client's response: the same bytes except for the id, if both sides speak alike. */
export function translateResponse(
  to: Translation,
  answer: UpstreamAnswer,
  { response, text }: ResponsePart,
): ToldResponse {
  const { id } = to.mcpRequest.request;
  if (response.result === undefined) {
    const error = translateError(response);
    return { text: JSON.stringify(rpcError(id, error)), isError: true, error };
  }
  const { result } = response;
  const isError = result.isError === true;
  const changed = translateResult(to, answer, { result, text });
  if (isRefused(changed))
    return { text: JSON.stringify(rpcError(id, changed.error)), isError: true, error: changed.error };
  const forwarded = changed === result ? withClientId(text, answer.id, id) : undefined;
  return { text: forwarded ?? JSON.stringify(rpcResult(id, changed)), isError };
}

const isRefused = (told: JsonObject | { readonly error: RpcErrorBody }): told is { readonly error: RpcErrorBody } =>
  NO_RESULT in told;
const NO_RESULT = Symbol('the client cannot be given this');

function translateResult(
  { mcpRequest, alias, owner, self }: Translation,
  { era }: UpstreamAnswer,
  { result, text }: { readonly result: JsonObject; readonly text: string },
): JsonObject | { readonly error: RpcErrorBody } {
  const isModern = mcpRequest.sender.client.era === 'modern';
  let told = result;
  if (typeof result.requestState === 'string' || result.resultType === 'input_required') {
    if (!isModern) {
      const message = `${alias} asks for input that clients of this revision can't give.`;
      return Object.assign({ error: { code: RPC.missingCapability, message } }, { [NO_RESULT]: true });
    }
    if (typeof result.requestState === 'string') {
      told = { ...told, requestState: bindState(owner, result.requestState) };
    }
  }
  const isRead = mcpRequest.request.method === 'resources/read';
  if (mcpRequest.scope === undefined && (isRead || mayNameResources(text))) told = nameResources(alias, told);
  if (isModern && era === 'legacy') {
    const fresh: JsonObject = isRead ? { ttlMs: 0, cacheScope: 'private' } : {};
    const meta = { ...(isObject(told._meta) ? told._meta : {}), [META.serverInfo]: self };
    told = { ...fresh, ...told, resultType: 'complete', _meta: meta };
  }
  // Results depend on the key, so they aren't public.
  if (isModern && isRead && told.cacheScope === 'public') told = { ...told, cacheScope: 'private' };
  return told;
}

const MAX_MESSAGE_LENGTH = 2000;

function translateError({ error }: RpcResponse): RpcErrorBody {
  const { code = RPC.internalError, message = '', data } = error ?? {};
  const told = redactMessage(message.slice(0, MAX_MESSAGE_LENGTH));
  return { code, message: told, ...(data === undefined ? {} : { data }) };
}
