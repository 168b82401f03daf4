import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import type { ChatRequest } from '@llm0/core/chat/request';
import { type AnswerBody, parseAnswer } from '../translation/read-json';
import { upstreamFailure } from '../transport/upstream-failure';
import { ContentDecoder } from './decode-chunk';
import { PROVIDER } from './wire';

/** A whole plain answer → its events and the body itself. Throws `malformed` for anything that is not one. */
export function decodeResponse(bytes: AnswerBody, request: ChatRequest): EventBatch {
  const body = parseAnswer(PROVIDER, bytes);
  const events: ChatEvent[] = [];
  const decoder = new ContentDecoder(request);
  decoder.decode(body, events);
  if (!decoder.hasAnswer) throw upstreamFailure('malformed', PROVIDER, 'answered without any candidate.');
  if (!decoder.finish(events)) throw upstreamFailure('truncated', PROVIDER, 'answered without saying how it ended.');
  return { events, wire: { kind: 'body', format: 'gemini-content', body } };
}
