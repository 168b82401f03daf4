import { ResponseCollector } from '@llm0/core/chat/collect';
import type { EventBatch } from '@llm0/core/chat/event';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatResponse } from '@llm0/core/chat/response';
import { isLongJson } from '@llm0/core/chat/write-json-in-turns';
import { clientClosed } from '@llm0/core/errors/gateway-error';
import type { Dialect } from '../../dialects/dialect';
import { addCostHeaders } from '../exchange/response-headers';
import { bodyHeaders } from './body-headers';
import { finishCompletion, type RespondInput, type RespondNeeds } from './finish-completion';
import { respondAgain } from './respond-again';
import { respondStream } from './respond-stream';

/** The caller's answer, as one JSON body or as a stream. Failures after the first output end the stream visibly. */
export function respond(services: RespondNeeds, input: RespondInput): Promise<Response> | Response {
  const { whole, sent } = input.answer;
  if (whole !== undefined && sent?.body !== undefined) return respondAgain(services, input, { whole, body: sent.body });
  return input.admission.plan.request.stream ? respondStream(services, input) : respondPlain(services, input);
}

async function respondPlain(services: RespondNeeds, input: RespondInput): Promise<Response> {
  const { answer, meter, dialect } = input;
  try {
    const { response, wire } = answer.whole === undefined ? await collectAnswer(input) : { response: answer.whole };
    const overheadMs = meter.markFirstOutput();
    const headers = bodyHeaders(input, overheadMs);
    const summary = meter.complete(response, response.usage);
    addCostHeaders(headers, summary);
    const own = wireBody(wire, dialect);
    const large = isLongJson(response) ? await dialect.encodeLargeResponse?.(response, summary, own) : undefined;
    const body = large ?? dialect.encodeResponse(response, summary, own);
    const text = typeof body === 'string' ? body : undefined;
    const bytes = input.claim.isNone || text === undefined ? undefined : [Buffer.from(text)];
    const finished = finishCompletion(services, input, { response, summary, text, bytes });
    if (finished !== undefined) await finished;
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
    if (input.signal.aborted) throw clientClosed();
    collector.add(batch.events);
    wire = batch.wire;
  }
  return { response: collector.response(), wire };
}

/** The upstream's own body, where it came in the caller's format. */
function wireBody(wire: EventBatch['wire'] | undefined, dialect: Dialect): JsonObject | undefined {
  return wire?.kind === 'body' && wire.format === dialect.wireFormat ? wire.body : undefined;
}
