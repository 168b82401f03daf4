import type { JsonObject } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { ServerEntry } from '../servers/server-entry';
import { callerOf, type McpRequest } from './mcp-request';

const MAX_BYTES = 256 * 1024;

/** Sends a server a free request in the client's session. Throws on refusal. */
export async function askServer(
  mcpRequest: McpRequest,
  { server, upstream }: ServerEntry,
  { method, params }: { readonly method: string; readonly params: JsonObject },
): Promise<void> {
  const { sender, signal } = mcpRequest;
  const ask = { method, params, client: sender.client, caller: callerOf(mcpRequest), signal, maxBytes: MAX_BYTES };
  const answer = await upstream.ask(ask);
  try {
    for (let part = await answer.next(); part !== undefined; part = await answer.next()) {
      if (part.kind !== 'response') continue;
      const { error } = part.response;
      if (error === undefined) return;
      throw new GatewayError('upstream_rejected', `${server.alias} answered: ${error.message.slice(0, 500)}`, {
        status: 200,
      });
    }
  } finally {
    answer.close();
  }
}
