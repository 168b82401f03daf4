import type { LogStatus } from '../errors/error-table';
export interface ToolCallRecord {
  readonly kind: 'tool_call';
  readonly id: string;
  readonly createdAtMs: number;
  readonly projectId: string;
  readonly apiKeyId: string;
  readonly customerId?: string;
  readonly clientRequestId?: string;
  readonly runId: string;
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
}
