import type { LogStatus } from '../errors/error-table';
import type { GuardrailMark } from '../guardrails/policy';
import type { TraceMark } from '../tracing/request-trace';

/**
 * One row of `tool_calls` in the durable queue (JSON). Missing fields are null in the row. Milliseconds are fractional;
 * `createdAtMs` is the store's clock at admission; money is nano-USD.
 */
export interface ToolCallRecord {
  /** Distinguishes it from a `LogRecord`, which has none. */
  readonly kind: 'tool_call';
  /** UUIDv7 of the server; also `request_id`. */
  readonly id: string;
  readonly createdAtMs: number;
  readonly projectId: string;
  readonly apiKeyId: string;
  readonly customerId?: string;
  /** Labels of the caller, key and project. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly clientRequestId?: string;
  readonly runId: string;
  /** See `LogRecord.traceId`. */
  readonly traceId?: string;
  readonly trace?: TraceMark;
  readonly serverId: string;
  readonly server: string;
  readonly tool: string;
  readonly status: LogStatus;
  readonly isError: boolean;
  readonly errorCode?: string;
  readonly errorMessage?: string;
  readonly durationMs: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly costNanoUsd: number;
  /** See `LogRecord.guardrails`. */
  readonly guardrails?: readonly GuardrailMark[];
  /** See `LogRecord.corrects`: replaces the reaper's row. */
  readonly corrects?: boolean;
}
