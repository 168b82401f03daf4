import type { AnswerClaim } from '@llm0/core/cache/idempotent-answers';
import type { StoredAnswer } from '@llm0/core/cache/stored-answer';
import { ResponseCollector } from '@llm0/core/chat/collect';
import type { EventBatch } from '@llm0/core/chat/event';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatResponse } from '@llm0/core/chat/response';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { GivenBodies } from '@llm0/core/logs/body-log';
import type { AnswerSummary, Dialect } from '../dialects/dialect';
import type { Services } from '../services-type';
import type { Admission } from './admit';
import { addCostHeaders, answerHeaders } from './answer-headers';
import type { Meter } from './meter';
import type { Exchange } from './open-exchange';
import type { Answer } from './produce-answer';
import { asGatewayError } from './respond-error';

type Needs = Pick<Services, 'log' | 'bodyLog' | 'clock' | 'metrics'>;

export interface RespondInput {
  readonly dialect: Dialect;
  readonly exchange: Exchange;
  readonly admission: Admission;
  readonly answer: Answer;
  readonly meter: Meter;
  /** Of a request with an Idempotency-Key. */
  readonly claim: AnswerClaim;
  /** Fires when the caller's connection is gone. */
  readonly signal: AbortSignal;
  /** Called once the last byte went out or the caller left. */
  readonly onEnd: () => void;
}

/** The caller's answer, as one JSON body or as a stream. Failures after the first output end the stream visibly. */
export function respond(services: Needs, input: RespondInput): Promise<Response> | Response {
  return input.admission.plan.request.stream ? respondStream(services, input) : respondPlain(services, input);
}

async function respondPlain(services: Needs, input: RespondInput): Promise<Response> {
  const { answer, meter, exchange, admission, dialect } = input;
  try {
    const { response, wire } = answer.whole === undefined ? await collectAnswer(input) : { response: answer.whole };
    const overheadMs = meter.markFirstOutput();
    const headers = answerHeaders(exchange, admission, answer, overheadMs);
    const summary = meter.complete(response, response.usage);
    addCostHeaders(headers, summary);
    headers['Content-Type'] = 'application/json';
    const body = dialect.encodeResponse(response, summary, wireBody(wire, dialect));
    services.bodyLog.keep(() => bodiesOf(input, body));
    const kept = input.claim.complete(() => storedAnswer(response, summary));
    if (kept !== undefined) await kept;
    return new Response(body, { headers });
  } finally {
    answer.leave();
    input.onEnd();
  }
}

async function collectAnswer(input: RespondInput): Promise<{ response: ChatResponse; wire?: EventBatch['wire'] }> {
  const { answer } = input;
  const collector = new ResponseCollector();
  let wire: EventBatch['wire'];
  for (let batch = await answer.next(); batch !== null; batch = await answer.next()) {
    if (input.signal.aborted) throw new GatewayError('client_closed', 'The caller closed the connection.');
    collector.add(batch.events);
    wire = batch.wire;
  }
  return { response: collector.response(), wire };
}

/** The upstream's own body, where it came in the caller's format. */
function wireBody(wire: EventBatch['wire'] | undefined, dialect: Dialect): JsonObject | undefined {
  return wire?.kind === 'body' && wire.format === dialect.wireFormat ? wire.body : undefined;
}

function respondStream(services: Needs, input: RespondInput): Response {
  const { answer, meter, exchange, admission, dialect, signal } = input;
  const encoder = dialect.createStreamEncoder({
    requestId: exchange.requestId,
    model: answer.target.model,
    createdSeconds: Math.floor(admission.decision.nowMs / 1000),
    request: admission.plan.request,
  });
  const collector = new ResponseCollector();
  let ended = false;
  let lastMs: number | undefined;
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
  const keepPart = (incomplete: string): void => {
    services.bodyLog.keep(() => bodiesOf(input, JSON.stringify({ incomplete, ...collector.response() })));
  };
  const onAbort = (): void =>
    end(() => {
      meter.abort();
      input.claim.release();
      keepPart('client_closed');
    });
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
            const nowMs = services.clock.monotonicMs();
            if (lastMs !== undefined) services.metrics.chunkGapMs.observe(nowMs - lastMs);
            lastMs = nowMs;
            collector.add(batch.events);
            const bytes = encoder.encode(batch);
            if (bytes !== null) return controller.enqueue(bytes);
          }
          let last: Uint8Array | undefined;
          let kept: Promise<void> | undefined;
          end(() => {
            const response = collector.response();
            const summary = meter.complete(response, response.usage);
            last = encoder.finish(summary);
            kept = input.claim.complete(() => storedAnswer(response, summary));
            services.bodyLog.keep(() => bodiesOf(input, dialect.encodeResponse(response, summary)));
          });
          // Also where nothing is kept: the settlement leaves within this one microtask, ahead of the last bytes.
          await kept;
          if (last !== undefined) controller.enqueue(last);
          controller.close();
        } catch (cause) {
          if (signal.aborted) return onAbort();
          const error = asGatewayError(cause, services.log);
          end(() => {
            meter.fail(error);
            input.claim.fail(error);
            keepPart(error.kind);
          });
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

/** What replays of this request get. */
function storedAnswer(response: ChatResponse, summary: AnswerSummary): StoredAnswer {
  const { provider, model, usage, costNanoUsd } = summary;
  return { v: 1, provider, model, response, usage, costNanoUsd };
}

/** What LOG_BODIES keeps of an answered request. */
function bodiesOf({ exchange, admission }: RespondInput, response: string): GivenBodies {
  return {
    requestId: exchange.requestId,
    projectId: admission.principal.project.id,
    createdAtMs: admission.decision.nowMs,
    request: admission.plan.request.wire?.body,
    response,
  };
}

function closeQuietly(controller: ReadableStreamDefaultController<Uint8Array>): void {
  try {
    controller.close();
  } catch {
    // Already closed by the cancelling side.
  }
}
