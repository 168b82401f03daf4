import type { ChatRequest } from '../chat/request';
import type { ChatChoice, ChatResponse } from '../chat/response';
import type { Project } from '../keys/api-key';

type Wish = Pick<Project, 'cacheToolCalls'>;

/** An answer with tool calls is cached only if the project allows it, so that no agent replays another. */
export function mayCache(response: ChatResponse, { cacheToolCalls }: Wish): boolean {
  return cacheToolCalls || !response.choices.some(callsTools);
}

function callsTools({ toolCalls, finishReason, messageExtra }: ChatChoice): boolean {
  const isCall = toolCalls !== undefined && toolCalls.length > 0;
  return isCall || finishReason === 'tool_calls' || messageExtra?.function_call != null;
}

/**
 * True if concurrent identical requests may share an answer. A request with tools may not: agents in step would share
 * one run.
 */
export function mayShare({ tools, toolChoice, extra }: ChatRequest, { cacheToolCalls }: Wish): boolean {
  const hasTools = (tools !== undefined && tools.length > 0) || extra.functions !== undefined;
  return cacheToolCalls || !hasTools || toolChoice?.type === 'none';
}
