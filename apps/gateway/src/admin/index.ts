import { GatewayError } from '@llm0/core/errors/gateway-error';
import { clientAddress } from '@llm0/core/limits/client-network';
import { Hono } from 'hono';
import { openaiChat } from '../dialects/openai-chat/index';
import { respondError } from '../pipeline/request/respond-error';
import { authenticateAdmin } from './access/authenticate-admin';
import { guardRoutes } from './access/guard-routes';
import { SignInThrottle } from './access/sign-in-throttle';
import { asAdminError } from './admin-error';
import type { AdminRouter } from './admin-router';
import type { AdminEnv, AdminServices } from './admin-services';
import { noteApply } from './applies/note-apply';
import { ChangedMeanwhile, entityTag } from './audit/entity-tag';
import { tagAnswers } from './audit/if-match';
import { startRecovery } from './audit/recover-changes';
import { compressAnswers } from './compress-answers';
import { createApi } from './create-api';
import { HotStoreMirror } from './customers/hot-store-mirror';
import { maskAnswers } from './fields/mask-webhooks';
import { readBody } from './fields/read-body';
import { exportLogs } from './logs/export-logs';
import { SEND_AS_PATHS } from './playground/routes';
import { ApiDescription } from './system/api-description';
import { docsPage } from './system/docs-page';

export type { AdminClient } from './create-api';

/** The admin API, to be mounted under `/admin`: `/v1/*`, its OpenAPI document and a reference page. */
export function createAdmin(services: AdminServices): Hono {
  startRecovery(services);
  return buildAdmin(services);
}

/** The API alone, without the background recovery of changes. */
export function buildAdmin(services: AdminServices): Hono {
  const throttle = new SignInThrottle(() => services.clock.monotonicMs());
  const api = createApi(services, new HotStoreMirror(services), throttle);
  const description = new ApiDescription(services.version);
  const admin = new Hono<AdminEnv>();
  const refuse = (cause: unknown, requestId: string = services.createId()) => {
    const response = respondError(asAdminError(cause, services.log), { requestId, dialect: openaiChat });
    return cause instanceof ChangedMeanwhile ? withCurrent(response, cause) : response;
  };
  admin.onError((cause, c) => refuse(cause, c.get('requestId')));
  admin.use(async (c, next) => {
    c.set('requestId', services.createId());
    const socket = c.env?.requestIP?.(c.req.raw)?.address ?? 'unknown';
    const forwarded = c.req.header('x-forwarded-for') ?? null;
    c.set('address', clientAddress(socket, forwarded, services.config.trustProxyHops));
    await next();
    c.header('X-Request-Id', c.get('requestId'));
    c.header('Cache-Control', 'no-store');
  });
  admin.use(compressAnswers);
  admin.get('/v1/openapi.json', async (c) =>
    c.body(await description.read(), 200, { 'Content-Type': 'application/json' }),
  );
  admin.get('/docs', () => docsPage());
  admin.use('/v1/session', (c, next) => {
    c.set('isSession', true);
    return next();
  });
  for (const path of SEND_AS_PATHS) {
    admin.use(path, (c, next) => {
      c.set('isForDataPlane', true);
      return next();
    });
  }
  admin.use(
    '/v1/*',
    authenticateAdmin(services, throttle),
    readBody,
    guardRoutes(services),
    tagAnswers,
    noteApply,
    maskAnswers,
  );
  admin.use('/v1/logs', exportLogs(services));
  admin.route('/v1', api as unknown as Hono);
  for (const [path, methods] of methodsByPath(api)) {
    admin.all(`/v1${path}`, (c) => {
      const allowed = methods.join(', ');
      const error = new GatewayError('method_not_allowed', `This path takes ${allowed} only.`);
      const response = respondError(error, { requestId: c.get('requestId'), dialect: openaiChat });
      response.headers.set('Allow', allowed);
      return response;
    });
  }
  admin.all('*', (c) => {
    throw new GatewayError('not_found', `Nothing exists at ${c.req.path.slice(0, 200)}.`);
  });
  return admin as unknown as Hono;
}

/** Adds the current state to the error. */
async function withCurrent(response: Response, { currentJson }: ChangedMeanwhile): Promise<Response> {
  const error = (await response.text()).replace(/\}$/, `,"current":${currentJson}}`);
  const answer = new Response(error, response);
  if (currentJson !== null) answer.headers.set('ETag', entityTag(currentJson));
  return answer;
}

function methodsByPath(api: AdminRouter): ReadonlyMap<string, string[]> {
  const byPath = new Map<string, string[]>();
  for (const { path, method } of api.routes) {
    const methods = byPath.get(path) ?? [];
    if (!methods.includes(method)) byPath.set(path, [...methods, method]);
  }
  return byPath;
}
