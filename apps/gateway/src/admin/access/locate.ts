import type { TeamPlace } from '@llm0/core/access/access';
import { GatewayError, invalidRequest } from '@llm0/core/errors/gateway-error';
import { findOwnersOfRow, findUserOfKey, isOwnedRow } from '@llm0/drizzle/queries/access/owners';
import { findTeamPlace } from '@llm0/drizzle/queries/access/teams';
import { id as uuid } from '../fields/fields';
import { notFound } from '../fields/find-or-refuse';
import { type Asked, placeOfProject, refused, requirePermission } from './asked';
import type { Where } from './route-table';

/** The teams that a request concerns, by its path and body. Throws 404 for what the person may not know of. */
export async function locate(asked: Asked, where: Where): Promise<readonly TeamPlace[]> {
  if (isOwnedRow(where)) return locateRow(asked, where);
  const find = LOCATIONS[where];
  if (find === undefined) throw refused();
  return find(asked);
}

const LOCATIONS: { readonly [W in Where]?: (asked: Asked) => Promise<readonly TeamPlace[]> } = {
  project: async (asked) => {
    const place = await placeOfProject(asked, idIn(asked, 'id', 'project'));
    const { team_id: teamId } = await bodyOf(asked);
    return teamId === undefined ? [place] : [place, await placeOfTeam(asked, teamId)];
  },
  key: async (asked) => {
    const { params, actor } = asked;
    const projectId = idIn(asked, 'id', 'project');
    const place = await placeOfProject({ ...asked, permission: 'see' }, projectId);
    if (actor.access.mayAt(place, 'change_keys')) return [place];
    requirePermission({ ...asked, permission: 'change_own_keys' }, place);
    await refuseForeignKey(
      asked,
      params.key_id === undefined ? undefined : { projectId, keyId: idIn(asked, 'key_id', 'key') },
    );
    return [place];
  },
  body: async (asked) => [await placeOfProject(asked, textIn(await bodyOf(asked), 'project_id'))],
  new_project: async (asked) => [await placeOfTeam(asked, (await bodyOf(asked)).team_id)],
  new_team: async (asked) => {
    const place = { teamId: null, organizationId: textIn(await bodyOf(asked), 'organization_id') };
    return [placeOrRefuse(asked, place, 'organization')];
  },
  level: async (asked) => {
    const { team_id: teamId, organization_id: organizationId } = await bodyOf(asked);
    if (teamId != null) return [await placeOfTeam(asked, teamId)];
    const place = { teamId: null, organizationId: textIn({ organizationId }, 'organizationId') };
    return [placeOrRefuse(asked, place, 'organization')];
  },
  team: async (asked) => [await placeOfTeam(asked, asked.params.id)],
  organization: async (asked) => {
    const organizationId = idIn(asked, 'id', 'organization');
    const isTheirs = asked.actor.user?.grants.some((grant) => grant.organizationId === organizationId) === true;
    if (!isTheirs) throw notFound('organization');
    const place = { teamId: null, organizationId };
    // Members of a team see its organization, though their roles hold in the team only.
    if (asked.permission !== 'see') requirePermission(asked, place);
    return [place];
  },
};

/** A row of several projects takes all of them; one of none takes the permission everywhere. */
async function locateRow(asked: Asked, kind: Parameters<typeof findOwnersOfRow>[1]): Promise<readonly TeamPlace[]> {
  const what = kind === 'label_budget' ? 'label budget' : kind;
  const rowId = idIn(asked, kind === 'request' && 'request_id' in asked.params ? 'request_id' : 'id', what);
  const owners = await findOwnersOfRow(asked.db, kind, rowId);
  const { project_id: moved } = await bodyOf(asked);
  if (owners.length === 0 || owners.includes(null)) throw notFound(what);
  const places: TeamPlace[] = [];
  for (const owner of owners) places.push(await placeOfProject(asked, owner ?? '').catch((cause) => hide(cause, what)));
  if (moved !== undefined) places.push(await placeOfProject(asked, textIn({ moved }, 'moved')));
  return places;
}

/** Names the row that was asked for, not its project. */
function hide(cause: unknown, what: string): never {
  throw cause instanceof GatewayError && cause.kind === 'not_found' ? notFound(what) : cause;
}

async function placeOfTeam(asked: Asked, teamId: unknown): Promise<TeamPlace> {
  if (teamId === undefined || teamId === null)
    throw invalidRequest('team_id', 'team_id: is required, because you are not an admin of all teams.');
  const given = uuid.safeParse(teamId);
  const place = given.success ? await findTeamPlace(asked.db, given.data) : null;
  if (place === null) throw notFound('team');
  return placeOrRefuse(asked, place, 'team');
}

function placeOrRefuse(asked: Asked, place: TeamPlace, what: string): TeamPlace {
  if (!asked.actor.access.mayAt(place, 'see')) throw notFound(what);
  requirePermission(asked, place);
  return place;
}

/** Settings of a key that go beyond what its project permits. */
const WIDENING = ['passthrough', 'allowed_tools', 'code_mode'];

/** People without the right over all keys have it for new keys and their own, within what the project permits. */
async function refuseForeignKey(asked: Asked, path: { projectId: string; keyId: string } | undefined): Promise<void> {
  const { actor, db, c } = asked;
  if (path !== undefined) {
    const key = await findUserOfKey(db, path);
    if (key === undefined) throw notFound('key');
    if (key.userId === null || key.userId !== actor.user?.id) throw refused();
    // Admins set its limits.
    if (key.isSignOn && c.get('isForDataPlane') !== true) throw refused();
  }
  if (c.get('isForDataPlane') === true) return;
  const body = await bodyOf(asked);
  const isForOther = body.user_id !== undefined && body.user_id !== actor.user?.id;
  if (isForOther || WIDENING.some((name) => body[name] != null)) throw refused();
}

function idIn({ params }: Asked, name: string, what: string): string {
  const given = uuid.safeParse(params[name]);
  if (!given.success) throw notFound(what);
  return given.data.toLowerCase();
}

/** Whoever may not do it everywhere must say where. */
function textIn(body: Readonly<Record<string, unknown>>, name: string): string {
  const given = uuid.safeParse(body[name]);
  if (!given.success) throw refused();
  return given.data.toLowerCase();
}

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);

/** Fields of the body, which was read as JSON before. */
async function bodyOf({ c }: Asked): Promise<Readonly<Record<string, unknown>>> {
  if (!WITH_BODY.has(c.req.method) || c.get('isForDataPlane') === true) return {};
  const body: unknown = await c.req.json();
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}
