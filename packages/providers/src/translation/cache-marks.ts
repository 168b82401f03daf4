import { isObject } from '@llm0/core/chat/json';
import type { ChatRequest, ContentPart, Tool, ToolCall } from '@llm0/core/chat/request';
import type { DroppedParameters } from './refuse-parameter';

/** Parts that may carry a mark: the prompt up to there is cached. */
export type Markable = Tool | ContentPart | ToolCall;

export const isMarked = (item: Markable): boolean => 'cacheControl' in item && isObject(item.cacheControl);

const NO_TOOLS: readonly Tool[] = [];

/** Points that the caller set. */
export function countMarks(request: Pick<ChatRequest, 'messages' | 'tools'>): number {
  let count = 0;
  for (const tool of request.tools ?? NO_TOOLS) if (isMarked(tool)) count += 1;
  for (const message of request.messages) {
    for (const part of message.content) if ('cacheControl' in part && isMarked(part)) count += 1;
    if (message.role === 'assistant') for (const call of message.toolCalls ?? []) if (isMarked(call)) count += 1;
  }
  return count;
}

/** For vendors with automatic caching: reports marks dropped from messages, calls and tools. */
export function noteMarks(request: Pick<ChatRequest, 'messages' | 'tools'>, dropped: DroppedParameters): void {
  if (countMarks(request) > 0) dropped.note('cache_control');
}
