import type { JsonObject } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { ServerEntry } from '../servers/server-entry';
import { callerOf, type McpContext } from './context';

const MAX_BYTES = 256 * 1024;

/** Tells a server something that costs nothing, in the client's session there. Throws where it refuses. */
export async function askServer(
  context: McpContext,
  { server, upstream }: ServerEntry,
  { method, params }: { readonly method: string; readonly params: JsonObject },
): Promise<void> {
  const { sender, signal } = context;
  const ask = { method, params, client: sender.client, caller: callerOf(context), signal, maxBytes: MAX_BYTES };
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
