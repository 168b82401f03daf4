import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import type { CodeModeResult } from '../../code-mode/code-mode-call';
import type { Services } from '../../services/contract';
import type { McpContext } from '../front/context';
import { settleCall } from './call-booking';
import { callOrigin } from './plan-call';

/** Scripts are no server's: what they call has rows of its own, under the same run. */
const CODE_MODE = { id: '00000000-0000-0000-0000-000000000000', alias: 'code' };

/** The row of a script, which costs nothing itself. */
export async function recordScript(
  services: Pick<Services, 'hotStore' | 'metrics' | 'clock' | 'storeClock'>,
  context: Pick<McpContext, 'exchange' | 'principal' | 'runId' | 'bytesIn'>,
  result: CodeModeResult,
): Promise<void> {
  const { exchange, principal, runId, bytesIn } = context;
  const durationMs = services.clock.monotonicMs() - exchange.startMs;
  const bytesOut = result.content.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  const record: ToolCallRecord = {
    ...callOrigin({ exchange, principal }, { tool: 'execute_code', runId, bytesIn }, CODE_MODE),
    ...{ status: 'success', isError: result.isError, durationMs, bytesOut, costNanoUsd: 0 },
    createdAtMs: services.storeClock.nowMs() - durationMs,
  };
  await settleCall(services, record, false);
}
