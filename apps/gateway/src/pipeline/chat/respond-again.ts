import { type SentAnswer, unpackBody } from '@llm0/core/cache/cached-answer';
import type { ChatResponse } from '@llm0/core/chat/response';
import { addCostHeaders } from '../request/response-headers';
import { takenWhole } from '../request/taken-stream';
import { bodyHeaders, finishCompletion, type RespondInput, type RespondNeeds, takenBy } from './finish-completion';
import { finishLarge, NOT_KEPT } from './finish-large';

/** Replays the first answer of an `Idempotency-Key` byte for byte; only the headers show that it was free. */
export async function respondAgain(
  services: RespondNeeds,
  input: RespondInput,
  { whole, sent }: { readonly whole: ChatResponse; readonly sent: SentAnswer },
): Promise<Response> {
  try {
    const headers = bodyHeaders(input, input.meter.markFirstOutput());
    const summary = input.meter.complete(whole, whole.usage);
    if (!input.admission.plan.request.stream) addCostHeaders(headers, summary);
    const finished = { response: whole, summary };
    if (input.answer.isLarge === true) await finishLarge(services, input, { ...finished, packed: NOT_KEPT });
    else await finishCompletion(services, input, { ...finished, text: undefined });
    return new Response(await takenWhole(takenBy(services, input), await unpackBody(sent, input.ctx.held)), {
      headers,
    });
  } finally {
    input.answer.leave();
    input.onEnd();
  }
}
