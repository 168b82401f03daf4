// `bun run screenshots`: a gateway of its own with made-up data, every page in four shapes (wide and on a phone, light and dark)
// and every dialog. Names select pages and dialogs. LLM0_URL and ADMIN_TOKEN name a gateway that runs already.
import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startFakeUpstream } from '@llm0/testing/fake-upstream/start-fake-upstream';
import { callAdmin, createTestKey, startGateway } from '@llm0/testing/stores/start-gateway';
import type { Page } from 'playwright-core';
import { ensureDashboard } from '../../gateway/bin/ensure-dashboard';
import { DIALOGS, type DialogWorld, dialogPath, openedOne } from './dialogs';
import { fillDemo } from './fill-demo';
import { fillTools } from './fill-tools';
import { openBrowser } from './open-browser';
import { PAGES } from './pages';

const SHAPES = [
  { suffix: '', width: 1440, height: 900, theme: 'light' },
  { suffix: '-dark', width: 1440, height: 900, theme: 'dark' },
  { suffix: '-phone', width: 390, height: 844, theme: 'light' },
  { suffix: '-phone-dark', width: 390, height: 844, theme: 'dark' },
] as const;
const PROJECT_TABS = ['', 'keys', 'limits', 'caching'].map((tab) => ({
  name: tab === '' ? 'project' : `project-${tab}`,
  path: `/projects/{project}?range=14d${tab === '' ? '' : `&tab=${tab}`}`,
}));
const SETTLE_MS = 700;
/** Small enough to be kept beside the documentation. */
const QUALITY = 80;
const ROUTING = 'routing';
const FAILURES = 8;
/** Shown with the pages: dialogs are shot light and wide alone, these in every shape. */
const IN_EVERY_SHAPE = ['request', 'palette'];
/** It would take a key or price away from the other shapes. */
const ONCE = ['shown-once'];

const out = join(import.meta.dir, '../../../docs/screenshots');
await mkdir(out, { recursive: true });
const only = process.argv.slice(2);
const isWanted = (name: string) => only.length === 0 || only.includes(name);

if (!(await ensureDashboard())) throw new Error('the dashboard could not be built');
const given = process.env.LLM0_URL;
const upstream = startFakeUpstream();
/** A vendor that is down: the story's provider. */
const down = Bun.serve({ port: 0, fetch: () => Response.json({ error: { message: 'down' } }, { status: 500 }) });
const started =
  given === undefined
    ? await startGateway({
        env: {
          DEMO_PROVIDER: 'on',
          EGRESS_ALLOW: '127.0.0.1',
          LOG_BODIES: 'true',
          ENCRYPTION_KEY: randomBytes(32).toString('base64'),
          OPENAI_API_KEY: 'fake',
          OPENAI_BASE_URL: `${down.url.origin}/v1`,
          ANTHROPIC_API_KEY: 'fake',
          ANTHROPIC_BASE_URL: upstream.url,
        },
      })
    : undefined;
const url = started?.url ?? given ?? '';
const adminToken = started?.adminToken ?? process.env.ADMIN_TOKEN ?? '';
const browser = openBrowser();
let servers: { stop(): Promise<void> } | undefined;
try {
  if (started !== undefined) servers = await fill({ url, adminToken });
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
      // What an operator sees first while it lasts.
      await page.goto(`${url}/?range=24h`);
      await page.getByText(/paused since/).waitFor();
      await shoot(page, `overview-trouble${suffix}`);
    }
  }
} finally {
  await browser.close();
  await servers?.stop();
  await started?.stop();
  await Promise.all([upstream.stop(), down.stop(true)]);
}
// The browser would hold this process open.
process.exit();

/** All pages but the one of the routing. */
async function shootPages(page: Page, suffix: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel('Admin token').waitFor();
  await shoot(page, `sign-in${suffix}`);
  await page.getByLabel('Admin token').fill(adminToken);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  const shown = await shownRows();
  for (const { name, path } of [...PAGES, ...PROJECT_TABS]) {
    if (name === ROUTING || !isWanted(name)) continue;
    // All projects together have no guardrails.
    const guarded = name.startsWith('guardrail') ? `&project=${shown.guardedId}` : '';
    await page.goto(url + path.replace('{project}', shown.projectId) + guarded);
    await page.waitForLoadState('networkidle');
    await shoot(page, name + suffix);
  }
  const world: DialogWorld = { page, ...shown };
  for (const dialog of DIALOGS) {
    const isShot = suffix === '' || IN_EVERY_SHAPE.includes(dialog.name);
    if (!isShot || !isWanted(dialog.name) || (ONCE.includes(dialog.name) && given !== undefined)) continue;
    await page.goto(url + dialogPath(dialog, world));
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForLoadState('domcontentloaded');
    await dialog.open(world);
    await openedOne(page).waitFor();
    await shoot(page, `dialog-${dialog.name}${suffix}`);
  }
}

/** Whose rows are opened: those of the project that is near its cap. */
async function shownRows(): Promise<Omit<DialogWorld, 'page'> & { readonly guardedId: string }> {
  const { data } = await callAdmin<{ data: { id: string; name: string }[] }>({ url, adminToken }, '/projects');
  const idOf = (wanted: string) => data.find(({ name }) => name === wanted)?.id ?? data[0]?.id ?? '';
  return {
    projectId: idOf('Support triage'),
    guardedId: idOf('Agents'),
    row: { key: 'batch', customer: 'acme', model: 'claude-sonnet-4-5' },
  };
}

async function shoot(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(SETTLE_MS);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  await session.detach();
  await Bun.write(join(out, `${name}.webp`), Buffer.from(data, 'base64'));
}

/** Two months of traffic, drained, and one of everything that has a dialog. */
async function fill(gateway: { url: string; adminToken: string }): Promise<{ stop(): Promise<void> }> {
  await callAdmin(gateway, '/demo-data', { body: { days: 60, requests_a_day: 600 } });
  const targets = [
    { provider: 'openai', model: 'gpt-4o-mini', weight: 3 },
    { provider: 'anthropic', model: 'claude-haiku-4-5', weight: 1 },
  ];
  await callAdmin(gateway, '/aliases', { body: { alias: 'fast', strategy: 'weighted', targets } });
  const fallback = targets.map(({ provider, model }) => ({ provider, model }));
  await callAdmin(gateway, '/chains/gpt-4o-mini', { method: 'PUT', body: { targets: fallback } });
  const others = [
    { provider: 'openai', model: 'gpt-4o' },
    { provider: 'anthropic', model: 'claude-sonnet-4-5' },
  ];
  await callAdmin(gateway, '/chains/gpt-4o', { method: 'PUT', body: { targets: others } });
  await callAdmin(gateway, '/tokens', { body: { name: 'grafana', role: 'viewer' } });
  const agents = { project: { name: 'Agents' }, key: { name: 'night shift', allowed_tools: ['*'], code_mode: true } };
  const agent = await createTestKey(gateway, agents);
  const servers = await fillTools(gateway, agent);
  await fillDemo(gateway, { ...agent, backendUrl: upstream.url });
  const { token } = await callAdmin<{ token: string }>(gateway, '/tokens', { body: { name: 'Anna', role: 'admin' } });
  for (const monthly_cap_usd of [100, 200]) {
    const body = { method: 'PATCH', body: { monthly_cap_usd } } as const;
    await callAdmin({ ...gateway, adminToken: token }, `/projects/${agent.projectId}`, body);
  }
  for (;;) {
    const { queue_depth: depth } = await callAdmin<{ queue_depth: number }>(gateway, '/reconcile');
    if (depth === 0) return servers;
    await Bun.sleep(200);
  }
}

/** Enough failures for one model's breaker to open; others answer. */
async function makeTrouble(gateway: { url: string; adminToken: string }): Promise<void> {
  const { apiKey } = await createTestKey(gateway);
  for (let index = 0; index < FAILURES; index++) {
    await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'gpt-4o',
        messages: [{ role: 'user', content: `Hello ${index}` }],
      }),
    });
  }
}
