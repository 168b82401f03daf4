import { isObject, type JsonObject } from '@llm0/core/chat/json';
import type { Services } from '../../services/contract';
import { askFor, type ConsentNeeded } from '../oauth/consent-needed';
import type { McpRequest } from './mcp-request';
import { ownHeaders, ownResult } from './own-result';

/** Key of the gateway's own question; servers never see the answer. */
export const CONSENT = 'dev.llm0/consent';

const ASKING: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** The question in the protocol's own form, for clients that can open a link; undefined for all others. */
export function askConsent(
  services: Services,
  mcpRequest: McpRequest,
  { link, alias }: ConsentNeeded,
): Response | undefined {
  const { client } = mcpRequest.sender;
  const { elicitation } = client.capabilities;
  const opensLinks = isObject(elicitation) && elicitation.url !== undefined;
  if (client.era !== 'modern' || !opensLinks || !ASKING.has(mcpRequest.request.method)) return undefined;
  const params = { mode: 'url', elicitationId: link.id, url: link.url, message: askFor(alias) };
  const asked: JsonObject = { [CONSENT]: { method: 'elicitation/create', params } };
  const message = ownResult(services, mcpRequest, { inputRequests: asked, resultType: 'input_required' });
  return Response.json(message, { headers: ownHeaders(mcpRequest) });
}

/** Forwarded part of a client's answers. */
export function withoutConsent(params: JsonObject): JsonObject {
  const { inputResponses, ...rest } = params;
  if (!isObject(inputResponses)) return params;
  const { [CONSENT]: own, ...others } = inputResponses;
  if (own === undefined) return params;
  return Object.keys(others).length === 0 ? rest : { ...rest, inputResponses: others };
}
