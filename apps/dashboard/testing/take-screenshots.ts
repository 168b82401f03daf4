// `bun run --cwd apps/dashboard screenshots`: a gateway of its own with made-up data, every page, light and dark, wide and
// on a phone. LLM0_URL and ADMIN_TOKEN name one that runs already.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { ensureDashboard } from '../../gateway/bin/ensure-dashboard';
import { callAdmin, startGateway } from '../../gateway/testing/start-gateway';
import { openBrowser } from './open-browser';
import { PAGES } from './pages';

const SHAPES = [
  { suffix: '', width: 1280, height: 860, theme: 'light' },
  { suffix: '-dark', width: 1280, height: 860, theme: 'dark' },
  { suffix: '-phone', width: 390, height: 844, theme: 'light' },
] as const;
const SETTLE_MS = 700;

const out = join(import.meta.dir, '../../../docs/screenshots');
await mkdir(out, { recursive: true });
const only = process.argv.slice(2);

if (!(await ensureDashboard())) throw new Error('the dashboard could not be built');
const given = process.env.LLM0_URL;
const started = given === undefined ? await startGateway({ env: { DEMO_PROVIDER: 'on' } }) : undefined;
const url = started?.url ?? given ?? '';
const adminToken = started?.adminToken ?? process.env.ADMIN_TOKEN ?? '';
const browser = await openBrowser();
try {
  if (started !== undefined) await fill({ url, adminToken });
  for (const shape of SHAPES) {
    const page = await browser.newPage(shape);
    await page.goto(url);
    await page.getByLabel('Admin token').waitFor();
    await shoot(page, `sign-in${shape.suffix}`);
    await page.getByLabel('Admin token').fill(adminToken);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    for (const { name, path } of PAGES) {
      if (only.length > 0 && !only.includes(name)) continue;
      await page.goto(url + path);
      await page.waitForLoadState('networkidle');
      await shoot(page, name + shape.suffix);
    }
    if (only.length > 0 && !only.includes('request')) continue;
    await page.goto(`${url}/requests?range=7d`);
    await page.locator('tbody tr[tabindex]').first().click();
    await page.getByText('Gateway overhead').waitFor();
    await shoot(page, `request${shape.suffix}`);
  }
} finally {
  await browser.close();
  await started?.stop();
}

async function shoot(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(SETTLE_MS);
  await page.screenshot({ path: join(out, `${name}.png`) });
}

/** A fortnight of traffic, drained. */
async function fill(gateway: { url: string; adminToken: string }): Promise<void> {
  await callAdmin(gateway, '/demo-data', { body: {} });
  for (;;) {
    const { queue_depth: depth } = await callAdmin<{ queue_depth: number }>(gateway, '/reconcile');
    if (depth === 0) return;
    await Bun.sleep(200);
  }
}
