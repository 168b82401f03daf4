import type { FinishReason } from '@llm0/core/chat/response';

/** The vendor's `finish_reason` → ours. Source: https://platform.openai.com/docs/api-reference/chat/object */
const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['length', 'length'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  // Values of compatible servers; all others end an answer like `stop`, too.
  ['max_tokens', 'length'],
  ['model_length', 'length'],
]);

/** Values every client of the format knows. */
const STANDARD: ReadonlySet<string> = new Set(['stop', 'length', 'tool_calls', 'function_call', 'content_filter']);

/** Unknown values end an answer like `stop`. */
export function decodeFinishReason(native: string): FinishReason {
  return FINISH_REASONS.get(native) ?? 'stop';
}

/** True when the vendor's value may go out as `finish_reason` unchanged. */
export function isStandardFinishReason(native: string): boolean {
  return STANDARD.has(native);
}
