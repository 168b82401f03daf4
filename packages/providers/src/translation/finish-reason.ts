import type { FinishReason } from '@llm0/core/chat/response';

/** A vendor's word for the end of an answer → ours. Unknown ones end it like `stop`. */
export function finishReasonIn(reasons: Readonly<Record<string, FinishReason>>, native: string): FinishReason {
  return Object.hasOwn(reasons, native) ? (reasons[native] ?? 'stop') : 'stop';
}
