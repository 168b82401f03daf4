import { GatewayError } from '@llm0/core/errors/gateway-error';
import { clientAddress } from '@llm0/core/limits/client-network';
import { type Context, Hono } from 'hono';
import { respondError } from '../../pipeline/request/respond-error';
import { originOf } from '../access/origin-of';
import { SignInThrottle } from '../access/sign-in-throttle';
import { asAdminError } from '../admin-error';
import type { AdminEnv, AdminServices } from '../admin-services';
import { HotStoreMirror } from '../customers/hot-store-mirror';
import { UserChanges } from '../users/user-changes';
import { authenticateScim } from './authenticate-scim';
import { describeSchema, describeService, describeType, SHAPES } from './discovery';
import { groupResource } from './group-resource';
import { listAnswer, sendScim } from './list-answer';
import { refuseMethods } from './refuse-methods';
import { addResourceRoutes } from './resource-routes';
import { scimEnvelope } from './scim-error';
import { userResource } from './user-resource';

type Needs = Pick<AdminServices, 'db' | 'hotStore' | 'config' | 'clock' | 'log' | 'createId'>;

/** SCIM 2.0 (RFC 7643 and 7644) for users and groups, to be mounted at `/scim/v2`. */
export function createScim(services: Needs): Hono {
  const { db, hotStore, config, clock, log, createId } = services;
  const mirror = new HotStoreMirror(services);
  const baseOf = (c: Context<AdminEnv>) => `${config.signOn.publicUrl ?? originOf(c.req.raw)}/scim/v2`;
  const scim = new Hono<AdminEnv>();
  scim.onError((cause, c) => {
    const requestId = c.get('requestId') ?? createId();
    return respondError(asAdminError(cause, log), { requestId, dialect: scimEnvelope });
  });
  scim.use(async (c, next) => {
    c.set('requestId', createId());
    const socket = c.env?.requestIP?.(c.req.raw)?.address ?? 'unknown';
    c.set('address', clientAddress(socket, c.req.header('x-forwarded-for') ?? null, config.trustProxyHops));
    await next();
    c.header('X-Request-Id', c.get('requestId'));
    c.header('Cache-Control', 'no-store');
  });
  scim.use(authenticateScim({ db }, new SignInThrottle(() => clock.monotonicMs())));
  for (const path of ['/Me', '/Bulk', '/.search', '/:type/.search']) {
    scim.all(path, () => {
      throw new GatewayError('not_found', 'The gateway supports neither /Me, /Bulk nor /.search.', { status: 501 });
    });
  }
  addDiscovery(scim, baseOf);
  addResourceRoutes(scim, userResource(db, new UserChanges({ db, hotStore }, mirror)), baseOf);
  addResourceRoutes(scim, groupResource({ db, hotStore }, mirror), baseOf);
  scim.all('*', (c) => {
    throw new GatewayError('not_found', `Nothing exists at ${c.req.path.slice(0, 200)}.`);
  });
  return scim as unknown as Hono;
}

function addDiscovery(scim: Hono<AdminEnv>, baseOf: (c: Context<AdminEnv>) => string): void {
  scim.get('/ServiceProviderConfig', (c) => sendScim(c, describeService(baseOf(c))));
  refuseMethods(scim, '/ServiceProviderConfig', 'GET');
  const lists = [
    ['/ResourceTypes', describeType],
    ['/Schemas', describeSchema],
  ] as const;
  for (const [path, describe] of lists) {
    const all = (c: Context<AdminEnv>) => SHAPES.map((shape) => describe(shape, baseOf(c)));
    scim.get(path, (c) => {
      // RFC 7644, 4: a filter is refused here.
      if (c.req.query('filter') !== undefined) throw new GatewayError('permission_denied', `${path} has no filter.`);
      return sendScim(c, listAnswer(all(c), { total: SHAPES.length, startIndex: 1 }));
    });
    scim.get(`${path}/:id`, (c) => {
      const one = all(c).find(({ id }) => id === c.req.param('id'));
      if (one === undefined) throw new GatewayError('not_found', 'There is no such description.');
      return sendScim(c, one);
    });
    for (const known of [path, `${path}/:id`]) refuseMethods(scim, known, 'GET');
  }
}
