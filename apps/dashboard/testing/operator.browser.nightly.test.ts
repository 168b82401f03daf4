import { describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '@llm0/testing/stores/start-gateway';
import type { Page } from 'playwright-core';
import { checkAccessibility } from './check-accessibility';
import { requestDetail } from './dialogs';
import { settled } from './settled';
import { drained, shareDashboard } from './share-dashboard';

let project: { readonly id: string };
const dashboard = shareDashboard({
  env: { EGRESS_ALLOW: '127.0.0.1' },
  fill: async (gateway) => {
    project = await callAdmin<{ id: string }>(gateway, '/projects', { body: { name: 'operated' } });
  },
});
const signedIn = (path: string) => dashboard.open(path);
const projectPath = () => `/projects/${project.id}`;
const makeKey = (body: object) =>
  callAdmin<{ id: string; key: string }>(dashboard.gateway, `${projectPath()}/keys`, { body });
const focused = (page: Page) =>
  page.evaluate(() => {
    const active = document.activeElement;
    if (active instanceof HTMLInputElement || active instanceof HTMLSelectElement)
      return active.labels?.[0]?.textContent ?? active.ariaLabel ?? '';
    if (active === document.body || !(active instanceof HTMLElement)) return '';
    // biome-ignore lint/performance/useDomNodeTextContent: rows have texts that only a phone shows
    return active.innerText || active.ariaLabel || '';
  });

async function ask(key: string, model = 'demo-chat'): Promise<void> {
  const answer = await fetch(`${dashboard.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-llm0-cache': 'off' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await answer.text();
  await drained(dashboard.gateway);
}

/** Presses Tab until what has the focus reads so, round and round while the page loads. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (const startMs = performance.now(); performance.now() - startMs < 15_000; ) {
    const now = await focused(page);
    if (now.trim() === text) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab never came to ${text}`);
}

describe('a secret that is shown once', () => {
  test('stays through Escape, a click beside it and its X until it was copied', async () => {
    const { page, problems } = await signedIn(`${projectPath()}?tab=keys`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('shown once');
    await page.getByRole('button', { name: 'Create key' }).click();
    const secret = await page.locator('pre').first().textContent();
    await page.keyboard.press('Escape');
    await page.getByText('You have not copied it yet').waitFor();
    await page.mouse.click(5, 400);
    await page.getByRole('button', { name: 'Close' }).click();
    expect(await page.locator('pre').first().textContent()).toBe(secret);
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByText('Copied', { exact: true }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(secret ?? '');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused(page)).toContain('New key');
    expect(problems).toEqual([]);
  });
});

describe('by keyboard alone', () => {
  test.each(['Enter', 'Space'])(
    '%s on a row opens it and leaves it open; Escape goes back to the row',
    async (press) => {
      await makeKey({ name: `row ${press}` });
      const { page, problems } = await signedIn(`${projectPath()}?tab=keys`);
      await page.getByText(`row ${press}`).waitFor();
      await tabTo(page, `row ${press}`);
      await page.keyboard.press(press);
      await page.getByRole('dialog', { name: `row ${press}` }).waitFor();
      await page.waitForTimeout(100);
      expect(await page.getByRole('dialog').count()).toBe(1);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await focused(page)).toBe(`row ${press}`);
      expect(problems).toEqual([]);
    },
  );

  test('a project and a key are made, and the key is revoked', async () => {
    const { page, problems } = await signedIn('/projects');
    await tabTo(page, 'New project');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Name');
    await page.keyboard.type('typed');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'typed' }).waitFor();
    await tabTo(page, 'New key');
    await page.keyboard.press('Space');
    await page.getByRole('dialog', { name: 'New key' }).waitFor();
    await tabTo(page, 'Name');
    await page.keyboard.type('typed key');
    await page.keyboard.press('Enter');
    await page.getByText('cannot be shown again').waitFor();
    await tabTo(page, 'I have copied it');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'typed key', exact: true }).waitFor();
    await tabTo(page, 'typed key');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await tabTo(page, 'Revoke');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Revoke now');
    await page.keyboard.press('Enter');
    await page.getByText('Key revoked').waitFor();
    expect(problems).toEqual([]);
  });
});

describe('rows are links', () => {
  test('a request opens in a new tab; Back closes it and stays on the page', async () => {
    const { apiKey } = await createTestKey(dashboard.gateway);
    await ask(apiKey);
    const { page, problems } = await signedIn('/requests');
    const row = page.locator('tbody tr:has([data-row])').first();
    const link = await row.getByRole('link').getAttribute('href');
    expect(link).toContain('open=');
    const opening = page.context().waitForEvent('page');
    await row.locator('td').nth(2).click({ button: 'middle' });
    const tab = await opening;
    await tab.getByText('Gateway overhead').waitFor();
    expect(await requestDetail(page).count()).toBe(0);
    await row.locator('td').nth(2).click();
    await page.getByText('Gateway overhead').waitFor();
    await page.goBack();
    await requestDetail(page).waitFor({ state: 'detached' });
    expect(new URL(page.url()).pathname).toBe('/requests');
    await row.locator('td').nth(2).click();
    await page.getByRole('button', { name: 'Close' }).click();
    await requestDetail(page).waitFor({ state: 'detached' });
    expect(page.url()).not.toContain('open=');
    expect(problems).toEqual([]);
  });

  test.each([
    ['a project', () => '/projects', 'operated'],
    ['a key', () => `${projectPath()}?tab=keys`, 'row Enter'],
    ['a provider', () => '/routing', 'demo'],
    ['a model', () => '/models', 'demo-slow'],
  ])('%s has an address of its own', async (_, path, name) => {
    const { page, problems } = await signedIn(path());
    if (path() === '/models') await page.getByLabel('Find a model').fill(name);
    const href = await page.locator('tbody').getByRole('link', { name, exact: true }).getAttribute('href');
    await page.goto(dashboard.gateway.url + href);
    await page.getByRole('heading', { name }).first().waitFor();
    expect(problems).toEqual([]);
  });
});

describe('input is parsed as intended', () => {
  test('a key saved again and again keeps its expiry, to the millisecond', async () => {
    const expiresAt = '2031-01-02T03:04:05.678Z';
    const { id } = await makeKey({ name: 'ending', expires_at: expiresAt });
    const { page, problems } = await signedIn(`${projectPath()}?open=${id}`);
    // The browser is in Berlin.
    expect(await page.getByLabel('Expires').inputValue()).toBe('2031-01-02T04:04:05.678');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved. Changes apply').waitFor();
    const { data } = await callAdmin<{ data: { id: string; expires_at: string }[] }>(
      dashboard.gateway,
      `${projectPath()}/keys`,
    );
    expect(data.find((key) => key.id === id)?.expires_at).toBe(expiresAt);
    expect(problems).toEqual([]);
  });

  test('money with a lone comma is refused; what was understood is shown before it is saved', async () => {
    const { page, problems } = await signedIn(`${projectPath()}?tab=limits`);
    const cap = page.getByLabel('Monthly cap, USD');
    await cap.fill('1,50');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('is ambiguous: write 1500 or 1.50').waitFor();
    await cap.fill('1.5');
    await page.getByText('= $1.50 a month').waitFor();
    await page.getByRole('tab', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Budget, USD').fill('1,234.50');
    await dialog.getByText('= $1,234.50 in total').waitFor();
    await dialog.getByLabel('Budget period').selectOption('month');
    await dialog.getByText('= $1,234.50 a month').waitFor();
    expect(problems).toEqual([]);
  });

  test('an alert of another kind begins with the usual number of that kind', async () => {
    const { page, problems } = await signedIn('/alerts');
    await page.getByRole('button', { name: 'New alert' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('slow');
    expect(await dialog.getByLabel('Budget used, %').inputValue()).toBe('50');
    await dialog.getByLabel('When').selectOption('latency_p95');
    expect(await dialog.getByLabel('Latency, ms').inputValue()).toBe('10000');
    await dialog.getByLabel('Latency, ms').fill('800');
    await dialog.getByText('= p95 latency reaches 800 ms within 15 min').waitFor();
    await dialog.getByLabel('Webhook').fill('https://example.com/hook');
    await dialog.getByRole('button', { name: 'Create alert' }).click();
    await page.getByRole('cell', { name: 'p95 latency reaches 800 ms within 15 min' }).waitFor();
    expect(problems).toEqual([]);
  });
});

describe('deletes ask first', () => {
  const admin = (path: string, body: object) => callAdmin(dashboard.gateway, path, { body });
  const alert = { kind: 'budget_share', threshold: 0.8, webhook_url: 'https://example.com/hook' };
  const own = { name: 'mine', base_url: 'http://127.0.0.1:9/v1', key: 'sk-mine-1234' };
  const edit = async (page: Page, tab: string) => {
    await page.getByRole('tab', { name: tab }).click();
    await page.getByRole('button', { name: 'Edit' }).first().click();
  };
  test.each([
    {
      what: 'an alias',
      make: async () => {
        await admin('/aliases', { alias: 'gone', targets: [{ provider: 'demo', model: 'demo-chat' }] });
        await ask((await createTestKey(dashboard.gateway)).apiKey, 'gone');
      },
      path: '/routing',
      open: (page: Page) => edit(page, 'Aliases'),
      button: 'Delete',
      impact: '1 request in the last hour',
      confirm: 'Delete alias',
      done: 'Alias deleted',
    },
    {
      what: 'the key of a provider',
      make: async () => {
        await admin('/providers', own);
        await admin('/aliases', { alias: 'uses it', targets: [{ provider: 'mine', model: 'm' }] });
      },
      path: '/routing?open=mine',
      open: () => Promise.resolve(),
      button: 'Delete',
      impact: 'mine keeps 0 other stored keys. Used by 1 alias and 0 chains, 0 requests in the last 24 hours.',
      confirm: 'Delete key',
      done: 'Key deleted',
    },
    {
      what: 'a provider',
      make: () => Promise.resolve(),
      path: '/routing?open=mine',
      open: () => Promise.resolve(),
      button: 'Delete stored settings',
      impact: 'Used by 1 alias and 0 chains, 0 requests in the last 24 hours.',
      confirm: 'Delete provider',
      done: 'Stored settings deleted',
    },
    {
      what: 'an alert',
      make: () => admin('/alerts', { name: 'goes', ...alert }),
      path: '/alerts',
      open: (page: Page) => page.getByRole('link', { name: 'goes', exact: true }).click(),
      button: 'Delete',
      impact: 'It is not firing.',
      confirm: 'Delete alert',
      done: 'Alert deleted',
    },
  ])('$what', async ({ make, path, open, button, impact, confirm, done }) => {
    await make();
    const { page, problems } = await signedIn(path);
    await open(page);
    await page.getByRole('button', { name: button, exact: true }).click();
    await page.getByText(impact).last().waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: confirm }).waitFor({ state: 'detached' });
    expect(await page.getByText(done).count()).toBe(0);
    await page.getByRole('button', { name: button, exact: true }).click();
    await page.getByRole('button', { name: confirm }).click();
    await page.getByText(done).waitFor();
    expect(problems).toEqual([]);
  });
});

describe('smaller things', () => {
  test("API errors use the form's labels", async () => {
    const { page, problems } = await signedIn('/alerts');
    await page.getByRole('button', { name: 'New alert' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('x');
    await dialog.getByLabel('Webhook').fill('no address');
    await dialog.getByRole('button', { name: 'Create alert' }).click();
    await dialog.getByText('must be an http(s) URL').waitFor();
    expect(await dialog.textContent()).not.toContain('webhook_url');
    expect(problems.filter((problem) => !problem.includes('status of 400'))).toEqual([]);
  });

  test('demo is in Routing while it runs; a key is typed unseen; an alias to nowhere is refused', async () => {
    const { page, problems } = await signedIn('/routing');
    await page.getByRole('link', { name: 'demo', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Add provider' }).click();
    expect(await page.getByRole('dialog').getByLabel('Key').getAttribute('type')).toBe('password');
    await page.keyboard.press('Escape');
    await page.getByRole('tab', { name: 'Aliases' }).click();
    await page.getByRole('button', { name: 'New alias' }).click();
    await page.getByLabel('Alias', { exact: true }).fill('typo');
    await page.getByLabel('Provider of target 1').fill('opnai/gpt-4o');
    await page.getByRole('button', { name: 'Create alias' }).click();
    await page.getByText('Row 1: there is no provider "opnai". Did you mean "openai"?').waitFor();
    await page.getByLabel('Provider of target 1').fill('openaii');
    await page.getByRole('button', { name: 'Create alias' }).click();
    await page.getByText('Row 1: there is no provider "openaii". Did you mean "openai"?').waitFor();
    expect(problems).toEqual([]);
  });

  test('the dialog of a session that has ended offers no way out but signing in', async () => {
    const { page, problems } = await signedIn('/projects');
    await page.getByRole('link', { name: 'Models' }).waitFor();
    // What the page still asks would end the session before the click.
    await settled(page);
    await page.context().clearCookies();
    await page.getByRole('link', { name: 'Models' }).click();
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    expect(await page.getByRole('button', { name: 'Close' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    expect(await page.getByRole('dialog').count()).toBe(1);
    expect(problems).toEqual([]);
  });
});

describe('a project in tabs', () => {
  const makeProject = (name: string) => callAdmin<{ id: string }>(dashboard.gateway, '/projects', { body: { name } });

  test('arrows move between them, the address has the tab, and input stays while one looks at another', async () => {
    const { id } = await makeProject('in tabs');
    const { page, problems } = await signedIn(`/projects/${id}`);
    const tab = (name: string) => page.getByRole('tab', { name, exact: true });
    await page.getByRole('heading', { name: 'Spend by model' }).waitFor();
    await tab('Usage').focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForURL(/tab=keys/);
    await page.getByText('No keys').waitFor();
    await page.keyboard.press('ArrowRight');
    await page.waitForURL(/tab=limits/);
    await page.getByLabel('Monthly cap, USD').fill('12');
    await tab('Caching').click();
    await page.getByLabel('Cache lifetime, seconds').fill('90');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Saved. Changes apply').waitFor();
    await tab('Limits').click();
    expect(await page.getByLabel('Monthly cap, USD').inputValue()).toBe('12');
    type Saved = { cache_ttl_seconds: number; monthly_cap_usd: number | null };
    const saved = await callAdmin<Saved>(dashboard.gateway, `/projects/${id}`);
    expect([saved.cache_ttl_seconds, saved.monthly_cap_usd]).toEqual([90, null]);
    await tab('Guardrails').click();
    await page.getByText('No rules yet').waitFor();
    // A ring is for keys: a pressed tab has its underline alone.
    const ring = () => page.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outlineStyle);
    expect([await tab('Guardrails').evaluate((one) => one === document.activeElement), await ring()]).toEqual([
      true,
      'none',
    ]);
    await page.keyboard.press('ArrowLeft');
    expect(await ring()).toBe('solid');
    await page.keyboard.press('ArrowRight');
    await page.getByText('No rules yet').waitFor();
    expect(await checkAccessibility(page)).toEqual([]);
    await page.reload();
    await page.getByRole('tab', { name: 'Guardrails', selected: true }).waitFor();
    await page.getByRole('button', { name: 'Name and labels' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('renamed');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'renamed' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('it is stopped, started again and deleted, on the tab for that', async () => {
    const { id } = await makeProject('in danger');
    const { page, problems } = await signedIn(`/projects/${id}?tab=danger`);
    const isActive = async () =>
      (await callAdmin<{ is_active: boolean }>(dashboard.gateway, `/projects/${id}`)).is_active;
    const confirm = (name: string) => page.getByRole('dialog').getByRole('button', { name }).click();
    const off = page.getByText('off: its requests are refused');
    await page.getByRole('button', { name: 'Stop serving' }).click();
    await confirm('Stop serving');
    await off.waitFor();
    expect(await isActive()).toBe(false);
    await page.getByRole('button', { name: 'Serve requests' }).click();
    await off.waitFor({ state: 'detached' });
    expect(await isActive()).toBe(true);
    await page.getByRole('button', { name: 'Delete project' }).click();
    await confirm('Delete project');
    await page.getByText('Project deleted').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Projects & keys' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('a new key asks for name, limits and budget; "More" has the rest, and opens for an error', async () => {
    const { id } = await makeProject('with a key');
    const { page, problems } = await signedIn(`/projects/${id}?open=new`);
    const dialog = page.getByRole('dialog');
    const more = dialog.getByRole('button', { name: 'More', exact: true });
    await dialog.getByText('Budget, USD').waitFor();
    await page.keyboard.type('tagged');
    expect(await dialog.getByLabel('Name').inputValue()).toBe('tagged');
    expect(await dialog.getByLabel('Labels').count()).toBe(0);
    await more.click();
    await dialog.getByLabel('Labels').fill('team');
    await more.click();
    expect(await dialog.getByLabel('Labels').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByText('must be names and values').waitFor();
    await dialog.getByLabel('Labels').fill('team=search');
    expect(await checkAccessibility(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('cannot be shown again').waitFor();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    expect(page.url()).toContain('tab=keys');
    await page.getByRole('cell', { name: 'tagged team=search' }).click();
    expect(await dialog.getByLabel('Labels').inputValue()).toBe('team=search');
    expect(problems).toEqual([]);
  });
});
