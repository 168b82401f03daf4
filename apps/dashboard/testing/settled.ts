import type { Page } from 'playwright-core';

const QUIET_MS = 60;
const inFlight = new WeakMap<Page, Set<unknown>>();
/** It never ends. */
const STREAM = '/admin/v1/live';

/** Counts from now on what a page waits for, so that `settled` knows. */
export function keepsSettled(page: Page): void {
  if (inFlight.has(page)) return;
  const waiting = new Set<unknown>();
  inFlight.set(page, waiting);
  page.on('request', (request) => {
    // What an old document waited for, nobody waits for any more.
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) waiting.clear();
    if (!request.url().includes(STREAM)) waiting.add(request);
  });
  page.on('requestfinished', (request) => waiting.delete(request));
  page.on('requestfailed', (request) => waiting.delete(request));
}

/** Until the page has all it asked for and has drawn it; `networkidle` would wait for half a second each time. */
export async function settled(page: Page): Promise<void> {
  const waiting = inFlight.get(page);
  if (waiting === undefined) throw new Error('the page was not watched from its beginning');
  for (let quietMs = 0; quietMs < QUIET_MS; ) {
    await page.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(null)))),
    );
    quietMs = waiting.size === 0 ? quietMs + 20 : 0;
  }
}
