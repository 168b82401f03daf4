import { ERROR_TABLE } from '@llm0/core/errors/error-table';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import type { Span } from '@llm0/core/tracing/span';
import { attemptSpanId, requestSpanId } from '@llm0/core/tracing/trace-context';
import type { SpanOptions } from './build-request-spans';
import { AttributeWriter } from './span-attributes';

/** Row name of a request without a tool: its method. */
const isMethod = (tool: string): boolean => METHODS.has(tool);
const METHODS: ReadonlySet<string> = new Set([
  ...['resources/read', 'resources/subscribe', 'resources/unsubscribe', 'prompts/get', 'completion/complete'],
  ...['logging/setLevel', 'ping', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'],
]);
/** An error in the protocol's own words. */
const RPC_CODE = /^rpc_(-?\d+)$/;
/** The tool reported an error. */
const TOOL_ERROR = 'tool_error';
/** A script's own row, without a server. */
const SCRIPTS = 'code';

/** One SERVER span, with a CLIENT span if the call reached a server. Empty for a row without export. */
export function buildToolSpans(record: ToolCallRecord, options: SpanOptions): readonly Span[] {
  const { trace, traceId, id, tool, server } = record;
  if (trace === undefined || traceId === undefined) return [];
  const method = isMethod(tool) ? tool : 'tools/call';
  const target = isMethod(tool) ? '' : ` ${tool}`;
  const rpcCode = RPC_CODE.exec(record.errorCode ?? '')?.[1];
  const error = rpcCode ?? record.errorCode ?? (record.isError ? TOOL_ERROR : undefined);
  const shared = {
    traceId,
    startMs: trace.startMs,
    endMs: trace.startMs + record.durationMs,
    ...(trace.state === undefined ? {} : { state: trace.state }),
    ...(error === undefined ? {} : { error }),
  };
  const conventions = {
    mcpMethod: method,
    ...(isMethod(tool) ? {} : { operation: 'execute_tool', toolName: tool }),
    ...{ errorType: error, rpcStatus: rpcCode },
  };
  const inside: Span = {
    ...shared,
    spanId: requestSpanId(id),
    ...(trace.parent === undefined ? {} : { parentSpanId: trace.parent }),
    isParentRemote: true,
    kind: 'server',
    name: `${method}${target}`,
    attributes: new AttributeWriter(options.onlyLatestNames)
      .add({ ...conventions, userId: record.customerId, sessionId: record.runId })
      .addOwn(ownOf(record, options))
      .addUnder('label', record.labels).attributes,
  };
  if (server === SCRIPTS || wasRefused(record)) return [inside];
  const outside: Span = {
    ...shared,
    spanId: attemptSpanId(id, 1),
    parentSpanId: requestSpanId(id),
    isParentRemote: false,
    kind: 'client',
    name: `${method}${target}`,
    attributes: new AttributeWriter(options.onlyLatestNames)
      .add({ ...conventions, toolArguments: options.content?.input, toolResult: options.content?.output })
      .addOwn({ toolServer: server, costUsd: record.costNanoUsd / 1e9 }).attributes,
  };
  return [inside, outside];
}

function ownOf(record: ToolCallRecord, { content }: SpanOptions) {
  const { id: requestId, clientRequestId, projectId, apiKeyId, customerId, runId, status } = record;
  const names = { requestId, clientRequestId, projectId, apiKeyId, customerId, runId, status };
  const { server: toolServer, bytesIn, bytesOut } = record;
  const errorMessage = content === undefined ? undefined : record.errorMessage;
  return { ...names, toolServer, bytesIn, bytesOut, costUsd: record.costNanoUsd / 1e9, errorMessage };
}

/** True if the gateway refused the call before any server. */
export function wasRefused({ errorCode, status }: ToolCallRecord): boolean {
  if (status === 'rate_limited' || status === 'cap_exceeded') return true;
  if (errorCode === undefined || errorCode.startsWith('upstream_') || !Object.hasOwn(ERROR_TABLE, errorCode))
    return false;
  return ERROR_TABLE[errorCode as keyof typeof ERROR_TABLE].status < 499;
}
