// Postgres unreachable: people get 503, as with every answer about their teams.
import type { TeamPlace } from '@llm0/core/access/access';
import type { Permission } from '@llm0/core/access/roles';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { Actor, AdminEnv } from '../admin-services';
import { type Asked, type Guarded, type Needs, refused } from './asked';
import { locate } from './locate';
import { narrowLive, narrowProjects } from './narrow-query';
import { refuseStale, type StaleNeeds } from './refuse-stale';
import { ROUTE_TABLE, type Rule } from './route-table';

/**
 * Holds every request to the table of routes, before its handler. Who has the permission everywhere passes. Of people,
 * lists are narrowed to their projects, and everything else must belong to one of their teams.
 */
export function guardRoutes(services: Needs & StaleNeeds): MiddlewareHandler<AdminEnv> {
  const { db } = services;
  return async (c, next) => {
    const matched = routeOf(c);
    // Unknown paths and methods have their own answers.
    if (matched === undefined || c.get('actor') === undefined) return next();
    const route = `${c.req.method === 'HEAD' ? 'GET' : c.req.method} ${matched.path}`;
    const rule = ROUTE_TABLE[route];
    if (rule === undefined) throw refused();
    c.set('actor', await hold(db, c, { rule, params: matched.params, actor: c.get('actor') }));
    refuseStale(services, route, c.get('actor'));
    const load = c.get('whoAsks');
    c.set('whoAsks', async () => {
      const actor = await load();
      return actor && holdAgain(() => hold(db, c, { rule, params: matched.params, actor }), actor);
    });
    await next();
  };
}

/** A running stream learns of lost rights from `rights`, not from an error. */
async function holdAgain(held: () => Promise<Actor>, actor: Actor): Promise<Actor> {
  try {
    return await held();
  } catch (error) {
    if (error instanceof GatewayError) return { ...actor, rights: 'none' };
    throw error;
  }
}

interface Held {
  readonly rule: Rule;
  readonly params: Asked['params'];
  readonly actor: Actor;
}

/** The actor with what holds in the projects of this request. */
async function hold(db: Needs['db'], c: Guarded, { rule, params, actor }: Held): Promise<Actor> {
  const [permission, where] = rule;
  const { access } = actor;
  if (where === 'anyone') return actor;
  if (where !== 'live' && access.mayEverywhere(permission)) return actor;
  if (where === 'system') throw refused();
  const mayDoOwn = permission === 'change_keys' && access.maySomewhere('change_own_keys');
  if (where !== 'live' && !mayDoOwn && !access.maySomewhere(permission)) throw refused();
  if (where === 'own') return actor;
  const asked: Asked = { c, db, actor, permission, params };
  if (where === 'list') return within(actor, await narrowProjects(asked, [permission]));
  if (where === 'live') return within(actor, await narrowLive(asked));
  return within(actor, await locate(asked, where));
}

function within(actor: Actor, places: readonly TeamPlace[] | 'everything'): Actor {
  if (places === 'everything') return actor;
  const may = (permission: Permission) => places.every((place) => actor.access.mayAt(place, permission));
  const ids = places.map((place) => ('projectId' in place ? place.projectId : place.teamId));
  return { ...actor, may, rights: `${actor.rights} ${ids}` };
}

const PREFIX = /^(?:\/admin)?\/v1(?=\/)/;

/** The route that answers, as the table names it, with its path parameters. */
function routeOf(c: Guarded): { readonly path: string; readonly params: Record<string, string> } | undefined {
  const route = matchedRoutes(c).find(({ method, path }) => method !== 'ALL' && PREFIX.test(path));
  if (route === undefined) return undefined;
  const pattern = route.path.replace(PREFIX, '');
  const given = c.req.path.replace(PREFIX, '').split('/');
  const params: Record<string, string> = {};
  pattern.split('/').forEach((part, index) => {
    if (part.startsWith(':')) params[part.slice(1).split('{', 1)[0] ?? ''] = decode(given[index] ?? '');
  });
  return { path: pattern.replace(/:(\w+)(?:\{[^}]*\})?/g, '{$1}'), params };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}
