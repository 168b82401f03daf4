import { z } from '@hono/zod-openapi';
import { PERMISSIONS } from '@llm0/core/access/roles';
import { keyRows } from '@llm0/drizzle/queries/access/api-keys';
import { loadKeyUsage } from '@llm0/drizzle/queries/access/key-usage';
import { listMemberships } from '@llm0/drizzle/queries/access/users';
import { answers, createRouter, defineRoute, routesOf } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { id, pageOf, pageQuery, showPage } from '../fields/fields';
import { showFields } from '../fields/map-fields';
import { loadSpendByDay, spendDays } from '../fields/spend-days';
import { listedKeySchema, showListedKey } from '../keys/schema';
import { role } from '../teams/schema';

const at = routesOf('users');

const membershipSchema = z.object({
  team_id: id,
  team_name: z.string(),
  organization_id: id,
  role,
  can_read_bodies: z.boolean().nullable(),
});
const meSchema = z
  .object({
    id: id.nullable().openapi({ description: 'null for admin tokens' }),
    name: z.string(),
    email: z.string().nullable(),
    memberships: z.array(membershipSchema),
    permissions: z.array(z.enum(PERMISSIONS)).openapi({ description: 'Held everywhere, or in at least one team' }),
  })
  .openapi('Me');

const me = defineRoute({
  ...at('get', '/me', 'Show who asks, with roles and teams'),
  responses: { 200: answers(meSchema, 'The person, or the admin token') },
});

const keys = defineRoute({
  ...at('get', '/me/keys', 'List your own keys with their use, newest first'),
  request: { query: z.strictObject({ ...pageQuery, spend_days: spendDays }) },
  responses: { 200: answers(pageOf(listedKeySchema), 'Keys of this user in all projects; none for admin tokens') },
});

export function meRoutes({ db, clock }: Pick<AdminServices, 'db' | 'clock'>) {
  const router = createRouter().openapi(keys, async (c) => {
    const { user } = c.get('actor');
    if (user === undefined) return c.json({ data: [], next_cursor: null }, 200);
    const { spend_days: days, ...query } = c.req.valid('query');
    const page = await keyRows.list(db, query, { userId: user.id });
    const ids = page.data.map((key) => key.id);
    const usage = await loadKeyUsage(db, ids);
    const daysOf = await loadSpendByDay(db, { nowMs: clock.nowMs(), days, by: 'key', ids });
    return c.json(
      showPage(page, (key) => showListedKey(key, { usage: usage.get(key.id), spendByDay: daysOf(key.id) })),
      200,
    );
  });
  return router.openapi(me, async (c) => {
    const { name, user, access } = c.get('actor');
    const found = user === undefined ? [] : await listMemberships(db, user.id);
    const memberships = found.map((one) => showFields(membershipSchema, one));
    const permissions = PERMISSIONS.filter((permission) => access.maySomewhere(permission));
    const who = { id: user?.id ?? null, name: user?.name ?? name, email: user?.email ?? null };
    return c.json({ ...who, memberships, permissions }, 200);
  });
}
