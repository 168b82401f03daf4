// `bun run --cwd apps/dashboard screenshots`: a gateway of its own with made-up data, every page, light and dark, wide and
// on a phone. LLM0_URL and ADMIN_TOKEN name one that runs already.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startFakeUpstream } from '@llm0/testing/fake-upstream/start-fake-upstream';
import { callAdmin, createTestKey, startGateway } from '@llm0/testing/stores/start-gateway';
import type { Page } from 'playwright-core';
import { ensureDashboard } from '../../gateway/bin/ensure-dashboard';
import { openBrowser } from './open-browser';
import { PAGES } from './pages';

const SHAPES = [
  { suffix: '', width: 1280, height: 860, theme: 'light' },
  { suffix: '-dark', width: 1280, height: 860, theme: 'dark' },
  { suffix: '-phone', width: 390, height: 844, theme: 'light' },
] as const;
const SETTLE_MS = 700;
const ROUTING = 'routing';
const FAILURES = 8;

const out = join(import.meta.dir, '../../../docs/screenshots');
await mkdir(out, { recursive: true });
const only = process.argv.slice(2);
const isWanted = (name: string) => only.length === 0 || only.includes(name);

if (!(await ensureDashboard())) throw new Error('the dashboard could not be built');
const given = process.env.LLM0_URL;
const upstream = startFakeUpstream();
const started =
  given === undefined
    ? await startGateway({
        env: {
          DEMO_PROVIDER: 'on',
          OPENAI_API_KEY: 'fake',
          OPENAI_BASE_URL: `${upstream.url}/v1`,
          ANTHROPIC_API_KEY: 'fake',
          ANTHROPIC_BASE_URL: upstream.url,
        },
      })
    : undefined;
const url = started?.url ?? given ?? '';
const adminToken = started?.adminToken ?? process.env.ADMIN_TOKEN ?? '';
const browser = await openBrowser();
try {
  if (started !== undefined) await fill({ url, adminToken });
  const opened: { page: Page; suffix: string }[] = [];
  for (const shape of SHAPES) {
    const page = await browser.newPage(shape);
    opened.push({ page, suffix: shape.suffix });
    await shootPages(page, shape.suffix);
  }
  // Last, since it leaves failed requests behind.
  const routing = PAGES.find(({ name }) => name === ROUTING);
  if (routing !== undefined && isWanted(ROUTING)) {
    for (const { page, suffix } of opened) {
      if (started !== undefined) await makeTrouble({ url, adminToken });
      await page.goto(url + routing.path);
      await page.waitForLoadState('networkidle');
      await shoot(page, ROUTING + suffix);
    }
  }
} finally {
  await browser.close();
  await started?.stop();
  await upstream.stop();
}

/** All pages but the one of the routing. */
async function shootPages(page: Page, suffix: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel('Admin token').waitFor();
  await shoot(page, `sign-in${suffix}`);
  await page.getByLabel('Admin token').fill(adminToken);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  for (const { name, path } of PAGES) {
    if (name === ROUTING || !isWanted(name)) continue;
    await page.goto(url + path);
    await page.waitForLoadState('networkidle');
    await shoot(page, name + suffix);
  }
  if (!isWanted('request')) return;
  await page.goto(`${url}/requests?range=7d&cache=miss&status=success`);
  await page.locator('tbody tr[tabindex]').first().click();
  await page.getByText('Gateway overhead').waitFor();
  await shoot(page, `request${suffix}`);
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

/** Enough failures for one model's breaker to open. */
async function makeTrouble(gateway: { url: string; adminToken: string }): Promise<void> {
  const { apiKey } = await createTestKey(gateway);
  for (let index = 0; index < FAILURES; index++) {
    await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'gpt-4o',
        messages: [{ role: 'user', content: 'Hello' }],
        x_fake: { status: 500 },
      }),
    });
  }
}
