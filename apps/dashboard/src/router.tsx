import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type NavigateOptions,
  type RouteComponent,
  redirect,
  retainSearchParams,
} from '@tanstack/react-router';
import { readGuardrailsSearch } from './features/guardrails/guardrails-search';
import { readLatencySearch } from './features/latency/latency-search';
import { readConnectSearch } from './features/me/connect-search';
import { readMoneySearch } from './features/money/money-search';
import { readProjectSearch } from './features/projects/project/project-search';
import { readAuditSearch } from './features/settings/audit-search';
import { loadPage } from './features/shell/load-page';
import { NotFoundPage, PageError } from './features/shell/page-error';
import { placeNow } from './features/shell/place-now';
import { Shell } from './features/shell/shell';
import { readToolsSearch } from './features/tools/tools-search';
import { type PageSearch, readPageSearch, tidied } from './range/page-search';
import { loadRangeMenu } from './range/range-picker';
import { readRequestsSearch } from './range/request-filter';

/** A page in a file of its own; without a gateway, the error page offers to load it again. */
const lazily =
  <M,>(load: () => Promise<M>) =>
  () =>
    loadPage(load);

const root = createRootRoute({
  component: () => <Shell preload={preloadPages} />,
  validateSearch: tidied(readPageSearch),
  // The range and the project stay when one goes from page to page.
  search: {
    middlewares: [retainSearchParams<PageSearch>(['range', 'from', 'to', 'tz', 'project', 'previous', 'marks'])],
  },
  notFoundComponent: NotFoundPage,
});

/** Sends an address of an earlier version to its page. */
function leadOn({ location }: { readonly location: { readonly pathname: string; readonly search: object } }): void {
  const now = placeNow(location.pathname, location.search as Readonly<Record<string, unknown>>);
  if (now !== null) throw redirect({ ...now, replace: true } as unknown as NavigateOptions);
}

/** A page with nothing of its own in the address, loaded when one goes there. */
const plain = <const P extends string, M extends Record<string, RouteComponent>>(
  path: P,
  load: () => Promise<M>,
  name: string & keyof M,
) => createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(lazily(load), name) });

const overview = plain('/', () => import('./features/overview/overview-page'), 'OverviewPage');
const requests = createRoute({
  getParentRoute: () => root,
  path: '/requests',
  validateSearch: tidied(readRequestsSearch),
  component: lazyRouteComponent(
    lazily(() => import('./features/requests/requests-page')),
    'RequestsPage',
  ),
});
const projects = createRoute({
  getParentRoute: () => root,
  path: '/projects',
  beforeLoad: leadOn,
  component: lazyRouteComponent(
    lazily(() => import('./features/projects/projects-page')),
    'ProjectsPage',
  ),
});
const project = createRoute({
  getParentRoute: () => root,
  path: '/projects/$projectId',
  validateSearch: tidied(readProjectSearch),
  component: lazyRouteComponent(
    lazily(() => import('./features/projects/project-page')),
    'ProjectPage',
  ),
});
const money = createRoute({
  getParentRoute: () => root,
  path: '/money',
  validateSearch: tidied(readMoneySearch),
  component: lazyRouteComponent(
    lazily(() => import('./features/money/money-page')),
    'MoneyPage',
  ),
});
const customers = plain('/customers', () => import('./features/customers/customers-page'), 'CustomersPage');
const latency = createRoute({
  getParentRoute: () => root,
  path: '/latency',
  validateSearch: tidied(readLatencySearch),
  component: lazyRouteComponent(
    lazily(() => import('./features/latency/latency-page')),
    'LatencyPage',
  ),
});
const models = plain('/models', () => import('./features/models/models-page'), 'ModelsPage');
const cache = plain('/cache', () => import('./features/cache/cache-page'), 'CachePage');
const routing = plain('/routing', () => import('./features/routing/routing-page'), 'RoutingPage');
const playground = plain('/playground', () => import('./features/playground/playground-page'), 'PlaygroundPage');
const tools = createRoute({
  getParentRoute: () => root,
  path: '/tools',
  validateSearch: tidied(readToolsSearch),
  component: lazyRouteComponent(
    lazily(() => import('./features/tools/tools-page')),
    'ToolsPage',
  ),
});
const guardrails = createRoute({
  getParentRoute: () => root,
  path: '/guardrails',
  validateSearch: tidied(readGuardrailsSearch),
  component: lazyRouteComponent(
    lazily(() => import('./features/guardrails/guardrails-page')),
    'GuardrailsPage',
  ),
});
const backends = plain('/backends', () => import('./features/backends/backends-page'), 'BackendsPage');
const me = plain('/me', () => import('./features/me/me-page'), 'MePage');
const connect = createRoute({
  getParentRoute: () => root,
  path: '/connect',
  validateSearch: tidied(readConnectSearch),
  component: lazyRouteComponent(
    lazily(() => import('./features/me/connect-page')),
    'ConnectPage',
  ),
});
const runs = plain('/runs', () => import('./features/runs/runs-page'), 'RunsPage');
const batches = plain('/batches', () => import('./features/batches/batches-page'), 'BatchesPage');
const alerts = plain('/alerts', () => import('./features/settings/alerts-page'), 'AlertsPage');
const audit = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  validateSearch: tidied(readAuditSearch),
  component: lazyRouteComponent(
    lazily(() => import('./features/settings/audit-page')),
    'AuditPage',
  ),
});
const teams = plain('/teams', () => import('./features/teams/teams-page'), 'TeamsPage');
const settings = createRoute({
  getParentRoute: () => root,
  path: '/settings',
  beforeLoad: leadOn,
  component: lazyRouteComponent(
    lazily(() => import('./features/settings/settings-page')),
    'SettingsPage',
  ),
});
const spend = createRoute({ getParentRoute: () => root, path: '/spend', beforeLoad: leadOn });
const finance = createRoute({ getParentRoute: () => root, path: '/finance', beforeLoad: leadOn });

export const router = createRouter({
  routeTree: root.addChildren([
    ...[overview, requests, runs, batches, latency, cache, alerts, money, customers],
    ...[projects, project, models, routing, guardrails, tools, backends],
    ...[playground, me, connect, audit, teams, settings, spend, finance],
  ]),
  defaultPreload: 'intent',
  defaultErrorComponent: ({ error }) => <PageError error={error instanceof Error ? error : new Error(String(error))} />,
  scrollRestoration: true,
});

/** Loads the files of all pages, so that they open while the gateway is away. */
export const preloadPages = async (): Promise<void> => {
  for (const route of Object.values(router.routesById)) await router.loadRouteChunk(route)?.catch(() => {});
  await loadRangeMenu().catch(() => {});
};

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
