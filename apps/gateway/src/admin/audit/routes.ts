import { z } from '@hono/zod-openapi';
import { listAuditEntries, type StoredAuditEntry } from '@llm0/drizzle/queries/access/audit-trail';
import { type StoredSystemLog, systemLogRows } from '@llm0/drizzle/queries/logs/system-logs';
import { answers, createRouter, defineRoute, routesOf } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { id, instantShown, pageOf, pageQuery, projectIds, queryInstant, showPage, text } from '../fields/fields';
import { parseStored } from '../fields/json-money';
import { showFields } from '../fields/map-fields';

const at = routesOf('history');
const anything = z.unknown().openapi({ type: 'object' });
/** A manual OpenAPI type lacks null, so it is listed. */
const anythingOrNull = z.unknown().openapi({ type: ['object', 'null'] });

const auditEntrySchema = z
  .object({
    id,
    created_at: instantShown,
    actor: z.string().openapi({ description: "The token's name" }),
    action: z.string(),
    resource: z.string(),
    resource_id: z.string().nullable(),
    before: anythingOrNull.openapi({ description: 'null: created' }),
    after: anythingOrNull.openapi({ description: 'null: deleted' }),
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

const audit = defineRoute({
  ...at('get', '/audit', 'List all changes of this API, newest first'),
  request: {
    query: z.strictObject({
      actor: text().optional(),
      action: text().optional(),
      action_not: text().optional().openapi({ description: 'Such as `sign_in`' }),
      resource: text().optional(),
      resource_id: text(600).optional(),
      project_id: projectIds,
      from: queryInstant.optional().openapi({ description: 'Inclusive' }),
      to: queryInstant.optional().openapi({ description: 'Exclusive' }),
      ...pageQuery,
    }),
  },
  responses: { 200: answers(pageOf(auditEntrySchema), 'Changes') },
});
const systemLogs = defineRoute({
  ...at('get', '/system-logs', 'List job runs and notices for operators, newest first'),
  request: {
    query: z.strictObject({ event_type: text().optional(), outcome: z.enum(['ok', 'error']).optional(), ...pageQuery }),
  },
  responses: { 200: answers(pageOf(systemLogSchema), 'Entries') },
});

export function historyRoutes({ db }: Pick<AdminServices, 'db'>) {
  return createRouter()
    .openapi(audit, async (c) => {
      const { resource_id: resourceId, project_id: projectId, from: fromMs, to: toMs, ...rest } = c.req.valid('query');
      const { action_not: actionNot, ...query } = rest;
      const asked = { ...query, actionNot, resourceId, projectId, fromMs, toMs };
      const page = showPage(await listAuditEntries(db, asked), showAuditEntry);
      return c.json(page, 200);
    })
    .openapi(systemLogs, async (c) => {
      const { event_type: eventType, outcome, ...page } = c.req.valid('query');
      return c.json(showPage(await systemLogRows.list(db, page, { eventType, outcome }), showSystemLog), 200);
    });
}

export const showAuditEntry = ({ beforeJson, afterJson, ...entry }: StoredAuditEntry) =>
  showFields(auditEntrySchema, {
    ...entry,
    before: beforeJson === null ? null : parseStored(beforeJson),
    after: afterJson === null ? null : parseStored(afterJson),
  });

const showSystemLog = (entry: StoredSystemLog) => showFields(systemLogSchema, entry);
