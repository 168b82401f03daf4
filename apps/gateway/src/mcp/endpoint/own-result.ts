import type { JsonObject } from '@llm0/core/chat/json';
import { takenWhole } from '../../pipeline/request/taken-stream';
import type { Services } from '../../services/contract';
import { rpcResult } from '../wire/json-rpc';
import { META } from '../wire/protocol';
import { type McpRequest, takenBy } from './mcp-request';
import { selfOf } from './self';

/** A result of the gateway's own, as the client's revision has it. */
export function ownResult(services: Services, { request, sender }: McpRequest, result: JsonObject): JsonObject {
  const { _meta: meta, ttlMs, cacheScope, ...rest } = result;
  const isModern = sender.client.era === 'modern';
  const told: JsonObject = isModern
    ? {
        resultType: 'complete',
        ...rest,
        ...(ttlMs === undefined ? {} : { ttlMs, cacheScope: cacheScope ?? 'private' }),
        _meta: { ...(meta as JsonObject | undefined), [META.serverInfo]: selfOf(services) },
      }
    : { ...rest, ...(meta === undefined ? {} : { _meta: meta }) };
  return rpcResult(request.id, told);
}

export const ownHeaders = ({ ctx, runId }: McpRequest): Record<string, string> => ({
  'X-Request-Id': ctx.requestId,
  'X-LLM0-Run-Id': runId,
});

/** The whole answer; the request is over with it. */
export async function respond(
  services: Services,
  mcpRequest: McpRequest,
  result: JsonObject,
  more: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const text = JSON.stringify(ownResult(services, mcpRequest, result));
  const body = await takenWhole(takenBy(services, mcpRequest), text);
  mcpRequest.release();
  return new Response(body, { headers: { ...ownHeaders(mcpRequest), ...more, 'Content-Type': 'application/json' } });
}
