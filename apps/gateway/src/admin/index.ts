import { GatewayError } from '@llm0/core/errors/gateway-error';
import { clientAddress } from '@llm0/core/limits/client-network';
import { Hono } from 'hono';
import { openaiChat } from '../dialects/openai-chat/index';
import { respondError } from '../pipeline/exchange/respond-error';
import { authenticateAdmin } from './access/authenticate-admin';
import { sessionRoutes } from './access/session';
import { SignInThrottle } from './access/sign-in-throttle';
import { tokenRoutes } from './access/tokens';
import { asAdminError } from './admin-error';
import { createRouter } from './admin-router';
import type { AdminEnv, AdminServices } from './admin-services';
import { alertRoutes } from './alerts/routes';
import { aliasRoutes } from './aliases/routes';
import { startRecovery } from './audit/recover-changes';
import { historyRoutes } from './audit/routes';
import { budgetRoutes } from './budgets/routes';
import { cacheRoutes } from './cache/routes';
import { semanticCacheRoutes } from './cache/semantic-routes';
import { chainRoutes } from './chains/routes';
import { HotStoreMirror } from './customers/hot-store-mirror';
import { customerListRoutes } from './customers/list-routes';
import { customerRoutes } from './customers/routes';
import { demoDataRoutes } from './demo/demo-data';
import { failoverRoutes } from './failovers/routes';
import { readBody } from './fields/read-body';
import { keyRoutes } from './keys/routes';
import { exportLogs } from './logs/export-logs';
import { logRoutes } from './logs/routes';
import { importModelRoutes } from './models/import-models';
import { modelRoutes } from './models/routes';
import { projectRoutes } from './projects/routes';
import { providerKeyRoutes } from './providers/key-routes';
import { providerRoutes } from './providers/routes';
import { reconcileRoutes } from './reconcile/routes';
import { keepAnswers } from './stats/keep-answers';
import { statsRoutes } from './stats/routes';
import { StatsCache } from './stats/stats-cache';
import { docsPage } from './system/docs-page';
import { buildOpenApi } from './system/openapi-document';
import { systemRoutes } from './system/routes';

/** The typed routes under `/admin/v1`: what the dashboard's `hc` client is made from. */
export type AdminApi = ReturnType<typeof createApi>;

function createApi(services: AdminServices, mirror: HotStoreMirror, throttle: SignInThrottle) {
  const kept = new StatsCache(services.stats, services.clock);
  const answer = keepAnswers(kept);
  return createRouter()
    .route('/', projectRoutes(services, mirror))
    .route('/', keyRoutes(services, mirror))
    .route(
      '/',
      customerRoutes(services, mirror, () => kept.forget('customers')),
    )
    .route('/', modelRoutes(services, mirror))
    .route('/', importModelRoutes(services, mirror))
    .route('/', aliasRoutes(services, mirror))
    .route('/', chainRoutes(services, mirror))
    .route('/', providerRoutes(services, mirror))
    .route('/', providerKeyRoutes(services, mirror))
    .route('/', logRoutes(services))
    .route('/', statsRoutes(services, answer))
    .route('/', reconcileRoutes(services))
    .route('/', cacheRoutes(services))
    .route('/', semanticCacheRoutes(services))
    .route('/', historyRoutes(services))
    .route('/', tokenRoutes(services))
    .route('/', sessionRoutes(services, throttle))
    .route('/', budgetRoutes(services))
    .route('/', customerListRoutes(services, answer))
    .route('/', failoverRoutes(services))
    .route('/', alertRoutes(services))
    .route('/', systemRoutes(services))
    .route('/', demoDataRoutes(services));
}

/** The admin API, to be mounted under `/admin`: `/v1/*`, its OpenAPI document and a reference page. */
export function createAdmin(services: AdminServices): Hono {
  startRecovery(services);
  return buildAdmin(services);
}

/** The API alone, without the background recovery of changes. */
export function buildAdmin(services: AdminServices): Hono {
  const throttle = new SignInThrottle(() => services.clock.monotonicMs());
  const api = createApi(services, new HotStoreMirror(services), throttle);
  const openApi = JSON.stringify(buildOpenApi(api, services.version));
  const admin = new Hono<AdminEnv>();
  const refuse = (cause: unknown, requestId: string = services.createId()) =>
    respondError(asAdminError(cause, services.log), { requestId, dialect: openaiChat });
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
  admin.get('/v1/openapi.json', (c) => c.body(openApi, 200, { 'Content-Type': 'application/json' }));
  admin.get('/docs', () => docsPage());
  admin.use('/v1/session', (c, next) => {
    c.set('isSession', true);
    return next();
  });
  admin.use('/v1/*', authenticateAdmin(services, throttle), readBody);
  admin.use('/v1/logs', exportLogs(services));
  admin.route('/v1', api);
  for (const [path, methods] of methodsByPath(api)) {
    admin.all(`/v1${path}`, (c) => {
      const allowed = methods.join(', ');
      const error = new GatewayError('method_not_allowed', `This path takes ${allowed} only.`);
      const response = refuse(error, c.get('requestId'));
      response.headers.set('Allow', allowed);
      return response;
    });
  }
  admin.all('*', (c) => {
    throw new GatewayError('not_found', `There is nothing at ${c.req.path.slice(0, 200)}.`);
  });
  return admin as unknown as Hono;
}

function methodsByPath(api: AdminApi): ReadonlyMap<string, string[]> {
  const byPath = new Map<string, string[]>();
  for (const { path, method } of api.routes) {
    const methods = byPath.get(path) ?? [];
    if (!methods.includes(method)) byPath.set(path, [...methods, method]);
  }
  return byPath;
}
