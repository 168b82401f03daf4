import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import type { ChatRequest } from '@llm0/core/chat/request';
import { type AnswerBody, asObject, parseAnswer } from '../translation/read-json';
import { upstreamFailure } from '../transport/upstream-failure';
import { ChatDecoder } from './decode-chunk';
import { PROVIDER } from './wire';

/** A whole plain answer → its events and the body itself. Throws `malformed` for anything that is not one. */
export function decodeResponse(bytes: AnswerBody, request: ChatRequest): EventBatch {
  const body = parseAnswer(PROVIDER, bytes);
  if (asObject(body.message) === undefined) {
    throw upstreamFailure('malformed', PROVIDER, 'answered without any message.');
  }
  const events: ChatEvent[] = [];
  new ChatDecoder(request).decodeWhole(body, events);
  return { events, wire: { kind: 'body', format: 'cohere-chat', body } };
}
