import type { AnswerFrom, SentTo } from '@llm0/gateway/admin/route-types';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { ApiError, api, read, readOrNull, send } from './client';
import { useLive } from './live';
import { usePages } from './pages';
import type { StatsQuery } from './stats';

export type McpServer = AnswerFrom<(typeof api.mcp.servers)['$get']>['data'][number];
export type McpServerInput = SentTo<(typeof api.mcp.servers)['$post']>['json'];
export type McpServerChanges = SentTo<(typeof api.mcp.servers)[':id']['$patch']>['json'];
export type McpTool = AnswerFrom<(typeof api.mcp.servers)[':id']['tools']['$get']>['data'][number];
export type McpCheck = AnswerFrom<(typeof api.mcp.servers)[':id']['refresh']['$post']>;
export type McpPreview = AnswerFrom<(typeof api.mcp.servers)['check']['$post']>;
export type McpGrant = AnswerFrom<(typeof api.mcp.servers)[':id']['grants']['$get']>['data'][number];
export type ToolCall = AnswerFrom<(typeof api)['tool-calls']['$get']>['data'][number];
export type ToolBucket = AnswerFrom<typeof api.stats.tools.$get>['buckets'][number];

const ALL = '1000';
const PAGE_SIZE = '100';
const REFRESH_MS = 30_000;

/** All MCP servers, as the process that answers sees them. */
export function useMcpServers() {
  const client = useQueryClient();
  const again = () => void client.invalidateQueries({ queryKey: ['mcp'] });
  const isTold = useLive({ topic: 'audit', onNews: again, onReset: again });
  return useQuery({
    queryKey: ['mcp', 'servers'],
    queryFn: () => read(api.mcp.servers.$get({ query: { limit: ALL } })),
    // The stream doesn't report server health; it reports only the first server.
    refetchInterval: ({ state }) => (isTold && state.data?.data.length === 0 ? false : REFRESH_MS),
  });
}

export const readMcpServer = (id: string) => readOrNull(api.mcp.servers[':id'].$get({ param: { id } }));

export const useMcpTools = (id: string) =>
  useQuery({
    queryKey: ['mcp', 'tools', id],
    queryFn: () => read(api.mcp.servers[':id'].tools.$get({ param: { id } })),
  });

/** Users who granted the gateway access to a server. */
export const useMcpGrants = (id: string) =>
  useQuery({
    queryKey: ['mcp', 'grants', id],
    queryFn: () => read(api.mcp.servers[':id'].grants.$get({ param: { id }, query: { limit: ALL } })),
  });

export interface ToolCallQuery {
  readonly project_id?: string;
  readonly server?: string;
  readonly tool?: string;
  readonly status?: 'success' | 'error' | 'aborted' | 'rate_limited' | 'cap_exceeded';
  readonly is_error?: 'true' | 'false';
  readonly run_id?: string;
  readonly from?: string;
  readonly to?: string;
}

/** Calls of tools, newest first, page by page. */
export const useToolCalls = (query: ToolCallQuery) =>
  usePages({
    queryKey: ['tool-calls', query],
    readPage: (at) => read(api['tool-calls'].$get({ query: { ...query, limit: PAGE_SIZE, ...at } })),
    keepsPrevious: true,
  });

export const readToolCall = (id: string) => readOrNull(api['tool-calls'][':id'].$get({ param: { id } }));

/** Counts, times and cost by server, tool, project or key. */
export const useToolStats = (query: StatsQuery & { readonly server?: string }) =>
  useQuery({
    queryKey: ['stats', 'tools', query],
    queryFn: () => read(api.stats.tools.$get({ query: { ...query, group_by: query.group_by as 'server' } })),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });

export const useToolBodies = (id: string, mayRead: boolean) =>
  useQuery({
    enabled: mayRead,
    queryKey: ['tool-calls', 'bodies', id],
    retry: false,
    queryFn: () => read(api['tool-calls'][':id'].bodies.$get({ param: { id } })),
  });

/** Sender: a key of a project, through the session. */
export interface ToolSender {
  readonly projectId: string;
  readonly keyId: string;
}

export interface ToolOutcome {
  readonly content: readonly { readonly type: string; readonly [name: string]: unknown }[];
  readonly structuredContent?: unknown;
  readonly isError: boolean;
  readonly ms: number;
  readonly runId: string | null;
}

interface Rpc {
  readonly result?: {
    readonly content?: ToolOutcome['content'];
    readonly structuredContent?: unknown;
    readonly isError?: boolean;
  };
  readonly error?: { readonly message?: string; readonly code?: number; readonly data?: { readonly param?: string } };
}

interface Calling {
  readonly sender: ToolSender;
  /** A server's alias, or `code`. */
  readonly scope: string;
  readonly name: string;
  readonly args: unknown;
  readonly signal?: AbortSignal;
}

/** Calls a tool as a key, by the session. Throws `ApiError` with the agent's message. */
export async function callTool({ sender, scope, name, args, signal }: Calling): Promise<ToolOutcome> {
  const startMs = performance.now();
  const path = `/admin/v1/projects/${sender.projectId}/keys/${sender.keyId}/mcp?scope=${encodeURIComponent(scope)}`;
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } });
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const response = await send(path, { method: 'POST', headers, body, signal });
  const answer = readAnswer(await response.text());
  if (answer.error !== undefined || answer.result === undefined) {
    const { message = 'No answer came.', code, data } = answer.error ?? {};
    throw new ApiError(message, response.status, `rpc_${code}`, data?.param ?? null);
  }
  const { content = [], structuredContent, isError = false } = answer.result;
  const runId = response.headers.get('x-llm0-run-id');
  return { content, structuredContent, isError, ms: performance.now() - startMs, runId };
}

/** One message, or the last one of a stream. */
function readAnswer(text: string): Rpc {
  const lines = text.split('\n').filter((line) => line.startsWith('data:'));
  return JSON.parse(lines.length === 0 ? text : (lines.at(-1) ?? '').slice('data:'.length)) as Rpc;
}
