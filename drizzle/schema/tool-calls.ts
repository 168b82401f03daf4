import type { GuardrailMark } from '@llm0/core/guardrails/policy';
import { bigint, boolean, doublePrecision, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { instant, nanoUsd } from './columns';

/** Partitioned by day of `created_at` (UTC); written only by the log insert. */
export const toolCalls = pgTable(
  'tool_calls',
  {
    id: uuid('id').notNull(),
    createdAtMs: instant('created_at').notNull(),
    projectId: uuid('project_id').notNull(),
    apiKeyId: uuid('api_key_id').notNull(),
    customerId: text('customer_id'),
    labels: jsonb('labels').$type<Readonly<Record<string, string>>>(),
    requestId: uuid('request_id').notNull(),
    clientRequestId: text('client_request_id'),
    runId: text('run_id').notNull(),
    serverId: uuid('server_id').notNull(),
    /** Its alias at that time. */
    server: text('server').notNull(),
    /** The server's own name; of other requests to a server their method. */
    tool: text('tool').notNull(),
    status: text('status').notNull(),
    /** The tool reported a failure, or there is no answer. */
    isError: boolean('is_error').notNull(),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    latencyMs: doublePrecision('latency_ms').notNull(),
    bytesIn: bigint('bytes_in', { mode: 'number' }).notNull(),
    bytesOut: bigint('bytes_out', { mode: 'number' }).notNull(),
    costNanoUsd: nanoUsd('cost_usd').notNull(),
    guardrails: jsonb('guardrails').$type<readonly GuardrailMark[]>(),
    /** W3C trace id, 32 hex digits. */
    traceId: text('trace_id'),
  },
  (table) => [primaryKey({ columns: [table.createdAtMs, table.id] })],
);
