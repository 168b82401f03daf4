import type { FinishReason } from '@llm0/core/chat/event';

/** The vendor's `stopReason` → ours. Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_MessageStopEvent.html */
const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  guardrail_intervened: 'content_filter',
  content_filtered: 'content_filter',
  refusal: 'content_filter',
};

/** The model's output could not be read: another attempt may do better. */
const FAILED_OUTPUT: ReadonlySet<string> = new Set(['malformed_model_output', 'malformed_tool_use']);

/** Unknown values end an answer like `stop`. */
export function decodeFinishReason(native: string): FinishReason {
  return Object.hasOwn(FINISH_REASONS, native) ? (FINISH_REASONS[native] ?? 'stop') : 'stop';
}

export function isFailedOutput(native: string): boolean {
  return FAILED_OUTPUT.has(native);
}
