import { createRoute, z } from '@hono/zod-openapi';
import { listAuditEntries, type StoredAuditEntry } from '@llm0/drizzle/queries/access/audit-trail';
import { listSystemLogs, type StoredSystemLog } from '@llm0/drizzle/queries/logs/system-logs';
import { answers, createRouter, routesOf } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { id, instantShown, pageOf, pageQuery, showPage, text } from '../fields/fields';
import { parseStored } from '../fields/json-money';
import { showInstant, showMsOrNull } from '../fields/show-fields';

const at = routesOf('history');
const anything = z.unknown().openapi({ type: 'object' });

const auditEntrySchema = z
  .object({
    id,
    created_at: instantShown,
    actor: z.string().openapi({ description: "The token's name" }),
    action: z.string(),
    resource: z.string(),
    resource_id: z.string().nullable(),
    before: anything.nullable(),
    after: anything.nullable(),
  })
  .openapi('AuditEntry');

const systemLogSchema = z
  .object({
    id,
    created_at: instantShown,
    event_type: z.string(),
    outcome: z.enum(['ok', 'error']),
    duration_ms: z.number().nullable(),
    message: z.string(),
    metadata: anything,
  })
  .openapi('SystemLog');

const audit = createRoute({
  ...at('get', '/audit', 'Every change made through this API, newest first'),
  request: {
    query: z.strictObject({
      actor: text().optional(),
      resource: text().optional(),
      resource_id: text(600).optional(),
      ...pageQuery,
    }),
  },
  responses: { 200: answers(pageOf(auditEntrySchema), 'Changes') },
});
const systemLogs = createRoute({
  ...at('get', '/system-logs', 'Runs of background jobs and what else an operator must learn of, newest first'),
  request: {
    query: z.strictObject({ event_type: text().optional(), outcome: z.enum(['ok', 'error']).optional(), ...pageQuery }),
  },
  responses: { 200: answers(pageOf(systemLogSchema), 'Entries') },
});

export function historyRoutes({ db }: Pick<AdminServices, 'db'>) {
  return createRouter()
    .openapi(audit, async (c) => {
      const { resource_id: resourceId, ...query } = c.req.valid('query');
      return c.json(showPage(await listAuditEntries(db, { ...query, resourceId }), showAuditEntry), 200);
    })
    .openapi(systemLogs, async (c) => {
      const { event_type: eventType, ...query } = c.req.valid('query');
      return c.json(showPage(await listSystemLogs(db, { ...query, eventType }), showSystemLog), 200);
    });
}

function showAuditEntry(entry: StoredAuditEntry): z.output<typeof auditEntrySchema> {
  return {
    id: entry.id,
    created_at: showInstant(entry.createdAtMs),
    actor: entry.actor,
    action: entry.action,
    resource: entry.resource,
    resource_id: entry.resourceId,
    before: entry.beforeJson === null ? null : parseStored(entry.beforeJson),
    after: entry.afterJson === null ? null : parseStored(entry.afterJson),
  };
}

function showSystemLog(entry: StoredSystemLog): z.output<typeof systemLogSchema> {
  return {
    id: entry.id,
    created_at: showInstant(entry.createdAtMs),
    event_type: entry.eventType,
    outcome: entry.outcome,
    duration_ms: showMsOrNull(entry.durationMs),
    message: entry.message,
    metadata: entry.metadata,
  };
}
