import { z } from '@hono/zod-openapi';
import { endSessionsOfUser, findUserAt, listUsers, userRows } from '@llm0/drizzle/queries/access/users';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { Actor, AdminServices } from '../admin-services';
import { recordChange } from '../audit/record-change';
import type { HotStoreMirror } from '../customers/hot-store-mirror';
import { id, pageOf, pageQuery, showPage, text } from '../fields/fields';
import { required, requireProject } from '../fields/find-or-refuse';
import { readFields } from '../fields/map-fields';
import type { RuleNeeds } from '../guardrails/refuse-rules';
import { refuseLevelRules } from '../teams/level-limits';
import { newUserSchema, showUser, userChangesSchema, userSchema } from './schema';
import { UserChanges } from './user-changes';

const at = routesOf('users');
const params = z.object({ id });

const create = defineRoute({
  ...at('post', '/users', 'Add a user before the first sign-in, to give roles'),
  request: { body: takes(newUserSchema) },
  responses: { 201: answers(userSchema, 'The new user') },
});
const list = defineRoute({
  ...at('get', '/users', 'List users, newest first; of people, those in teams that they administer'),
  request: {
    query: z.strictObject({
      q: text(256)
        .optional()
        .openapi({ description: "Substring of the name or address; of users in others' teams, the whole address" }),
      ...pageQuery,
    }),
  },
  responses: { 200: answers(pageOf(userSchema), 'Users') },
});
const show = defineRoute({
  ...at('get', '/users/{id}', 'Show a user'),
  request: { params },
  responses: { 200: answers(userSchema, 'The user') },
});
const change = defineRoute({
  ...at('patch', '/users/{id}', 'Change or deactivate a user; applies at once'),
  request: { params, body: takes(userChangesSchema) },
  responses: { 200: answers(userSchema, 'The user as it is now') },
});
const remove = defineRoute({
  ...at('delete', '/users/{id}', 'Delete a user with its roles and sessions; its keys stop'),
  request: { params },
  responses: { 204: { description: 'Deleted' } },
});
const endSessions = defineRoute({
  ...at('delete', '/users/{id}/sessions', 'Sign a user out everywhere'),
  request: { params },
  responses: { 200: answers(z.object({ ended: z.int() }), 'Number of sessions') },
});

/** Teams and organizations whose members somebody administers; undefined = all. */
const placesOf = ({ access }: Actor) =>
  access.mayEverywhere('change_members') ? undefined : access.placesOf('change_members');

type Needs = Pick<AdminServices, 'db' | 'hotStore'> & RuleNeeds;

export function userRoutes(services: Needs, mirror: HotStoreMirror) {
  const { db, hotStore } = services;
  const changes = new UserChanges({ db, hotStore }, mirror);
  return createRouter()
    .openapi(create, async (c) => {
      const user = await changes.create(c.get('actor'), (tx) => userRows.create(tx, c.req.valid('json')));
      return c.json(showUser(user), 201);
    })
    .openapi(list, async (c) => {
      const asked = { ...c.req.valid('query'), places: placesOf(c.get('actor')) };
      return c.json(showPage(await listUsers(db, asked), showUser), 200);
    })
    .openapi(show, async (c) => {
      const found = await findUserAt(db, c.req.valid('param').id, placesOf(c.get('actor')));
      return c.json(showUser(required(found, 'user')), 200);
    })
    .openapi(change, async (c) => {
      const fields = readFields(c.req.valid('json'));
      await refuseLevelRules(services, fields);
      const user = await changes.update(c.get('actor'), c.req.valid('param').id, async (tx) => {
        if (fields.defaultProjectId != null) await requireProject(tx, fields.defaultProjectId);
        return fields;
      });
      return c.json(showUser(user), 200);
    })
    .openapi(remove, async (c) => {
      await changes.remove(c.get('actor'), c.req.valid('param').id);
      return c.body(null, 204);
    })
    .openapi(endSessions, async (c) => {
      const { id: userId } = c.req.valid('param');
      const ended = await recordChange(db, c.get('actor'), async (tx) => {
        required(await userRows.get(tx, { id: userId }), 'user');
        const result = await endSessionsOfUser(tx, userId);
        return { result, action: 'end_sessions', resource: 'user', resourceId: userId, after: { ended: result } };
      });
      return c.json({ ended }, 200);
    });
}
