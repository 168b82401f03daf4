import { ERROR_TABLE } from '@llm0/core/errors/error-table';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import type { Services } from '../../services/contract';
import type { McpRequest } from '../endpoint/mcp-request';
import { settleCall } from './call-booking';
import type { JudgedResult } from './guard-list';
import { callOrigin } from './plan-call';

/** Placeholder server of scripts; their calls have rows of their own under the same run. */
const CODE_MODE = { id: '00000000-0000-0000-0000-000000000000', alias: 'code' };

/** The row of a script, which costs nothing itself. */
export async function recordScript(
  services: Pick<Services, 'hotStore' | 'metrics' | 'clock' | 'storeClock'>,
  mcpRequest: Pick<McpRequest, 'ctx' | 'principal' | 'runId' | 'bytesIn'>,
  { result, marks: guardrails, refusal }: JudgedResult,
): Promise<void> {
  const { ctx, principal, runId, bytesIn } = mcpRequest;
  const durationMs = services.clock.monotonicMs() - ctx.startMs;
  const bytesOut = result.content.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  const record: ToolCallRecord = {
    ...callOrigin({ ctx, principal }, { tool: 'execute_code', runId, bytesIn }, CODE_MODE),
    ...(refusal === undefined ? { status: 'success', isError: result.isError, bytesOut } : refused(refusal)),
    ...{ durationMs, costNanoUsd: 0, guardrails },
    createdAtMs: services.storeClock.nowMs() - durationMs,
  };
  await settleCall(services, record, { held: false });
}

const refused = ({ kind, message }: GatewayError) => ({
  ...{ status: ERROR_TABLE[kind].logStatus, isError: true, bytesOut: 0, errorCode: kind, errorMessage: message },
});
