import type { FinishReason } from '@llm0/core/chat/response';
import { finishReasonIn } from '../translation/finish-reason';

/** The vendor's `finish_reason` → ours. Source: https://docs.cohere.com/reference/chat */
const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  COMPLETE: 'stop',
  STOP_SEQUENCE: 'stop',
  MAX_TOKENS: 'length',
  ERROR_LIMIT: 'length',
  TOOL_CALL: 'tool_calls',
  ERROR_TOXIC: 'content_filter',
};

/** A failure is an ending, too: the status it would have had. */
const FAILED: Readonly<Record<string, number>> = { ERROR: 500, TIMEOUT: 504 };

/** Unknown values end an answer like `stop`; a stop with calls in it is a stop for them. */
export function decodeFinishReason(native: string, hasCalls: boolean): FinishReason {
  const reason = finishReasonIn(FINISH_REASONS, native);
  return reason === 'stop' && hasCalls ? 'tool_calls' : reason;
}

/** undefined for an answer that did not fail. */
export function failedStatus(native: string): number | undefined {
  return Object.hasOwn(FAILED, native) ? FAILED[native] : undefined;
}
