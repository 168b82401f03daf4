import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import { countEvents, type InputCount } from '@llm0/core/chat/input-count';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ChatRequest } from '@llm0/core/chat/request';
import { type AnswerBody, parseAnswer } from '../translation/read-json';
import { upstreamFailure } from '../transport/upstream-failure';
import { MessageDecoder } from './decode-chunk';
import { decodeErrorObject } from './decode-error';
import { PROVIDER, WIRE_FORMAT } from './wire';

/** A whole plain answer → its events and the body itself. Throws `malformed` for anything that is not one. */
export function decodeResponse(bytes: AnswerBody, request: ChatRequest): EventBatch {
  const body = parseAnswer(PROVIDER, bytes);
  const error = decodeErrorObject(body);
  if (error !== undefined) throw error;
  if (request.countOnly === true) return { events: countEvents(readInputTokens(body)) };
  if (!Array.isArray(body.content)) throw upstreamFailure('malformed', PROVIDER, 'answered without any message.');
  const events: ChatEvent[] = [];
  new MessageDecoder(request).decodeWhole(body, events);
  return { events, wire: { kind: 'body', format: WIRE_FORMAT, body } };
}

/** Source: https://platform.claude.com/docs/en/api/messages/count_tokens */
function readInputTokens({ input_tokens: inputTokens }: JsonObject): InputCount {
  if (typeof inputTokens === 'number') return { inputTokens, estimated: false };
  throw upstreamFailure('malformed', PROVIDER, 'did not say how many tokens the input is.');
}
