import { z } from '@hono/zod-openapi';
import { insertClosing, listClosings, type StoredClosing } from '@llm0/drizzle/queries/finance/closings';
import { sqlState } from '@llm0/drizzle/sql-state';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import { pageOf, pageQuery, showPage } from '../fields/fields';
import { takeTurns } from '../stats/take-turns';
import { closingSchema, newClosingSchema, showClosing } from './closing-schema';
import { alreadyClosed, prepareClosing } from './prepare-closing';

const at = routesOf('finance');
const close = defineRoute({
  ...at('post', '/finance/statement/close', 'Close a month: its statements no longer change'),
  description:
    'Keeps the figures of all its projects that are still open. Later corrections are part of the first open month after it. ' +
    'A month can be closed once it has ended, and never be opened again.',
  request: { body: takes(newClosingSchema) },
  responses: { 201: answers(closingSchema, 'What was closed') },
});
const list = defineRoute({
  ...at('get', '/finance/closings', 'List closed months, newest first'),
  request: { query: z.strictObject(pageQuery) },
  responses: { 200: answers(pageOf(closingSchema), "Closings; of people, those of the person's places") },
});

const UNIQUE_VIOLATION = '23505';

type Needs = Pick<AdminServices, 'db' | 'clock' | 'routing' | 'version' | 'config'>;

export function closingRoutes({ db, clock, routing, version, config }: Needs) {
  const inTurn = takeTurns(1);
  const changes = new AuditedChanges(db, {
    resource: 'closing',
    idOf: (closing: StoredClosing) => closing.id,
    show: showClosing,
  });
  return createRouter()
    .openapi(close, async (c) => {
      const { month, time_zone: timeZone, team_id: teamId, organization_id: organizationId } = c.req.valid('json');
      const actor = c.get('actor');
      const question = {
        ...{ month, timeZone, nowMs: clock.nowMs(), logRetentionDays: config.logRetentionDays },
        within: { ...(teamId && { teamId }), ...(organizationId && { organizationId }) },
        ...{ by: { name: actor.name, gatewayVersion: version }, prices: routing().prices },
      };
      const closing = await inTurn(async () => {
        const prepared = await prepareClosing(db, question);
        return changes
          .create(actor, (tx) => insertClosing(tx, prepared))
          .catch((cause) => {
            throw sqlState(cause) === UNIQUE_VIOLATION ? alreadyClosed(month) : cause;
          });
      });
      return c.json(showClosing(closing), 201);
    })
    .openapi(list, async (c) => {
      const { access } = c.get('actor');
      const places = access.mayEverywhere('read_spend') ? undefined : access.placesOf('read_spend');
      return c.json(showPage(await listClosings(db, { ...c.req.valid('query'), places }), showClosing), 200);
    });
}
