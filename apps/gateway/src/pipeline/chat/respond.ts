import { untilGone } from '@llm0/core/async/until-gone';
import { ResponseCollector } from '@llm0/core/chat/collect';
import type { EventBatch } from '@llm0/core/chat/event';
import type { JsonObject } from '@llm0/core/chat/json';
import { LARGE_JSON_LENGTH } from '@llm0/core/chat/json-in-slices';
import type { ChatResponse } from '@llm0/core/chat/response';
import { clientClosed } from '@llm0/core/errors/gateway-error';
import type { Dialect } from '../../dialects/dialect';
import { addCostHeaders, type HeaderTable } from '../request/response-headers';
import { SHORT_BYTES, takenWhole } from '../request/taken-stream';
import { bodyHeaders, finishCompletion, type RespondInput, type RespondNeeds, takenBy } from './finish-completion';
import { finishLarge, packLarge } from './finish-large';
import { respondAgain } from './respond-again';
import { respondStream } from './respond-stream';

/** The caller's answer, as one JSON body or as a stream. Failures after the first output end the stream visibly. */
export function respond(services: RespondNeeds, input: RespondInput): Promise<Response> | Response {
  const { whole, sent } = input.answer;
  if (whole !== undefined && sent?.body !== undefined) return respondAgain(services, input, { whole, sent });
  return input.admission.plan.request.stream ? respondStream(services, input) : respondPlain(services, input);
}

async function respondPlain(services: RespondNeeds, input: RespondInput): Promise<Response> {
  const { answer, meter, dialect } = input;
  try {
    const known = answer.whole === undefined ? answer.atOnce : answer;
    const collected = known?.whole === undefined ? await collectAnswer(input) : undefined;
    const response = collected?.response ?? (known?.whole as ChatResponse);
    const wire = collected === undefined ? answer.atOnce?.wire : collected.wire;
    const isLarge = (collected ?? known)?.isLarge;
    const headers = bodyHeaders(input, meter.markFirstOutput());
    if (isLarge === true) return await respondLarge(services, input, { response, wire }, headers);
    const summary = meter.complete(response, response.usage);
    addCostHeaders(headers, summary);
    const text = dialect.encodeResponse(response, summary, wireBody(wire, dialect));
    const bytes = input.claim.isNone ? undefined : [Buffer.from(text)];
    const finished = finishCompletion(services, input, { response, summary, text, bytes });
    if (finished !== undefined) await finished;
    const body = text.length <= SHORT_BYTES ? text : await takenWhole(takenBy(services, input), text);
    return new Response(body, { headers });
  } finally {
    answer.leave();
    input.onEnd();
  }
}

/** Responds in slices. */
async function respondLarge(
  services: RespondNeeds,
  input: RespondInput,
  { response, wire }: Collected,
  headers: HeaderTable,
): Promise<Response> {
  const { dialect, meter, claim } = input;
  const packed = await packLarge(services, input, response);
  const summary = meter.complete(response, response.usage, packed);
  addCostHeaders(headers, summary);
  const { bytes, json } = await dialect.encodeLargeResponse(response, summary, wireBody(wire, dialect));
  const sent = claim.isNone ? undefined : [await bytes.bytes()];
  await finishLarge(services, input, { response, summary, packed, json: dialect.responseStorage && json, sent });
  return new Response(await takenWhole(takenBy(services, input), bytes), { headers });
}

interface Collected {
  readonly response: ChatResponse;
  readonly wire?: EventBatch['wire'];
  readonly isLarge?: boolean;
}

async function collectAnswer(input: RespondInput): Promise<Collected> {
  const { answer } = input;
  let collector: ResponseCollector | undefined;
  let whole: ChatResponse | undefined;
  let wire: EventBatch['wire'];
  let isLarge = false;
  for (;;) {
    const next = answer.next();
    // Stops waiting when the client disconnects: a guardrail's repeated attempts could go on.
    const batch = next instanceof Promise ? await untilGone(next, input.httpRequest.signal, answer) : next;
    if (batch === null) break;
    if (input.httpRequest.signal.aborted) throw clientClosed();
    whole = batch.whole;
    if (whole === undefined) {
      collector ??= new ResponseCollector();
      collector.add(batch.events);
    }
    wire = batch.wire;
    isLarge ||= batch.isLarge === true;
  }
  if (whole !== undefined) return { response: whole, wire, isLarge };
  collector ??= new ResponseCollector();
  return { response: collector.response(), wire, isLarge: isLarge || collector.characters > LARGE_JSON_LENGTH };
}

/** The upstream's own body, if it has the caller's format. */
function wireBody(wire: EventBatch['wire'] | undefined, dialect: Dialect): JsonObject | undefined {
  return wire?.kind === 'body' && wire.format === dialect.wireFormat ? wire.body : undefined;
}
