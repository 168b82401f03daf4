import type { FinishReason } from '@llm0/core/chat/event';

/** The vendor's `stop_reason` → ours. Source: https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons */
const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};

/** Unknown values end an answer like `stop`. */
export function decodeFinishReason(native: string): FinishReason {
  return Object.hasOwn(FINISH_REASONS, native) ? (FINISH_REASONS[native] ?? 'stop') : 'stop';
}
