import type { GatewayProcess } from '@llm0/testing/stores/start-gateway';
import type { BrowserContext, Page } from 'playwright-core';
import type { BrowserUnderTest, PageOptions } from './open-browser';

/** A page, and anything it may say of itself that nobody should have to read. */
export interface Watched {
  readonly page: Page;
  readonly problems: string[];
}

export interface Where {
  readonly browser: BrowserUnderTest;
  readonly gateway: Pick<GatewayProcess, 'url' | 'adminToken'>;
}

export type Cookies = Parameters<BrowserContext['addCookies']>[0];

const TIMEOUT_MS = 30_000;

/** Collects what a page says of itself. */
export function watch(page: Page, gateway: Pick<GatewayProcess, 'url'>): string[] {
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    // Refusals are expected here; what is forbidden or broken is not.
    if (message.type() === 'error' && !/status of (401|403|404|429)/.test(message.text()))
      problems.push(`${message.text()} ${message.location().url}`);
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== gateway.url && url.protocol !== 'data:' && url.protocol !== 'blob:')
      problems.push(`asked ${url.origin}`);
  });
  return problems;
}

/** Opens a path of the dashboard in a fresh profile. */
export async function openPage({ browser, gateway }: Where, path = '/', options: PageOptions = {}): Promise<Watched> {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(TIMEOUT_MS);
  const problems = watch(page, gateway);
  await page.goto(gateway.url + path);
  return { page, problems };
}

export async function signIn(page: Page, { gateway }: Pick<Where, 'gateway'>): Promise<void> {
  await page.getByLabel('Admin token').fill(gateway.adminToken);
  await page.getByRole('button', { name: 'Sign in' }).click();
  // The sign-in page has a heading of its own: whoever goes on at once may cut the call that signs in.
  await page.getByLabel('Admin token').waitFor({ state: 'detached' });
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/** Signs a profile in without its page: for all that is not about signing in. */
export async function signInByCookie(context: BrowserContext, { url, adminToken }: Where['gateway']): Promise<Cookies> {
  const answer = await fetch(`${url}/admin/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ token: adminToken }),
  });
  const value = /llm0_session=([0-9a-f]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1];
  if (value === undefined) throw new Error(`signing in: ${answer.status} ${await answer.text()}`);
  const where = { domain: new URL(url).hostname, path: '/admin', httpOnly: true, sameSite: 'Strict' as const };
  const cookies: Cookies = [{ name: 'llm0_session', value, ...where }];
  await context.addCookies(cookies);
  return cookies;
}

export async function openSignedIn(where: Where, path = '/', options: PageOptions = {}): Promise<Watched> {
  const watched = await openPage(where, path, options);
  await signIn(watched.page, where);
  return watched;
}

/** How many pixels a page is wider than its window. */
export const sidewaysOverflow = (page: Page): Promise<number> =>
  page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth));
