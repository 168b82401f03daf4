import { createRoute, z } from '@hono/zod-openapi';
import type { Db } from '@llm0/drizzle/client';
import {
  endSessionsOfUser,
  listUsers,
  raiseSignOnKeys,
  type StoredUser,
  stopKeysOfUser,
  userRows,
} from '@llm0/drizzle/queries/access/users';
import { answers, createRouter, routesOf, takes } from '../admin-router';
import type { AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import { recordChange } from '../audit/record-change';
import type { HotStoreMirror } from '../customers/hot-store-mirror';
import { id, pageOf, pageQuery, showPage, text } from '../fields/fields';
import { required, requireProject } from '../fields/find-or-refuse';
import { readFields } from '../fields/map-fields';
import { newUserSchema, showUser, userChangesSchema, userSchema } from './schema';

const at = routesOf('users');
const params = z.object({ id });

const create = createRoute({
  ...at('post', '/users', 'Add a user before the first sign-in, to give roles'),
  request: { body: takes(newUserSchema) },
  responses: { 201: answers(userSchema, 'The new user') },
});
const list = createRoute({
  ...at('get', '/users', 'List users, newest first'),
  request: {
    query: z.strictObject({
      q: text(256).optional().openapi({ description: 'Substring of the name or address' }),
      ...pageQuery,
    }),
  },
  responses: { 200: answers(pageOf(userSchema), 'Users') },
});
const show = createRoute({
  ...at('get', '/users/{id}', 'Show a user'),
  request: { params },
  responses: { 200: answers(userSchema, 'The user') },
});
const change = createRoute({
  ...at('patch', '/users/{id}', 'Change or deactivate a user; applies at once'),
  request: { params, body: takes(userChangesSchema) },
  responses: { 200: answers(userSchema, 'The user as it is now') },
});
const remove = createRoute({
  ...at('delete', '/users/{id}', 'Delete a user with its roles and sessions; its keys stop'),
  request: { params },
  responses: { 204: { description: 'Deleted' } },
});
const endSessions = createRoute({
  ...at('delete', '/users/{id}/sessions', 'Sign a user out everywhere'),
  request: { params },
  responses: { 200: answers(z.object({ ended: z.int() }), 'Number of sessions') },
});

type Needs = Pick<AdminServices, 'db' | 'hotStore'>;

export function userRoutes({ db, hotStore }: Needs, mirror: HotStoreMirror) {
  const changes = new AuditedChanges(db, { resource: 'user', idOf: (user: StoredUser) => user.id, show: showUser });
  /** Ends what the user has open; `finish` brings it into force after the commit. */
  const stop = async (tx: Db, userId: string) => {
    await endSessionsOfUser(tx, userId);
    return stopKeysOfUser(tx, userId);
  };
  const finish = async (changed: Awaited<ReturnType<typeof stop>>) => {
    for (const { id: keyId, projectId, version } of changed) {
      await mirror.apply(`key ${keyId}`, () => hotStore.setVersions(projectId, null, [{ keyId, version }]));
    }
  };
  return createRouter()
    .openapi(create, async (c) => {
      const user = await changes.create(c.get('actor'), (tx) => userRows.create(tx, c.req.valid('json')));
      return c.json(showUser(user), 201);
    })
    .openapi(list, async (c) => c.json(showPage(await listUsers(db, c.req.valid('query')), showUser), 200))
    .openapi(show, async (c) => c.json(showUser(required(await userRows.get(db, c.req.valid('param')), 'user')), 200))
    .openapi(change, async (c) => {
      const at = c.req.valid('param');
      const { isActive, ...rest } = readFields(c.req.valid('json'));
      const changed: Awaited<ReturnType<typeof stop>>[number][] = [];
      const write = async (tx: Db) => {
        if (isActive === false) changed.push(...(await stop(tx, at.id)));
        if (isActive === true) changed.push(...(await raiseSignOnKeys(tx, at.id)));
        if (rest.defaultProjectId != null) await requireProject(tx, rest.defaultProjectId);
        return userRows.update(tx, at, { ...rest, isActive });
      };
      const user = await changes.update(c.get('actor'), (tx) => userRows.get(tx, at), write);
      await finish(changed);
      return c.json(showUser(user), 200);
    })
    .openapi(remove, async (c) => {
      const at = c.req.valid('param');
      const changed: Awaited<ReturnType<typeof stop>>[number][] = [];
      await changes.remove(c.get('actor'), async (tx) => {
        changed.push(...(await stop(tx, at.id)));
        return userRows.delete(tx, at);
      });
      // The deletion raises the versions once more.
      await finish(changed.map((key) => ({ ...key, version: key.version + 1 })));
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
