import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { textTool } from '@llm0/testing/fake-upstream/start-mcp-server';
import { callAdmin, type GatewayProcess } from '@llm0/testing/stores/start-gateway';
import type { Page } from 'playwright-core';
import { checkAccessibility } from './check-accessibility';
import { DIALOGS, dialogPath, openedOne } from './dialogs';
import { fillTools } from './fill-tools';
import { PAGES } from './pages';
import { settled } from './settled';
import { drained, shareDashboard, visit } from './share-dashboard';

const WIDTHS = [390, 768, 1440, 1920];
/** As long as names may be, and with no place to break them. */
const LONG = 'n'.repeat(200);
const PROMPT = 'p'.repeat(2000);
/** Dialogs, and what stands beside a list. */
const OPENED = '[role=dialog], main section[aria-labelledby]';

let page: Page;
let problems: string[];
let projectId: string;

const SETTINGS = {
  LOG_BODIES: 'true',
  EGRESS_ALLOW: '127.0.0.1',
  ENCRYPTION_KEY: randomBytes(32).toString('base64'),
};
let servers: { stop(): Promise<void> } | undefined;

const dashboard = shareDashboard({ env: SETTINGS, fill });
afterAll(() => servers?.stop());
beforeAll(async () => {
  ({ page, problems } = await dashboard.open());
});

/** Everything that has a name, with the longest one. */
async function fill(gateway: GatewayProcess): Promise<void> {
  const admin = <T>(path: string, body: object, method = 'POST') => callAdmin<T>(gateway, path, { body, method });
  ({ id: projectId } = await admin<{ id: string }>('/projects', { name: LONG, monthly_cap_usd: '5' }));
  const { key } = await admin<{ key: string }>(`/projects/${projectId}/keys`, {
    ...{ name: LONG, budget_usd: '5', allowed_tools: ['*'] },
  });
  servers = await fillTools(gateway, { apiKey: key, more: [textTool(LONG.slice(0, 100), PROMPT)] });
  await admin('/aliases', { alias: LONG, targets: [{ provider: 'demo', model: LONG }] });
  await admin(`/chains/${LONG.slice(0, 60)}`, { targets: [{ provider: 'demo', model: LONG }] }, 'PUT');
  await admin(
    `/models?provider=demo&model=${LONG}`,
    { input_usd_per_million: '1', output_usd_per_million: '1' },
    'PUT',
  );
  await admin('/tokens', { name: LONG.slice(0, 100), role: 'viewer' });
  const alert = { kind: 'budget_share', threshold: 0.8, window_minutes: 15, webhook_url: 'https://example.com/hook' };
  await admin('/alerts', { name: LONG.slice(0, 100), ...alert });
  for (const model of ['demo-chat', LONG]) {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-customer-id': LONG,
        'x-llm0-team': LONG,
      },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: PROMPT }] }),
    });
    await answer.text();
  }
  await drained(gateway);
}

/** A page takes a moment to follow its window. */
const LOOKS = 20;
const BETWEEN_MS = 50;

/** What reaches beyond its window or its dialog, at every width: none when all is well. */
async function measure(name: string): Promise<string[]> {
  const found: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    let outside = await page.evaluate(lookOutside, OPENED);
    for (let look = 1; look < LOOKS && outside.length > 0; look++) {
      await page.waitForTimeout(BETWEEN_MS);
      outside = await page.evaluate(lookOutside, OPENED);
    }
    found.push(...outside.map((what) => `${name} at ${width}: ${what}`));
  }
  return found;
}

/** Runs in the page. */
function lookOutside(selector: string): string[] {
  // What only screen readers are told is a pixel wide.
  const wide = (element: Element) => (element.clientWidth > 1 ? element.scrollWidth - element.clientWidth : 0);
  const html = document.documentElement;
  const report = wide(html) > 0 ? [`the page by ${wide(html)} px`] : [];
  for (const table of html.clientWidth < 640 ? document.querySelectorAll('main table:not(.sr-only *)') : []) {
    const by = table.parentElement === null ? 0 : wide(table.parentElement);
    const caption = table.querySelector('caption')?.textContent ?? '';
    // A table of two things is as wide as there are things.
    if (by > 0 && !caption.includes('arrow keys')) report.push(`the table ${caption} by ${by} px`);
  }
  for (const dialog of document.querySelectorAll(selector)) {
    const box = dialog.getBoundingClientRect();
    if (box.left < -1 || box.right > html.clientWidth + 1) report.push('the dialog leaves the window');
    for (const part of [dialog, ...dialog.children]) if (wide(part) > 0) report.push(`a dialog by ${wide(part)} px`);
    for (const control of dialog.querySelectorAll('button, input, select, textarea')) {
      const { left, right } = control.getBoundingClientRect();
      const isOutside = left < box.left || right > box.right;
      if (isOutside && control.checkVisibility()) report.push(`${control.textContent || control.tagName} outside`);
    }
  }
  return report;
}

/** What axe finds in the open dialog, wide and narrow, light and dark. */
async function checkDialog(name: string): Promise<string[]> {
  const found: string[] = [];
  await settled(page);
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme });
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const problems = await checkAccessibility(page, OPENED);
      found.push(...problems.map((problem) => `${name} at ${width}, ${theme}: ${problem}`));
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  return found;
}

describe('nothing scrolls sideways, and axe finds nothing', () => {
  test('pages, with the longest names and bodies kept', async () => {
    const found: string[] = [];
    const project = { name: 'project', path: `/projects/${projectId}`, heading: LONG };
    for (const { name, path, heading } of [...PAGES, project]) {
      await visit(page, path);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      await settled(page);
      found.push(...(await measure(name)));
      for (const tab of await page.getByRole('tab').all()) {
        await tab.click();
        await settled(page);
        found.push(...(await measure(`${name}, ${await tab.textContent()}`)));
      }
    }
    expect(found).toEqual([]);
    expect(problems).toEqual([]);
  }, 120_000);

  test.each(DIALOGS.map((dialog) => [dialog.name, dialog] as const))('the dialog of: %s', async (name, dialog) => {
    const world = { page, projectId, row: { key: LONG, customer: LONG, model: LONG } };
    await page.setViewportSize({ width: 1440, height: 900 });
    await visit(page, dialogPath(dialog, world));
    await page.getByRole('heading', { level: 1 }).waitFor();
    await dialog.open(world);
    await openedOne(page).waitFor();
    expect(await measure(name)).toEqual([]);
    expect(await checkDialog(name)).toEqual([]);
  });
});

test('a phone shows in full when an alert fires, and its table scrolls nowhere', async () => {
  await page.setViewportSize({ width: 390, height: 900 });
  // What the dialog before left open stands over every page.
  await page.keyboard.press('Escape');
  await visit(page, '/alerts');
  await page.getByRole('cell', { name: /Budget use reache/ }).waitFor();
  const cut = await page.evaluate(() => {
    const table = document.querySelector('table');
    const heads = [...(table?.querySelectorAll('th') ?? [])].map((head) => head.textContent);
    const cells = table?.querySelectorAll(`tbody td:nth-child(${heads.indexOf('When') + 1})`) ?? [];
    const frame = table?.parentElement;
    return {
      cells: cells.length,
      cut: [...cells].filter((cell) => cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent),
      sideways: (frame?.scrollWidth ?? 0) - (frame?.clientWidth ?? 0),
    };
  });
  expect(cut).toEqual({ cells: 1, cut: [], sideways: 0 });
});
