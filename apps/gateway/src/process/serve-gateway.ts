import { constants } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { putEnvironmentProvider } from '@llm0/drizzle/queries/access/identity-providers';
import { STARTED } from '@llm0/drizzle/queries/annotations';
import { addSystemLog } from '@llm0/drizzle/queries/logs/system-logs';
import type { Hono } from 'hono';
import type { Logger } from 'pino';
import { version } from '../../package.json';
import { createAdminSecret } from '../admin/access/admin-token';
import type { createAdmin } from '../admin/index';
import { createApp, createHotRoutes, createPlainRoutes, createSendAs, refuse } from '../app';
import { createLineEndpoints } from '../batches/line-endpoints';
import { createChunkRunner } from '../batches/run-batches';
import type { Config } from '../config/config';
import { startJobs } from '../jobs/run-jobs';
import { noteReached } from '../observe/status-pages';
import { createServices, type RunningServices } from '../services';
import { withOwnSchema } from '../services/check-stores';
import { ResponseSockets, socketHandlers } from '../sockets/create-sockets';
import { RealtimeSockets } from '../sockets/realtime/realtime-sockets';
import type { SocketPeer } from '../sockets/socket-peer';
import { allowOrigins } from './allow-origins';
import { createConfigApply } from './apply-config';
import type { FirstSecrets } from './first-credentials';
import { limitFloods } from './limit-floods';
import { loadAdminLater, loadScimLater } from './load-admin';
import type { Ports } from './print-start';
import { refuseOddHosts } from './refuse-odd-hosts';
import { closeConnections, stopListening } from './stop-listening';
import { listenOrExplain, type Place, placesOf } from './take-port';

/** Bun's idle time-out in seconds: longer than any pause of a stream. */
const IDLE_TIMEOUT_SECONDS = 255;
const FLUSH_TIMEOUT_MS = 5000;
/** Load balancers learn from /readyz, and clients from `Connection: close`, before the listener goes. */
const DRAIN_GRACE_MS = 500;

/** A gateway that serves. */
export interface ServingGateway {
  readonly ports: Ports;
  /** Made at the very first start only. */
  readonly secrets: FirstSecrets;
  /** Marks the secrets valid; call right before printing. */
  keepSecrets(): Promise<void>;
  /** Applies the file of GATEWAY_CONFIG again; never rejects. */
  applyConfig(): Promise<void>;
  readonly services: RunningServices['services'];
  /** Finishes running requests (at most DRAIN_TIMEOUT), flushes to the stores, closes. */
  shutdown(reason: string): Promise<void>;
}

export interface ServeOptions {
  readonly config: Config;
  readonly log: Logger;
  /** Shares the port with other workers (SO_REUSEPORT). */
  readonly sharedPort: boolean;
  /** With several processes, collects everybody's metrics. */
  readonly gatherMetrics?: (own: () => Promise<string>) => Promise<string>;
}

/** Takes the port, opens the stores, creates first credentials, elects jobs, and serves. */
export async function serveGateway(options: ServeOptions): Promise<ServingGateway> {
  const places = placesOf(options.config);
  if (options.sharedPort) {
    return answer(await startGateway(options), ([main, admin]) => [
      listen(options, places[0], main),
      places[1] && listen(options, places[1], admin),
    ]);
  }
  // A start without a port must not create anything. Early requests wait for the answer.
  const waiting: WaitingListener[] = [];
  try {
    for (const place of places) if (place !== undefined) waiting.push(listenWaiting(options, place));
    const [main, admin] = waiting;
    if (main === undefined) throw new Error('there is nowhere to listen');
    return answer(await startGateway(options), (routes) => [main.open(routes[0]), admin?.open(routes[1])]);
  } catch (error) {
    await Promise.all(waiting.map(({ server }) => server.stop(true)));
    throw error;
  }
}

interface WaitingListener {
  readonly server: Server;
  /** Answers waiting requests. */
  open(routes: Routes): Server;
}

function listenWaiting(options: ServeOptions, place: Place): WaitingListener {
  const ready = Promise.withResolvers<Routes>();
  const server = listen(options, place, {
    routes: {},
    fetch: async (request, server) => (await ready.promise).fetch(request, server),
  });
  const open = (routes: Routes) => {
    server.reload({ ...routes, websocket: socketHandlers(options.config.maxBodyBytes) });
    ready.resolve(routes);
    return server;
  };
  return { server, open };
}

type Handle = (request: Request, server: Bun.Server<SocketPeer>) => Response | Promise<Response>;

interface Routes {
  readonly routes: Readonly<Record<string, { readonly POST: Handle } | Handle>>;
  readonly fetch: Handle;
}

/** All that a shutdown closes. */
interface Listening {
  readonly servers: readonly Server[];
  readonly sockets: readonly Pick<ResponseSockets, 'goAway'>[];
}

type Started = Awaited<ReturnType<typeof startGateway>>;
type Server = ReturnType<typeof listen>;
/** Ports of the data plane and of the operators' listener. */
type Open = (routes: readonly [Routes, Routes]) => readonly [Server, Server | undefined];

function answer({ apps, services, secrets, keepSecrets, applyConfig, shutdown }: Started, open: Open): ServingGateway {
  const cors = allowOrigins(services.config.corsOrigins);
  const refused = (path: string, error: GatewayError) => refuse(services, path, error);
  const limit = limitFloods(services, refused);
  const sockets = new ResponseSockets({ services, limit, refuse: refused });
  const realtime = new RealtimeSockets({ services, limit, refuse: refused });
  const guard = (handle: Handle): Handle => cors(limit(handle));
  const knownHost = refuseOddHosts(refused);
  const hot = Object.entries(createHotRoutes(services)).map(([path, { POST }]) => [path, { POST: guard(POST) }]);
  const plain = Object.entries(createPlainRoutes(services)).map(([path, handle]) => [path, knownHost(guard(handle))]);
  const routes = Object.fromEntries([...hot, ...plain]);
  const routesOf = (app: Hono): Routes => ({
    routes,
    fetch: knownHost(guard(realtime.inFrontOf(sockets.inFrontOf(app.fetch)))),
  });
  const [main, admin] = open([routesOf(apps.main), routesOf(apps.admin)]);
  const servers = admin === undefined ? [main] : [main, admin];
  // The runtime can't end an unread connection otherwise; any server works.
  services.readers.connections = sockets.connections({
    addressOf: (request) => main.requestIP(request),
    end: (request) => main.timeout(request, 1),
  });
  const ports = { port: main.port ?? services.config.port, adminPort: admin?.port };
  const stop = (reason: string) => shutdown({ servers, sockets: [sockets, realtime] }, reason);
  return { ports, secrets, keepSecrets, applyConfig, services, shutdown: stop };
}

function listen({ config, log, sharedPort }: ServeOptions, place: Place, routes: Routes) {
  const serve = () =>
    Bun.serve({
      port: place.port,
      hostname: place.host,
      reusePort: sharedPort,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
      // The pipeline limits bodies itself, so that a refusal has its envelope and row.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      tls: config.tls && {
        cert: Bun.file(config.tls.certFile),
        key: Bun.file(config.tls.keyFile),
        secureOptions: constants.SSL_OP_NO_TLSv1 | constants.SSL_OP_NO_TLSv1_1,
      },
      ...routes,
      websocket: socketHandlers(config.maxBodyBytes),
      error: (cause) => {
        log.error({ err: cause }, 'a response could not be sent');
        return new Response(null, { status: 500 });
      },
    });
  return listenOrExplain(place, serve);
}

/** Some seconds of silence would look like a hang. */
function sayFirstStart({ databaseUrl, dataDir }: Config): void {
  if (databaseUrl === undefined && !existsSync(join(dataDir, 'postgres'))) {
    console.error('preparing the embedded database (once)');
  }
}

async function startGateway(options: ServeOptions) {
  const { log } = options;
  sayFirstStart(options.config);
  const config = await withOwnSchema(options.config, (message) => log.info(message));
  const running = await createServices(config, log, version);
  const { services } = running;
  const secrets = await running.firstCredentials.issue();
  await putEnvironmentProvider(running.database.db, environmentProvider(config));
  const jobs = await startJobs(running);
  await services.batches.work.begin(createChunkRunner(services, createLineEndpoints(services)));
  await noteReached(services);
  noteStart(running, log);
  const token = createAdminSecret().secret;
  const { stop: stopLoading, ...operator } = loadAdminLater(async () => {
    const { createAdmin } = await import('../admin/index');
    const { createStatsReader } = await import('../admin/stats/answer-stats');
    const stats = running.statsThread ?? createStatsReader(running.database.db);
    const { createSignOn } = await import('../admin/sign-on/routes');
    const given = { ...adminServices(running), stats, ownToken: token };
    return { admin: createAdmin(given), auth: createSignOn(given) };
  });
  const scim = loadScimLater(async () =>
    (await import('../admin/scim/create-scim')).createScim(adminServices(running)),
  );
  const applyConfig = createConfigApply({ config, log, token, ask: (request) => operator.admin.fetch(request) });
  const everything = createApp(services, { ...operator, scim, gatherMetrics: options.gatherMetrics });
  const apps = { main: config.adminPort === undefined ? everything : createApp(services), admin: everything };
  const shutdown = async ({ servers, sockets }: Listening, reason: string): Promise<void> => {
    log.info({ reason, open: services.openRequests.count }, 'draining');
    stopLoading();
    const idle = services.openRequests.drain(config.drainTimeoutMs);
    for (const room of sockets) room.goAway();
    await Bun.sleep(DRAIN_GRACE_MS);
    await Promise.all(servers.map(stopListening));
    if (!(await idle)) log.warn({ open: services.openRequests.count }, 'drain timed out, closing open requests');
    await Promise.all(servers.map(closeConnections));
    services.refusals.flush();
    await services.batches.work.stop(config.drainTimeoutMs);
    await services.hotStore.flush(FLUSH_TIMEOUT_MS);
    await jobs.stop();
    await running.close();
    log.info('stopped');
  };
  const keepSecrets = () => running.firstCredentials.keep();
  return { apps, secrets, keepSecrets, applyConfig, services, shutdown };
}

/** Named by its address: several issuers may have one host. */
function environmentProvider({ signOn: { provider } }: Config) {
  if (provider === undefined) return undefined;
  const { clientSecret: _, ...settings } = provider;
  return { ...settings, name: provider.issuer.replace(/^https?:\/\//, '').replace(/\/$/, '') };
}

/** Charts mark it; a database that is away has other worries. */
function noteStart({ database }: RunningServices, log: ServeOptions['log']): void {
  const entry = { eventType: STARTED, outcome: 'ok', durationMs: null, metadata: { version } } as const;
  addSystemLog(database.db, { ...entry, message: `Gateway ${version} started` }).catch((err) =>
    log.debug({ err }, 'the start could not be written down'),
  );
}

function adminServices(running: RunningServices): Omit<Parameters<typeof createAdmin>[0], 'stats'> {
  const { services, database, tables, providerAdmin, mcpAdmin, backendAdmin, checkUrl, issuers } = running;
  const { refreshTables: reloadTables } = services;
  return {
    ...services,
    isStopping: () => services.openRequests.isDraining,
    db: database.db,
    reloadTables,
    presetChains: tables.presets,
    providerAdmin,
    issuers,
    mcpAdmin,
    backendAdmin,
    checkUrl,
    guardrailChecks: running.guardrailChecks,
    sendAs: createSendAs(services),
  };
}
