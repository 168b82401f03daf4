import type { MiddlewareHandler } from 'hono';
import type { AdminEnv } from '../admin-services';
import { entityTag } from './entity-tag';

/** Things with an address of their own; lists and statistics are none. */
const THING =
  /\/v1\/(?:(?:projects|aliases|chains|providers|alerts|tokens|views)\/[^/]+|projects\/[^/]+\/(?:guardrails|keys\/[^/]+|customers\/[^/]+\/limits)|providers\/[^/]+\/keys\/[^/]+|models\/[^/]+\/[^/]+|mcp\/servers\/[^/]+)$/;
const CHANGES = new Set(['PATCH', 'PUT', 'DELETE']);
const SHOWS = new Set(['GET', 'PATCH', 'PUT']);

/** Gives each thing its `ETag`, and hands `If-Match` to the change that it is a condition of. */
export const tagAnswers: MiddlewareHandler<AdminEnv> = async (c, next) => {
  const ifMatch = c.req.header('if-match');
  if (ifMatch !== undefined && CHANGES.has(c.req.method)) c.set('actor', { ...c.get('actor'), ifMatch });
  await next();
  const path = new URL(c.req.url).pathname;
  const isModel = c.req.method === 'PUT' && path.endsWith('/v1/models');
  if (c.res.status !== 200 || !SHOWS.has(c.req.method) || !(THING.test(path) || isModel)) return;
  c.res.headers.set('ETag', entityTag(await c.res.clone().text()));
};
