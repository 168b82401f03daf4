// A call inside a script is a call like any other: admitted, charged and logged by itself, under the run of the script.
import type { JsonObject } from '@llm0/core/chat/json';
import { isObject } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import {
  type HostedCall,
  type HostedTool,
  ToolCallError,
  type ToolHost,
  type ToolOutcome,
} from '@llm0/core/mcp/tool-host';
import { joinToolName } from '@llm0/core/mcp/tool-name';
import { asGatewayError } from '../../pipeline/request/respond-error';
import type { Services } from '../../services/contract';
import type { CallBooking } from '../calls/call-booking';
import { checkArguments } from '../calls/check-arguments';
import { findServer, findTool, mayCall, serversOf } from '../calls/find-tool';
import { listJudge } from '../calls/guard-list';
import { callInScript } from '../calls/message-trace';
import { type StartedCall, startCall } from '../calls/start-call';
import { rpcErrorOf } from '../endpoint/mcp-errors';
import { callerOf, type McpRequest } from '../endpoint/mcp-request';
import type { ServerEntry } from '../servers/server-entry';
import { notForThisClient } from '../upstream/http-answer';
import { paramHeaderValues } from '../wire/param-headers';
import { type ClientFacts, MODERN_VERSION } from '../wire/protocol';

/** A script answers no questions. */
const SCRIPT: ClientFacts = { era: 'modern', version: MODERN_VERSION, capabilities: {} };
const MAX_DESCRIPTION = 500;

/** Tools of a key for its scripts. */
export function createToolHost(services: Services, given: McpRequest): ToolHost {
  const mcpRequest: McpRequest = { ...given, scope: undefined };
  const judge = listJudge(services, mcpRequest);
  return {
    listServers: async () => judge(await Promise.all(serversOf(mcpRequest).map(describeServer))),
    listTools: async () =>
      judge((await Promise.all(serversOf(mcpRequest).map((entry) => toolsOf(mcpRequest, entry)))).flat()),
    call: async (call) => {
      try {
        return await callTool(services, mcpRequest, call);
      } catch (cause) {
        if (cause instanceof ToolCallError) throw cause;
        const error = asGatewayError(cause, services.log);
        throw new ToolCallError(error.message, rpcErrorOf(error).code);
      }
    },
  };
}

async function describeServer(entry: ServerEntry) {
  const { alias, description } = entry.server;
  try {
    const [{ value }, { info }] = await Promise.all([entry.tools.current(), entry.upstream.facts()]);
    const { heldBack } = value;
    const notice = heldBack.length === 0 ? null : `Held back until the operator approves them: ${heldBack.join(', ')}`;
    const said = typeof info.title === 'string' ? info.title : typeof info.name === 'string' ? info.name : '';
    return { alias, description: (description || said).slice(0, MAX_DESCRIPTION), notice };
  } catch (cause) {
    const why = cause instanceof GatewayError ? cause.message : 'It failed.';
    return { alias, description, notice: `Left out: ${why}` };
  }
}

/** Tools of a server; empty for a failed one, whose reason `listServers` has. */
async function toolsOf(mcpRequest: McpRequest, entry: ServerEntry): Promise<readonly HostedTool[]> {
  const view = await entry.tools.current().then(
    ({ value }) => value,
    () => undefined,
  );
  const mine = (view?.list ?? []).filter(({ name }) => mayCall(mcpRequest, entry, name));
  return mine.map(({ name, tool, inputSchema }) => ({
    ...{ server: entry.server.alias, name, inputSchema },
    description: typeof tool.description === 'string' ? tool.description : '',
    ...(isObject(tool.outputSchema) ? { outputSchema: tool.outputSchema } : {}),
  }));
}

async function callTool(services: Services, mcpRequest: McpRequest, call: HostedCall): Promise<ToolOutcome> {
  const { server, name, runId, signal } = call;
  const args = call.args as JsonObject;
  const entry = findServer(mcpRequest, server);
  const { inputSchema, paramHeaders } = await findTool({ ...mcpRequest, scope: server }, entry, name);
  const text = JSON.stringify(args);
  checkArguments(joinToolName(server, name), inputSchema, args, text.length);
  const ctx = callInScript(services, mcpRequest.ctx);
  const headers = paramHeaders.length === 0 ? undefined : paramHeaderValues(paramHeaders, args);
  const ask = { method: 'tools/call', params: { name, arguments: args }, client: SCRIPT, caller: callerOf(mcpRequest) };
  let booking: CallBooking | undefined;
  const bytesIn = Buffer.byteLength(text);
  const { principal, registry } = mcpRequest;
  const start = { ctx, principal, registry, entry, tool: name, runId, bytesIn, isPriced: true };
  try {
    const started = await startCall(services, { ...start, ask: { ...ask, headers, signal } }, (booked) => {
      booking = booked;
    });
    return await readOutcome(started, server);
  } catch (cause) {
    booking?.fail(asGatewayError(cause, services.log));
    throw cause;
  } finally {
    await booking?.handedOver;
  }
}

/** The result, with the call settled. Throws without one. */
async function readOutcome({ answer, booking }: StartedCall, alias: string): Promise<ToolOutcome> {
  try {
    for (let part = await answer.next(); part !== undefined; part = await answer.next()) {
      if (part.kind === 'request') {
        const { id, method } = part.request;
        await answer.reply(id, notForThisClient(method)).catch(() => {});
      }
      if (part.kind !== 'response') continue;
      const { result, error } = part.response;
      booking.noteAnswer(part.text);
      if (result === undefined) {
        const told = error ?? { code: -32603, message: 'It failed without a reason.' };
        booking.refuse(told, answer.receivedBytes);
        throw new ToolCallError(`${alias}: ${told.message}`, told.code);
      }
      const isError = result.isError === true;
      booking.complete({ isError, bytesOut: answer.receivedBytes });
      if (result.resultType !== 'input_required') return { result, isError };
      throw new ToolCallError(`${alias} asks for input that a script can't give.`, -32021);
    }
  } finally {
    answer.close();
  }
  throw new GatewayError('upstream_error', `${alias} ended its answer without a result.`);
}
