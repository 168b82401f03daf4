import type { FinishReason } from '@llm0/core/chat/response';
import { finishReasonIn } from '../translation/finish-reason';

/** The vendor's `finishReason` → ours. Source: https://ai.google.dev/api/generate-content#FinishReason */
const FINISH_REASONS: Readonly<Record<string, FinishReason>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  LANGUAGE: 'content_filter',
  IMAGE_SAFETY: 'content_filter',
  IMAGE_PROHIBITED_CONTENT: 'content_filter',
  IMAGE_RECITATION: 'content_filter',
  RECITATION: 'content_filter',
};

/** The model tried to call a tool and failed: another attempt may do better. */
const FAILED_CALLS: ReadonlySet<string> = new Set(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL']);

/** Unknown values end an answer like `stop`; a stop with calls in it is a stop for them. */
export function decodeFinishReason(native: string, hasCalls: boolean): FinishReason {
  const reason = finishReasonIn(FINISH_REASONS, native);
  return reason === 'stop' && hasCalls ? 'tool_calls' : reason;
}

export function isFailedCall(native: string): boolean {
  return FAILED_CALLS.has(native);
}
