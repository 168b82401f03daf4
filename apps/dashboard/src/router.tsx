import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
  retainSearchParams,
} from '@tanstack/react-router';
import { readFinanceSearch } from './features/finance/finance-search';
import { readGuardrailsSearch } from './features/guardrails/guardrails-search';
import { OverviewPage } from './features/overview/overview-page';
import { loadPage } from './features/shell/load-page';
import { NotFoundPage, PageError } from './features/shell/page-error';
import { Shell } from './features/shell/shell';
import { readToolsSearch } from './features/tools/tools-search';
import { type PageSearch, readPageSearch, tidied } from './range/page-search';
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

const overview = createRoute({ getParentRoute: () => root, path: '/', component: OverviewPage });
/** A page with nothing of its own in the address, loaded when one goes there. */
const plain = <const P extends string, M extends Record<string, RouteComponent>>(
  path: P,
  load: () => Promise<M>,
  name: string & keyof M,
) => createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(lazily(load), name) });

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
  validateSearch: tidied((search): { tab?: 'customers' } => (search.tab === 'customers' ? { tab: 'customers' } : {})),
  component: lazyRouteComponent(
    lazily(() => import('./features/projects/projects-page')),
    'ProjectsPage',
  ),
});
const project = plain('/projects/$projectId', () => import('./features/projects/project-page'), 'ProjectPage');
const spend = createRoute({
  getParentRoute: () => root,
  path: '/spend',
  validateSearch: tidied((search): { by?: string } => (typeof search.by === 'string' ? { by: search.by } : {})),
  component: lazyRouteComponent(
    lazily(() => import('./features/spend/spend-page')),
    'SpendPage',
  ),
});
const finance = createRoute({
  getParentRoute: () => root,
  path: '/finance',
  validateSearch: tidied(readFinanceSearch),
  component: lazyRouteComponent(
    lazily(() => import('./features/finance/finance-page')),
    'FinancePage',
  ),
});
const latency = plain('/latency', () => import('./features/latency/latency-page'), 'LatencyPage');
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
const settings = plain('/settings', () => import('./features/settings/settings-page'), 'SettingsPage');

export const router = createRouter({
  routeTree: root.addChildren([
    ...[overview, requests, projects, project, spend, finance],
    ...[latency, models, cache, routing, tools, guardrails, playground, settings],
  ]),
  defaultPreload: 'intent',
  defaultErrorComponent: ({ error }) => <PageError error={error instanceof Error ? error : new Error(String(error))} />,
  scrollRestoration: true,
});

/** Loads the files of all pages, so that they open while the gateway is away. */
export const preloadPages = async (): Promise<void> => {
  for (const route of Object.values(router.routesById)) await router.loadRouteChunk(route)?.catch(() => {});
};

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
