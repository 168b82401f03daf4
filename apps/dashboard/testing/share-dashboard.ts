import { afterAll, afterEach, beforeAll } from 'bun:test';
import { startOnServers } from '@llm0/testing/e2e/environment';
import { callAdmin, type GatewayProcess } from '@llm0/testing/stores/start-gateway';
import type { Page } from 'playwright-core';
import { ensureDashboard } from '../../gateway/bin/ensure-dashboard';
import { openBrowser, type PageOptions } from './open-browser';
import { keepsSettled } from './settled';
import { type Cookies, signInByCookie, type Watched, watch } from './watch-page';

const SETUP_MS = 120_000;
const DEFAULT = { width: 1280, height: 800, theme: 'light' } as const;

type Look = Pick<PageOptions, 'width' | 'height' | 'theme'>;

interface Opening extends Look {
  /** Resolves after an event of the page that may come before it is loaded. */
  readonly until?: (page: Page) => Promise<unknown>;
}

export interface DashboardOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Another gateway than one with the demo provider alone. */
  readonly start?: () => Promise<GatewayProcess>;
  /** Runs once the gateway is there. */
  readonly fill?: (gateway: GatewayProcess) => Promise<unknown>;
  readonly timeoutMs?: number;
}

/** One gateway, one browser and one signed-in page for all tests of a file: what costs most is done once. */
export function shareDashboard({ env, start, fill, timeoutMs = 20_000 }: DashboardOptions = {}) {
  let gateway: GatewayProcess;
  const browser = openBrowser();
  let shared: Watched | undefined;
  let cookies: Cookies = [];
  beforeAll(async () => {
    if (!(await ensureDashboard())) throw new Error('the dashboard could not be built');
    gateway = await (start?.() ?? startOnServers({ DEMO_PROVIDER: 'on', ...env }));
    await fill?.(gateway);
    await drained(gateway);
  }, SETUP_MS);
  afterAll(async () => {
    await browser.close();
    await gateway?.kill();
  });
  // A page of its own that nobody looks at any more would go on asking the gateway.
  afterEach(() => browser.closePages(shared?.page));

  const prepare = async (page: Page): Promise<Watched> => {
    page.setDefaultTimeout(timeoutMs);
    keepsSettled(page);
    return { page, problems: watch(page, gateway) };
  };

  /** The shared page as if it were new: signed in, nothing remembered, no other size or look than asked for. */
  async function reset({ width, height, theme }: Required<Look>): Promise<Watched> {
    if (shared === undefined) {
      shared = await prepare(await browser.newPage());
      cookies = await signInByCookie(shared.page.context(), gateway);
    }
    const { page, problems } = shared;
    problems.length = 0;
    await page.unrouteAll();
    await Promise.all(
      page
        .context()
        .pages()
        .filter((other) => other !== page)
        .map((other) => other.close()),
    );
    // Not there before the first page.
    await page.evaluate(() => [localStorage.clear(), sessionStorage.clear()]).catch(() => {});
    // What the test before left under way ends here, and may end this as well.
    await page.goto('about:blank').catch(() => page.goto('about:blank'));
    await page.context().addCookies(cookies);
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: theme });
    return shared;
  }

  return {
    get gateway() {
      return gateway;
    },
    get browser() {
      return browser;
    },
    /** The page all tests share, opened at a path by who may do all. */
    async open(path = '/', { until, ...look }: Opening = {}): Promise<Watched> {
      const watched = await reset({ ...DEFAULT, ...look });
      const awaited = until?.(watched.page);
      await watched.page.goto(gateway.url + path);
      await awaited;
      return watched;
    },
    /** A page of a profile of its own; signed in (as `adminToken`) unless that is null. It is not opened yet. */
    async openApart(options: PageOptions & { readonly adminToken?: string | null } = {}): Promise<Watched> {
      const { adminToken = gateway.adminToken, ...look } = options;
      const watched = await prepare(await browser.newPage(look));
      if (adminToken !== null) await signInByCookie(watched.page.context(), { ...gateway, adminToken });
      return watched;
    },
  };
}

/** Waits until every row is stored. */
export async function drained(gateway: GatewayProcess): Promise<void> {
  for (;;) {
    const ledger = await callAdmin<{ queue_depth: number; open_holds: number }>(gateway, '/reconcile');
    // A request is settled a moment after its answer: until then it has a hold, and no row in the queue.
    if (ledger.queue_depth + ledger.open_holds === 0) return;
    await Bun.sleep(50);
  }
}

/** Goes to a path inside the app, where it begins anew: what costs most about a page is to load and start it. */
export async function visit(page: Page, path: string): Promise<void> {
  for (const to of ['/nowhere', path]) {
    await page.evaluate((address) => {
      history.pushState({}, '', address);
      dispatchEvent(new PopStateEvent('popstate', { state: {} }));
    }, to);
    if (to !== path) await page.getByText('Page not found').waitFor();
  }
}
