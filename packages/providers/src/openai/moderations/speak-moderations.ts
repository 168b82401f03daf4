import type { EventBatch } from '@llm0/core/chat/event';
import type { ChatRequest } from '@llm0/core/chat/request';
import { ZERO_USAGE } from '@llm0/core/chat/usage';
import type { EncodeContext, UpstreamRequest } from '../../provider-request';
import { jsonBody } from '../../translation/json-body';
import { type AnswerBody, asCount, asObject, asObjects, parseAnswer } from '../../translation/read-json';
import { upstreamFailure } from '../../transport/upstream-failure';
import { endpointOf } from '../endpoint';

/**
 * Presents moderation models as chat models: judges the last message and answers with the verdict as JSON. Priced,
 * booked and logged like other calls. Source: https://platform.openai.com/docs/api-reference/moderations
 */
export function encodeModeration(request: ChatRequest, context: EncodeContext): UpstreamRequest {
  const body = jsonBody({ model: context.model, input: lastText(request) }, false);
  return { ...endpointOf(context.connection, 'moderations'), body, dropped: [] };
}

/** The verdict as a chat answer. Throws `malformed`. */
export function decodeVerdict(name: string, bytes: AnswerBody): EventBatch {
  const body = parseAnswer(name, bytes);
  const [result] = asObjects(body.results);
  const categories = asObject(result?.categories);
  if (categories === undefined) throw upstreamFailure('malformed', name, 'answered without a verdict.');
  const named = Object.keys(categories).filter((category) => categories[category] === true);
  const text = JSON.stringify({ flagged: result?.flagged === true || named.length > 0, categories: named });
  const inputTokens = asCount(asObject(body.usage)?.prompt_tokens);
  return {
    events: [
      { type: 'start' },
      { type: 'text', choice: 0, text },
      { type: 'finish', choice: 0, reason: 'stop' },
      ...(inputTokens === 0 ? [] : [{ type: 'usage' as const, usage: { ...ZERO_USAGE, inputTokens } }]),
    ],
  };
}

function lastText({ messages }: ChatRequest): string {
  const parts = messages.at(-1)?.content ?? [];
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}
