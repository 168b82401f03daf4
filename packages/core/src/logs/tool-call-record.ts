import type { LogStatus } from '../errors/error-table';
import type { GuardrailMark } from '../guardrails/policy';
import type { TraceMark } from '../tracing/request-trace';

/**
 * One row of `tool_calls`, as it travels through the durable queue (JSON), beside those of requests. Fields left out are null in
 * the row. Milliseconds are fractional; `createdAtMs` is the store's clock at admission; money is nano-USD.
 */
export interface ToolCallRecord {
  /** Tells it from a `LogRecord`, which has none. */
  readonly kind: 'tool_call';
  /** UUIDv7 made by the server; also `request_id`. */
  readonly id: string;
  readonly createdAtMs: number;
  readonly projectId: string;
  readonly apiKeyId: string;
  readonly customerId?: string;
  /** As a request's: the caller's, and those of key and project. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly clientRequestId?: string;
  readonly runId: string;
  /** As a request's. */
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
  /** As `LogRecord.guardrails`. */
  readonly guardrails?: readonly GuardrailMark[];
  /** As `LogRecord.corrects`: replaces the row that the reaper wrote. */
  readonly corrects?: boolean;
}
