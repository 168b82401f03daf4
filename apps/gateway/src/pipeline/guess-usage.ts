import type { ChatEvent, EventBatch } from '@llm0/core/chat/event';
import type { ChatRequest } from '@llm0/core/chat/request';
import { type Usage, ZERO_USAGE } from '@llm0/core/chat/usage';
import { guessTokens, weighRequest } from '@llm0/core/pricing/estimate-tokens';

const TOKENS_PER_MESSAGE = 4;

/** Usage of an answer whose upstream never reported any: an abort, a failure, a sloppy vendor. */
export function guessUsage(request: ChatRequest, batches: readonly EventBatch[]): Usage {
  const weight = weighRequest(request);
  let outputBytes = 0;
  let reasoningBytes = 0;
  let pieces = 0;
  for (const batch of batches) {
    for (const event of batch.events) {
      const text = outputText(event);
      if (text === '') continue;
      pieces += 1;
      if (event.type === 'reasoning') reasoningBytes += Buffer.byteLength(text);
      else outputBytes += Buffer.byteLength(text);
    }
  }
  const reasoningTokens = guessTokens(reasoningBytes);
  return {
    ...ZERO_USAGE,
    inputTokens: guessTokens(weight.textBytes) + TOKENS_PER_MESSAGE * weight.messages,
    // Streams bring about one token a piece: never guess fewer tokens than pieces came.
    outputTokens: Math.max(guessTokens(outputBytes), pieces - reasoningTokens),
    reasoningTokens,
    estimated: true,
  };
}

function outputText(event: ChatEvent): string {
  switch (event.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
    case 'tool-arguments':
      return event.text;
    case 'tool-call':
      return event.name;
    default:
      return '';
  }
}
