import { GatewayError } from '@llm0/core/errors/gateway-error';
import { Hono } from 'hono';
import { openaiChat } from '../dialects/openai-chat/index';
import { respondError } from '../pipeline/respond-error';
import { asAdminError } from './admin-error';
import { createRouter } from './admin-router';
import type { AdminEnv, AdminServices } from './admin-services';
import { alertRoutes } from './alerts';
import { aliasRoutes } from './aliases';
import { authenticateAdmin } from './authenticate-admin';
import { budgetRoutes } from './budgets';
import { cacheRoutes } from './cache';
import { chainRoutes } from './chains';
import { customerListRoutes } from './customer-list';
import { customerRoutes } from './customers';
import { demoDataRoutes } from './demo-data';
import { docsPage } from './docs-page';
import { exportLogs } from './export-logs';
import { failoverRoutes } from './failovers';
import { historyRoutes } from './history';
import { HotStoreMirror } from './hot-store-mirror';
import { importModelRoutes } from './import-models';
import { keyRoutes } from './keys';
import { logRoutes } from './logs';
import { modelRoutes } from './models';
import { buildOpenApi } from './openapi-document';
import { projectRoutes } from './projects';
import { providerKeyRoutes } from './provider-keys';
import { providerRoutes } from './providers';
import { readBody } from './read-body';
import { reconcileRoutes } from './reconcile';
import { startRecovery } from './recover-changes';
import { semanticCacheRoutes } from './semantic-cache';
import { sessionRoutes } from './session';
import { SignInThrottle } from './sign-in-throttle';
import { statsRoutes } from './stats';
import { systemRoutes } from './system';
import { tokenRoutes } from './tokens';

/** The typed routes under `/admin/v1`: what the dashboard's `hc` client is made from. */
export type AdminApi = ReturnType<typeof createApi>;

function createApi(services: AdminServices, mirror: HotStoreMirror, throttle: SignInThrottle) {
  return createRouter()
    .route('/', projectRoutes(services, mirror))
    .route('/', keyRoutes(services, mirror))
    .route('/', customerRoutes(services, mirror))
    .route('/', modelRoutes(services, mirror))
    .route('/', importModelRoutes(services, mirror))
    .route('/', aliasRoutes(services, mirror))
    .route('/', chainRoutes(services, mirror))
    .route('/', providerRoutes(services, mirror))
    .route('/', providerKeyRoutes(services, mirror))
    .route('/', logRoutes(services))
    .route('/', statsRoutes(services))
    .route('/', reconcileRoutes(services))
    .route('/', cacheRoutes(services))
    .route('/', semanticCacheRoutes(services))
    .route('/', historyRoutes(services))
    .route('/', tokenRoutes(services))
    .route('/', sessionRoutes(services, throttle))
    .route('/', budgetRoutes(services))
    .route('/', customerListRoutes(services))
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
    c.set('address', c.env?.requestIP?.(c.req.raw)?.address ?? 'unknown');
    await next();
    c.header('X-Request-Id', c.get('requestId'));
    c.header('Cache-Control', 'no-store');
  });
  admin.get('/v1/openapi.json', (c) => c.body(openApi, 200, { 'Content-Type': 'application/json' }));
  admin.get('/docs', () => docsPage());
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
