import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { settled } from './settled';
import { shareWatched } from './share-watched';

const { dashboard, send, signedIn } = shareWatched();

/** What comes over the wire for a path, from now on. */
async function countBytes(page: Page, pattern: RegExp): Promise<() => { bytes: number; answers: number }> {
  const session = await page.context().newCDPSession(page);
  const asked = new Set<string>();
  let bytes = 0;
  let answers = 0;
  await session.send('Network.enable');
  session.on(
    'Network.requestWillBeSent',
    ({ requestId, request }) => pattern.test(request.url) && asked.add(requestId),
  );
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (!asked.has(requestId)) return;
    bytes += encodedDataLength;
    answers++;
  });
  return () => ({ bytes, answers });
}

describe('wire format', () => {
  test('live with ten pages loaded, only what is new comes', async () => {
    const { page, problems } = await signedIn('/requests?range=7d&live=true');
    let [isLive, askedMs] = [false, 0];
    page.on('response', (response) => {
      isLive ||= response.url().includes('/admin/v1/live');
      if (response.url().includes('/admin/v1/logs?')) askedMs = performance.now();
    });
    for (let pages = 1; pages < 10; pages++) {
      await page.getByText(`${pages}00 shown`, { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Show more' }).click();
    }
    await page.getByText('1,000 shown', { exact: true }).waitFor();
    // What was made up came in just now, so that the stream has it all read once more.
    while (!isLive || performance.now() - askedMs < 1500) await Bun.sleep(50);
    await settled(page);
    await page.getByText('1,000 shown', { exact: true }).waitFor();
    const counted = await countBytes(page, /\/admin\/v1\/logs\?/);
    await send({}, { 'x-customer-id': 'the newest one' });
    await page.getByText('the newest one').first().waitFor();
    await page.getByText('1,001 shown', { exact: true }).waitFor();
    // The stream tells of it: the list is not asked for again.
    expect(counted().bytes).toBeLessThan(5000);
    expect(problems).toEqual([]);
  });

  test('the first load comes compressed, the latency page asks for no rows', async () => {
    const { page } = await dashboard.openApart({ adminToken: null });
    const scripts = await countBytes(page, /\/assets\/.*\.(js|css)$/);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(dashboard.gateway.url);
    await page.getByLabel('Admin token').fill(dashboard.gateway.adminToken);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(scripts().bytes).toBeGreaterThan(50_000);
    expect(scripts().bytes).toBeLessThan(220_000);
    await page.goto(`${dashboard.gateway.url}/latency`);
    await page.getByRole('columnheader', { name: 'Tokens/s' }).waitFor();
    await settled(page);
    expect(asked.filter((url) => /\/logs\?.*limit=1000/.test(url))).toEqual([]);
    expect(asked.some((url) => url.includes('/stats/speeds'))).toBe(true);
  });
});
