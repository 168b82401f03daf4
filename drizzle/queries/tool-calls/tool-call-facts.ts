import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import { joinToolName } from '@llm0/core/mcp/tool-name';
import type { UsageFact } from '../stats/write/rollup-deltas';

/** Roll-up increments of a call, from its row. */
export interface ToolCallFact {
  readonly createdAtMs: number;
  readonly projectId: string;
  readonly apiKeyId: string;
  readonly customerId: string | null;
  readonly labels: Readonly<Record<string, string>> | null;
  readonly server: string;
  readonly tool: string;
  readonly status: string;
  readonly isError: boolean;
  readonly errorCode: string | null;
  readonly latencyMs: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly costNanoUsd: number;
}

/** +1 for a row that was written, −1 for one that was replaced. */
export interface SignedCall {
  readonly call: ToolCallFact;
  readonly sign: 1 | -1;
}

export const toolCallFact = (record: ToolCallRecord): ToolCallFact => ({
  createdAtMs: record.createdAtMs,
  projectId: record.projectId.toLowerCase(),
  apiKeyId: record.apiKeyId.toLowerCase(),
  customerId: record.customerId ?? null,
  labels: record.labels ?? null,
  server: record.server,
  tool: record.tool,
  status: record.status,
  isError: record.isError,
  errorCode: record.errorCode ?? null,
  latencyMs: record.durationMs,
  bytesIn: record.bytesIn,
  bytesOut: record.bytesOut,
  costNanoUsd: record.costNanoUsd,
});

/** Prefix for servers in provider columns; no provider's name has a colon. */
const MCP_PROVIDER = 'mcp:';

/** Cost of a call for its project, key and customer, without a request or a duration; undefined if free. */
export function moneyFact(call: ToolCallFact): UsageFact | undefined {
  const { createdAtMs, projectId, apiKeyId, customerId, labels, server, tool, status, costNanoUsd } = call;
  // Customers that only call free tools are customers all the same.
  if (costNanoUsd === 0 && (customerId === null || status !== 'success')) return undefined;
  return {
    ...{ createdAtMs, projectId, apiKeyId, customerId, labels, status, costNanoUsd },
    ...{
      model: joinToolName(server, tool),
      provider: `${MCP_PROVIDER}${server}`,
      cache: 'miss',
      modality: 'tool',
      requests: 0,
    },
    ...{ errorCode: null, savedNanoUsd: 0, failovers: 0, tokensIn: 0, tokensOut: 0 },
    ...{ tokensCacheRead: 0, tokensCacheWrite: 0, tokensReasoning: 0 },
    ...{ latencyMs: null, ttftMs: null, overheadMs: null, upstreamMs: null },
  };
}

/** Error codes of calls that were refused before their tool was found. */
export const UNFOUND: readonly string[] = ['not_found', 'permission_denied', 'invalid_request'];

/** The tool as roll-ups name it: names that callers may have invented would make these as long as the log. */
export const rolledUpTool = ({ tool, errorCode }: ToolCallFact): string =>
  errorCode !== null && UNFOUND.includes(errorCode) ? '' : tool;
