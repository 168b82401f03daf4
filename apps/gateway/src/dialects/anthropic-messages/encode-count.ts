import { readCount } from '@llm0/core/chat/input-count';
import type { ChatResponse } from '@llm0/core/chat/response';

/** The answer of `count_tokens`; `estimated` marks a guess. */
export function encodeCount(response: ChatResponse): string {
  const { inputTokens, estimated } = readCount(response);
  return JSON.stringify({ input_tokens: inputTokens, ...(estimated ? { estimated } : {}) });
}
