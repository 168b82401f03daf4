import { z } from '@hono/zod-openapi';
import type { Db } from '@llm0/drizzle/client';
import { engineOf } from '@llm0/drizzle/queries/clickhouse/log-engine';
import { type EngineState, forgetComparisons, readEngineState } from '@llm0/drizzle/queries/logs/log-days';
import { answers, createRouter, defineRoute, routesOf } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { recordChange } from '../audit/record-change';
import { instantShown, usdShown } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { showFields } from '../fields/map-fields';

const at = routesOf('logs');
const STATES = ['moving', 'answers', 'away'] as const;
const schema = z
  .object({
    name: z.string().openapi({ description: 'Address without user and options' }),
    state: z.enum(STATES).openapi({
      description: 'Postgres answers while days are `moving`, and while ClickHouse is `away`: rows wait in Postgres',
    }),
    complete_at: instantShown.nullable().openapi({ description: 'Since when it has had every day' }),
    days: z.int().openapi({ description: 'Whole days that were compared; both sides had the same sums' }),
    rows: z.int().openapi({ description: 'Requests of these days' }),
    cost_usd: usdShown.openapi({ description: 'Cost of these days' }),
    postgres_from_at: instantShown.nullable().openapi({
      description:
        'Postgres has no rows from before (LOG_POSTGRES_DAYS), and none at all if it is now; null while it has all of them',
    }),
    failing_since_at: instantShown.nullable(),
    problem: z.string().nullable(),
    waiting_since_at: instantShown.nullable().openapi({ description: 'When the oldest missing row was stored' }),
  })
  .openapi('LogDatabase');

const show = defineRoute({
  ...at('get', '/log-database', 'Show the ClickHouse that answers for the log (LOG_DATABASE_URL)'),
  responses: { 200: answers(schema, 'Its state') },
});
const compare = defineRoute({
  ...at('post', '/log-database/compare', 'Compare every day of the log again, and copy rows that ClickHouse lacks'),
  responses: { 201: answers(schema, 'Postgres answers until every day is right') },
});

export function logDatabaseRoutes({ db }: Pick<AdminServices, 'db'>) {
  return createRouter()
    .openapi(show, async (c) => c.json(await readState(db, storeOf(db)), 200))
    .openapi(compare, async (c) => {
      const store = storeOf(db);
      await recordChange(db, c.get('actor'), async (tx) => {
        await forgetComparisons(tx, store);
        return { result: undefined, action: 'compare', resource: 'log_database', resourceId: null };
      });
      return c.json(await readState(db, store), 201);
    });
}

const storeOf = (db: Db): string => required(engineOf(db) ?? null, 'log database').store;

async function readState(db: Db, name: string) {
  const state = await readEngineState(db, name);
  const { failingSinceMs, waitingSinceMs, floor, ...rest } = state;
  const postgresFromAtMs = floor === null ? null : Math.min(floor.ms, Date.now());
  const times = { failingSinceAtMs: failingSinceMs, waitingSinceAtMs: waitingSinceMs, postgresFromAtMs };
  return showFields(schema, { name, state: nameOf(state), ...rest, ...times });
}

function nameOf({ completeAtMs, failingSinceMs }: EngineState): (typeof STATES)[number] {
  if (failingSinceMs !== null) return 'away';
  return completeAtMs === null ? 'moving' : 'answers';
}
