import { z } from '@hono/zod-openapi';
import { permissionsOf, type Reach, type Role, reachesNoFurther } from '@llm0/core/access/roles';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { Db } from '@llm0/drizzle/client';
import { findTeamPlace, listMembers, memberRows, type StoredMember } from '@llm0/drizzle/queries/access/teams';
import { raiseKeysOfUsers, userRows } from '@llm0/drizzle/queries/access/users';
import { raiseVersions } from '../../sign-on/raise-versions';
import { answers, createRouter, defineRoute, routesOf, takes } from '../admin-router';
import type { Actor, AdminServices } from '../admin-services';
import { AuditedChanges } from '../audit/audited-changes';
import type { HotStoreMirror } from '../customers/hot-store-mirror';
import { id } from '../fields/fields';
import { required } from '../fields/find-or-refuse';
import { readFields, showFields } from '../fields/map-fields';
import { asMember, listedMemberSchema, memberSchema, newMemberSchema, showMember } from './schema';

type Raised = Awaited<ReturnType<typeof raiseKeysOfUsers>>;

const at = routesOf('teams');
const params = z.object({ id });

const list = defineRoute({
  ...at('get', '/teams/{id}/members', 'List the members of a team, by name'),
  request: { params },
  responses: { 200: answers(z.object({ data: z.array(listedMemberSchema) }), 'Members') },
});
const put = defineRoute({
  ...at('post', '/teams/{id}/members', 'Add a member, or change the role of one; applies to open sessions at once'),
  request: { params, body: takes(newMemberSchema) },
  responses: { 201: answers(memberSchema, 'The member as it is now') },
});
const remove = defineRoute({
  ...at('delete', '/teams/{id}/members/{user_id}', 'Remove a member; applies to open sessions at once'),
  request: { params: z.object({ id, user_id: id }) },
  responses: { 204: { description: 'Removed' } },
});

export function memberRoutes({ db, hotStore }: Pick<AdminServices, 'db' | 'hotStore'>, mirror: HotStoreMirror) {
  /** After the commit, for keys and tokens of the user. */
  const finish = async (userId: string, raised: Raised) =>
    mirror.apply(`keys of ${userId}`, () => raiseVersions(hotStore, raised));
  const changes = new AuditedChanges(db, {
    ...{ resource: 'member', idOf: ({ teamId, userId }: StoredMember) => `${teamId}/${userId}`, show: showMember },
  });
  return createRouter()
    .openapi(list, async (c) => {
      const { id: teamId } = c.req.valid('param');
      const place = required(await findTeamPlace(db, teamId), 'team');
      const found = await listMembers(db, place.teamId ?? teamId);
      return c.json({ data: found.map((member) => showFields(listedMemberSchema, asMember(member))) }, 200);
    })
    .openapi(put, async (c) => {
      const { id: teamId } = c.req.valid('param');
      const { userId, role, canReadBodies = null } = readFields(c.req.valid('json'));
      const find = (tx: Db) => memberRows.get(tx, { teamId, userId });
      let raised: Raised = [];
      const member = await changes.put(c.get('actor'), find, async (tx, before) => {
        await refuseTooFar(tx, c.get('actor'), { teamId, roles: [role, ...(before === null ? [] : [before.role])] });
        await refuseBodies(tx, c.get('actor'), { teamId, role, canReadBodies });
        required(await userRows.get(tx, { id: userId }), 'user');
        const values = { teamId, userId, role, canReadBodies, identityProviderId: null, isFromScim: false };
        const put = await memberRows.put(tx, ['teamId', 'userId'], values);
        raised = await raiseKeysOfUsers(tx, [userId]);
        return put;
      });
      await finish(userId, raised);
      return c.json(showMember(member), 201);
    })
    .openapi(remove, async (c) => {
      const { id: teamId, user_id: userId } = c.req.valid('param');
      let raised: Raised = [];
      await changes.remove(c.get('actor'), async (tx) => {
        const before = await memberRows.get(tx, { teamId, userId });
        if (before !== null) await refuseTooFar(tx, c.get('actor'), { teamId, roles: [before.role] });
        refuseRegaining(c.get('actor'), before);
        raised = await raiseKeysOfUsers(tx, [userId]);
        return memberRows.delete(tx, { teamId, userId });
      });
      await finish(userId, raised);
      return c.body(null, 204);
    });
}

/** Nobody gives a permission to read bodies that they lack, not even to themselves. */
async function refuseBodies(
  tx: Db,
  { access }: Actor,
  { teamId, role, canReadBodies }: Pick<StoredMember, 'teamId' | 'role' | 'canReadBodies'>,
): Promise<void> {
  const place = required(await findTeamPlace(tx, teamId), 'team');
  const gives = permissionsOf(role, canReadBodies).has('read_bodies');
  if (!gives || access.mayAt(place, 'read_bodies')) return;
  const message =
    "You may not read this team's prompts and answers, so you can't permit it. Set can_read_bodies to false.";
  throw new GatewayError('permission_denied', message, { param: 'can_read_bodies' });
}

/** A group would give the role again, with the permission that an admin has taken. */
function refuseRegaining({ user }: Actor, before: StoredMember | null): void {
  if (before === null || before.userId !== user?.id || before.canReadBodies !== false) return;
  const message =
    "An admin has taken your permission to read this team's prompts and answers. Ask an admin to remove you.";
  throw new GatewayError('permission_denied', message, { param: 'user_id' });
}

/** Nobody gives or takes a role that holds further than their own. */
async function refuseTooFar(
  tx: Db,
  { access }: Actor,
  { teamId, roles }: { readonly teamId: string; readonly roles: readonly Role[] },
): Promise<void> {
  const { organizationId } = required(await findTeamPlace(tx, teamId), 'team');
  const isOrgAdmin = organizationId !== null && access.mayInOrganization(organizationId, 'change_teams');
  const reach: Reach = access.mayEverywhere('change_system') ? 'system' : isOrgAdmin ? 'organization' : 'team';
  if (roles.every((role) => reachesNoFurther(role, reach))) return;
  const message = 'This role holds beyond what you administer. Ask an admin whose role holds as far.';
  throw new GatewayError('permission_denied', message, { param: 'role' });
}
