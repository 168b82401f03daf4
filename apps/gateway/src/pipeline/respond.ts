import { ResponseCollector } from '@llm0/core/chat/collect';
import type { EventBatch } from '@llm0/core/chat/event';
import type { JsonObject } from '@llm0/core/chat/json';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Dialect } from '../dialects/dialect';
import type { Services } from '../services-type';
import type { Admission } from './admit';
import { addCostHeaders, answerHeaders } from './answer-headers';
import type { Meter } from './meter';
import type { Exchange } from './open-exchange';
import type { Answer } from './produce-answer';
import { asGatewayError } from './respond-error';

export interface RespondInput {
  readonly dialect: Dialect;
  readonly exchange: Exchange;
  readonly admission: Admission;
  readonly answer: Answer;
  readonly meter: Meter;
  /** Fires when the caller's connection is gone. */
  readonly signal: AbortSignal;
  /** Called once the last byte went out or the caller left. */
  readonly onEnd: () => void;
}

/** The caller's answer, as one JSON body or as a stream. Failures after the first output end the stream visibly. */
export function respond(services: Pick<Services, 'log'>, input: RespondInput): Promise<Response> | Response {
  return input.admission.plan.request.stream ? respondStream(services, input) : respondPlain(input);
}

async function respondPlain(input: RespondInput): Promise<Response> {
  const { answer, meter, exchange, admission, dialect } = input;
  const collector = new ResponseCollector();
  let wire: EventBatch['wire'];
  try {
    for (let batch = await answer.next(); batch !== null; batch = await answer.next()) {
      if (input.signal.aborted) throw new GatewayError('client_closed', 'The caller closed the connection.');
      collector.add(batch.events);
      wire = batch.wire;
    }
    const overheadMs = meter.markFirstOutput();
    const headers = answerHeaders(exchange, admission, answer, overheadMs);
    const response = collector.response();
    const summary = meter.complete(response, response.usage);
    addCostHeaders(headers, summary);
    headers['Content-Type'] = 'application/json';
    return new Response(dialect.encodeResponse(response, summary, wireBody(wire, dialect)), { headers });
  } finally {
    answer.leave();
    input.onEnd();
  }
}

/** The upstream's own body, where it came in the caller's format. */
function wireBody(wire: EventBatch['wire'], dialect: Dialect): JsonObject | undefined {
  return wire?.kind === 'body' && wire.format === dialect.wireFormat ? wire.body : undefined;
}

function respondStream(services: Pick<Services, 'log'>, input: RespondInput): Response {
  const { answer, meter, exchange, admission, dialect, signal } = input;
  const encoder = dialect.createStreamEncoder({
    requestId: exchange.requestId,
    model: answer.target.model,
    createdSeconds: Math.floor(admission.decision.nowMs / 1000),
    request: admission.plan.request,
  });
  const collector = new ResponseCollector();
  let ended = false;
  const end = (settle: () => void): void => {
    if (ended) return;
    ended = true;
    signal.removeEventListener('abort', onAbort);
    try {
      settle();
    } finally {
      answer.leave();
      input.onEnd();
    }
  };
  const onAbort = (): void => end(() => meter.abort());
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  const headers = answerHeaders(exchange, admission, answer, meter.markFirstOutput());
  headers['Content-Type'] = 'text/event-stream; charset=utf-8';
  headers['Cache-Control'] = 'no-cache, no-transform';
  headers['X-Accel-Buffering'] = 'no';
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const batch = ended ? null : await answer.next();
            if (ended) return closeQuietly(controller);
            if (batch === null) break;
            collector.add(batch.events);
            const bytes = encoder.encode(batch);
            if (bytes !== null) return controller.enqueue(bytes);
          }
          end(() => {
            const response = collector.response();
            controller.enqueue(encoder.finish(meter.complete(response, response.usage)));
          });
          controller.close();
        } catch (cause) {
          if (signal.aborted) return onAbort();
          const error = asGatewayError(cause, services.log);
          end(() => meter.fail(error));
          meter.fail(error);
          controller.enqueue(encoder.fail(error, exchange.requestId));
          controller.close();
        }
      },
      cancel: onAbort,
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers });
}

function closeQuietly(controller: ReadableStreamDefaultController<Uint8Array>): void {
  try {
    controller.close();
  } catch {
    // Already closed by the cancelling side.
  }
}
