import type { TeamPlace } from '@llm0/core/access/access';
import type { Permission } from '@llm0/core/access/roles';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import { findProjectPlaces, listProjectPlaces, type ProjectPlace } from '@llm0/drizzle/queries/access/teams';
import type { Context } from 'hono';
import type { Actor, AdminEnv, AdminServices } from '../admin-services';
import { notFound } from '../fields/find-or-refuse';

export type Needs = Pick<AdminServices, 'db'>;
export type Guarded = Context<AdminEnv>;

/** Request of a person who may not do everything everywhere. */
export interface Asked {
  readonly c: Guarded;
  readonly db: Needs['db'];
  readonly actor: Actor;
  readonly permission: Permission;
  readonly params: Readonly<Record<string, string>>;
}

/** All projects where the person has the permissions. */
export async function projectsWith(
  { db, actor }: Pick<Asked, 'db' | 'actor'>,
  permissions: readonly Permission[],
): Promise<readonly ProjectPlace[]> {
  const [first = 'see'] = permissions;
  const found = await listProjectPlaces(db, actor.access.placesOf(first));
  return found.filter((place) => permissions.every((permission) => actor.access.mayAt(place, permission)));
}

/** The project's place; 404 unless the person sees it, 403 without the permission there. */
export async function placeOfProject(asked: Asked, projectId: string): Promise<ProjectPlace> {
  const [place] = await findProjectPlaces(asked.db, [projectId]);
  if (place === undefined || !asked.actor.access.mayAt(place, 'see')) throw notFound('project');
  requirePermission(asked, place);
  return place;
}

export function requirePermission({ actor, permission }: Asked, place: TeamPlace): void {
  if (!actor.access.mayAt(place, permission)) throw refused();
}

export const refused = () =>
  new GatewayError('permission_denied', "Your role doesn't permit this. Ask an admin of the team for another role.");
