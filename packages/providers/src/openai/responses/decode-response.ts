import type { EventBatch } from '@llm0/core/chat/event';
import { type AnswerBody, parseAnswer } from '../../translation/read-json';
import { upstreamFailure } from '../../transport/upstream-failure';
import { decodeErrorObject } from '../decode-error';
import { endEvents, failureOf, outputEvents, startEvents } from './decode-answer';
import { WIRE_FORMAT } from './wire';

/** A whole plain answer → its events and the body itself. Throws `malformed` for anything that is not one. */
export function decodeResponse(provider: string, bytes: AnswerBody): EventBatch {
  const body = parseAnswer(provider, bytes);
  if (body.object !== 'response') {
    const error = decodeErrorObject(provider, body);
    if (error !== undefined) throw error;
  }
  const failure = failureOf(provider, body);
  if (failure !== undefined) throw failure;
  if (!Array.isArray(body.output)) throw upstreamFailure('malformed', provider, 'answered without any output.');
  const events = [...startEvents(body), ...outputEvents(body), ...endEvents(body)];
  return { events, wire: { kind: 'body', format: WIRE_FORMAT, body } };
}
