import type { ChatEvent } from '@llm0/core/chat/event';
import type { FinishReason } from '@llm0/core/chat/response';
import { finishReasonIn } from '../translation/finish-reason';

/**
 * Stop reasons of models and hosts. Sources:
 * https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons,
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_MessageStopEvent.html
 */
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

/** The end of an answer. A call that replaces structured output is the answer, not a call. */
export function finishEvent(native: string | undefined, toolCalls: number): ChatEvent {
  const given = finishReasonIn(FINISH_REASONS, native ?? 'end_turn');
  const reason = given === 'tool_calls' && toolCalls === 0 ? 'stop' : given;
  return { type: 'finish', choice: 0, reason, ...(native === undefined ? {} : { nativeReason: native }) };
}
