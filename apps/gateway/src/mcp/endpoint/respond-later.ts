// If the client disconnects, its signal cancels the work and drops the result.
import type { JsonObject } from '@llm0/core/chat/json';
import { asGatewayError } from '../../pipeline/request/respond-error';
import { takenWhole } from '../../pipeline/request/taken-stream';
import type { Services } from '../../services/contract';
import { type RpcId, rpcError, rpcNotification } from '../wire/json-rpc';
import { encodeFrame, KEEP_ALIVE, KEEP_ALIVE_MS, STREAM_HEADERS } from '../wire/sse-frame';
import { asTold, rpcErrorOf } from './mcp-errors';
import { type McpRequest, takenBy } from './mcp-request';
import { ownHeaders, ownResult } from './own-result';

/** After this time, a streaming client gets a sign of progress. */
const STREAM_AFTER_MS = 10_000;

export type Progress = (progress: number, message: string) => void;

/** The result of work of the gateway's own that may take long: with progress where the client asks for it. */
export async function respondLater(
  services: Services,
  mcpRequest: McpRequest,
  work: (progress: Progress) => Promise<JsonObject>,
): Promise<Response> {
  const token = tokenOf(mcpRequest);
  const queue: Uint8Array[] = [];
  let enqueue = (frame: Uint8Array): void => void queue.push(frame);
  const working = work((progress, message) => {
    if (token === undefined) return;
    const told = rpcNotification('notifications/progress', { progressToken: token, progress, message });
    enqueue(encodeFrame(JSON.stringify(told)));
  }).then((result) => ownResult(services, mcpRequest, result));
  if (!mcpRequest.takesStream || (token === undefined && (await isQuick(working)))) {
    const body = await takenWhole(takenBy(services, mcpRequest), JSON.stringify(await working));
    mcpRequest.release();
    return new Response(body, { headers: { ...ownHeaders(mcpRequest), 'Content-Type': 'application/json' } });
  }
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      enqueue = (frame) => controller.enqueue(frame);
      for (const frame of [KEEP_ALIVE, ...queue]) enqueue(frame);
      const timer = setInterval(() => enqueue(KEEP_ALIVE), KEEP_ALIVE_MS);
      const failed = (cause: unknown) => {
        const told = rpcErrorOf(asTold(asGatewayError(cause, services.log)), mcpRequest.ctx.requestId);
        return rpcError(mcpRequest.request.id, told);
      };
      void working.catch(failed).then((message) => {
        clearInterval(timer);
        mcpRequest.release();
        if (mcpRequest.signal.aborted) return;
        enqueue(encodeFrame(JSON.stringify(message)));
        controller.close();
      });
    },
    cancel() {
      enqueue = () => {};
    },
  });
  return new Response(body, { headers: { ...ownHeaders(mcpRequest), ...STREAM_HEADERS } });
}

function tokenOf({ request }: McpRequest): RpcId | undefined {
  const { _meta: meta } = request.params;
  const token = (meta as JsonObject | undefined)?.progressToken;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}

async function isQuick(working: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), STREAM_AFTER_MS);
  });
  const done = working.then(
    () => true,
    () => true,
  );
  return Promise.race([done, late]).finally(() => clearTimeout(timer));
}
