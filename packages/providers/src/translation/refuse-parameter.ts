import { isObject } from '@llm0/core/chat/json';
import type { ChatRequest, ContentPart, Tool, ToolCall } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { EncodeContext } from '../provider-request';

/** Handles an unsupported parameter: throws, or records it as dropped. `reason` precedes the model. */
export type Refuse = (param: string, reason: string) => void;

const NONE: readonly string[] = [];

/** Records dropped parameters; refuses with `unsupported_parameter` unless the caller allows dropping. */
export class DroppedParameters {
  private dropped: Set<string> | undefined;

  constructor(private readonly context: Pick<EncodeContext, 'dropParams' | 'model'>) {}

  /** The caller allowed dropping. */
  get allowed(): boolean {
    return this.context.dropParams;
  }

  readonly refuse: Refuse = (param, reason) => {
    if (!this.context.dropParams) throw unsupportedParameter(param, this.context.model, reason);
    this.note(param);
  };

  /** Drops a parameter regardless of the caller's choice: the request would fail, and nothing else is lost. */
  note(param: string): void {
    this.dropped ??= new Set();
    this.dropped.add(param);
  }

  names(): readonly string[] {
    return this.dropped === undefined ? NONE : [...this.dropped];
  }
}

function unsupportedParameter(param: string, model: string, reason: string): GatewayError {
  const advice = 'Leave it out, or send X-LLM0-Drop-Params: true to have it dropped.';
  return new GatewayError('unsupported_parameter', `"${param}" ${reason} ${model}. ${advice}`, { param });
}

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
