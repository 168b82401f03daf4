import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import type { ChatRequest } from '@llm0/core/chat/request';
import { type AnswerBody, asObject, parseAnswer } from '../translation/read-json';
import { upstreamFailure } from '../transport/upstream-failure';
import { ConverseDecoder } from './decode-chunk';
import { decodeErrorObject } from './decode-error';
import { PROVIDER } from './wire';

/** A whole plain answer → its events and the body itself. Throws `malformed` for anything that is not one. */
export function decodeResponse(bytes: AnswerBody, request: ChatRequest): EventBatch {
  const body = parseAnswer(PROVIDER, bytes);
  const error = decodeErrorObject(body);
  if (error !== undefined) throw error;
  const content = asObject(asObject(body.output)?.message)?.content;
  if (!Array.isArray(content)) throw upstreamFailure('malformed', PROVIDER, 'answered without any message.');
  const events: ChatEvent[] = [];
  new ConverseDecoder(request).decodeWhole(body, content, events);
  return { events, wire: { kind: 'body', format: 'bedrock-converse', body } };
}
