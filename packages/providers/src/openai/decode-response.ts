import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import { type AnswerBody, asIndex, asObject, asString, parseAnswer } from '../translation/read-json';
import { upstreamFailure } from '../transport/upstream-failure';
import { addChoiceExtras, idBaseOf, startEvent } from './decode-chunk';
import { createChoiceState, decodeDelta } from './decode-delta';
import { decodeErrorObject } from './decode-error';
import { decodeUsage } from './decode-usage';
import { decodeFinishReason } from './finish-reasons';
import { readUsualAnswer } from './usual/read-usual-answer';
import { ANSWER_FIELDS, PADDING_FIELD } from './wire';

/** A whole plain answer, and the body itself. Throws `malformed` for anything that is not one. */
export function decodeResponse(provider: string, bytes: AnswerBody): EventBatch {
  return decodeBody(provider, parseAnswer(provider, bytes));
}

export function decodeBody(provider: string, body: JsonObject): EventBatch {
  const error = body.error === undefined && body.object !== 'error' ? undefined : decodeErrorObject(provider, body);
  if (error !== undefined) throw error;
  return readUsualAnswer(body) ?? readAnyAnswer(provider, body);
}

/** An answer of any server that speaks the format. Brings the body into shape. */
export function readAnyAnswer(provider: string, body: JsonObject): EventBatch {
  const choices = Array.isArray(body.choices) ? body.choices : [];
  const idBase = idBaseOf(body);
  const events: ChatEvent[] = [startEvent(body)];
  for (const name in body) {
    const value = body[name];
    if (ANSWER_FIELDS.has(name) || name === PADDING_FIELD || value === undefined || value === null) continue;
    events.push({ type: 'extra', scope: 'answer', name, value });
  }
  let decoded = 0;
  for (const [position, item] of choices.entries()) if (decodeChoice(item, position, idBase, events)) decoded += 1;
  if (decoded === 0) throw upstreamFailure('malformed', provider, 'answered without any message.');
  const usage = decodeUsage(body.usage, body.service_tier, body.tool_usage);
  if (usage !== undefined) events.push({ type: 'usage', usage });
  return { events, wire: { kind: 'body', format: 'openai-chat', body } };
}

function decodeChoice(item: JsonValue, position: number, idBase: string, events: ChatEvent[]): boolean {
  const choice = asObject(item);
  const message = asObject(choice?.message);
  if (choice === undefined || message === undefined) return false;
  const index = asIndex(choice.index) ?? position;
  decodeDelta(message, createChoiceState(index, false, idBase), events);
  addChoiceExtras(choice, index, events);
  const given = asString(choice.finish_reason) || undefined;
  const nativeReason = asString(choice.native_finish_reason) || given;
  events.push({
    type: 'finish',
    choice: index,
    reason: given === undefined ? 'stop' : decodeFinishReason(given),
    ...(nativeReason === undefined ? {} : { nativeReason }),
  });
  return true;
}
