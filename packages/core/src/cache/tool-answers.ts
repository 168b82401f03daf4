import type { ChatRequest } from '../chat/request';
import type { ChatChoice, ChatResponse } from '../chat/response';
import type { Project } from '../keys/api-key';

type Wish = Pick<Project, 'cacheToolCalls'>;

/** An answer with tool calls is cached only if the project allows it, so that no agent replays another. */
export function mayCache(response: ChatResponse, { cacheToolCalls }: Wish): boolean {
  return cacheToolCalls || !response.choices.some(callsTools);
}

function callsTools({ toolCalls = [], finishReason, messageExtra }: ChatChoice): boolean {
  return toolCalls.length > 0 || finishReason === 'tool_calls' || messageExtra?.function_call != null;
}

/**
 * True if concurrent identical requests may share an answer. A request with tools may not: agents in step would share
 * one run.
 */
export function mayShare({ tools = [], toolChoice, extra }: ChatRequest, { cacheToolCalls }: Wish): boolean {
  const offersTools = (tools.length > 0 || extra.functions !== undefined) && toolChoice?.type !== 'none';
  return cacheToolCalls || !offersTools;
}
