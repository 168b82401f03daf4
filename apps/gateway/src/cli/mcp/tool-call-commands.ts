import type { JsonObject } from '@llm0/core/chat/json';
import { type Command, PAGE, PROJECT } from '../command';
import { amount, column, formatCell } from '../format-table';
import { dataOf } from '../read-list';

const RANGE = {
  from: { kind: 'text', help: 'RFC 3339 or a UTC day' },
  to: { kind: 'text', help: 'RFC 3339 or a UTC day (now)' },
  project: PROJECT,
  'api-key-id': { kind: 'text', help: 'only this key' },
  server: { kind: 'text', help: 'only the server of this alias' },
  tool: { kind: 'text', help: "only this tool, by the server's own name" },
  status: { kind: 'text', help: 'success, rate_limited, cap_exceeded, aborted or error' },
} as const satisfies Command['options'];

/** Commands for logged MCP tool calls. */
export const TOOL_CALL_COMMANDS: readonly Command[] = [
  {
    name: 'mcp calls',
    summary: 'List calls of MCP tools, newest first',
    options: {
      ...RANGE,
      'customer-id': { kind: 'text', help: 'only this customer' },
      'is-error': { kind: 'flag', help: 'only failed ones; --no-is-error: only successful ones' },
      'run-id': { kind: 'text', help: 'only this agent run (X-LLM0-Run-Id)' },
      'trace-id': { kind: 'text', help: 'only this W3C trace, 32 hex digits' },
      'request-id': { kind: 'text', help: 'this one' },
      ...PAGE,
    },
    run: ({ api, fields }) => api.get('/tool-calls', fields),
    columns: [
      column('created_at'),
      column('status'),
      { title: 'tool', value: ({ server, tool }: JsonObject) => `${formatCell(server)}__${formatCell(tool)}` },
      { title: 'failed', value: ({ is_error }: JsonObject) => (is_error === true ? 'yes' : 'no') },
      amount('cost_usd', 'cost usd'),
      { title: 'ms', alignRight: true, value: (row: JsonObject) => Math.round(Number(row.latency_ms)) },
      column('run_id'),
      column('error_code'),
      column('id'),
    ],
  },
  {
    name: 'stats tools',
    summary: 'Calls of MCP tools over time',
    options: {
      ...RANGE,
      interval: { kind: 'text', help: 'interval, such as 5m, 1h, 1d' },
      'group-by': { kind: 'text', help: 'server, tool, project or key' },
    },
    run: ({ api, fields }) => api.get('/stats/tools', fields),
    shown: (body) => dataOf(body, 'buckets'),
    columns: [column('start'), column('group'), amount('calls'), amount('errors'), amount('cost_usd', 'cost usd')],
  },
];
