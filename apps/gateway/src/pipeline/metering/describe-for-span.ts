import type { ChatRequest } from '@llm0/core/chat/request';
import type { ChatResponse } from '@llm0/core/chat/response';
import type { SpanDetail } from '@llm0/core/tracing/request-trace';

const MAX_CHOICES = 128;
const MAX_ID_LENGTH = 256;

/** Span attributes of a request and its whole answer. */
export function describeForSpan(request: ChatRequest, response: ChatResponse | undefined): SpanDetail {
  const { temperature, topP, topK, frequencyPenalty, presencePenalty, seed } = request;
  return {
    ...{ temperature, topP, topK, frequencyPenalty, presencePenalty, seed },
    maxTokens: request.maxOutputTokens,
    choiceCount: request.n === 1 ? undefined : request.n,
    responseId: response?.id?.slice(0, MAX_ID_LENGTH),
    finishReasons: response?.choices.slice(0, MAX_CHOICES).map(({ finishReason }) => finishReason),
  };
}
