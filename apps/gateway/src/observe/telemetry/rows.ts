import type { LogRecord } from '@llm0/core/logs/log-record';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';

/** Rows of both logs, as they were stored. */
export interface Rows {
  readonly requests: readonly LogRecord[];
  readonly calls: readonly ToolCallRecord[];
}

/** True if a row has spans. A correction has none: the reaper's row already sent them under the same id. */
export const hasSpans = ({ trace, corrects }: LogRecord | ToolCallRecord): boolean =>
  trace !== undefined && corrects !== true;

/** Provider and model of a request, for metrics. */
export const askedProvider = ({ finalProvider, provider }: LogRecord): string => finalProvider ?? provider ?? '';

export const modelKey = (provider: string, model: string): string => `${provider} ${model}`;
