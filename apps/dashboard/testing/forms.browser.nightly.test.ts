// Forms that guide, bulk actions and the command palette, in one browser with one sign-in.
import { beforeAll, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '@llm0/testing/stores/start-gateway';
import type { Page } from 'playwright-core';
import { checkAccessibility } from './check-accessibility';
import { drained, shareDashboard } from './share-dashboard';

let page: Page;
let problems: string[];
let projectId: string;
let apiKey: string;

const dashboard = shareDashboard({
  env: { EGRESS_ALLOW: '127.0.0.1' },
  fill: async (gateway) => {
    ({ projectId, apiKey } = await createTestKey(gateway, { key: { name: 'used' } }));
  },
});
beforeAll(async () => {
  ({ page, problems } = await dashboard.open());
}, 30_000);

const admin = (path: string, body?: object) =>
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever JSON came back
  callAdmin<any>(dashboard.gateway, path, body === undefined ? {} : { body });
const go = (path: string) => page.goto(dashboard.gateway.url + path);
const dialog = () => page.getByRole('dialog');
const button = (name: string | RegExp) => dialog().getByRole('button', { name });

test.each([
  ['/projects?open=new-project', 'Name'],
  ['/routing?tab=aliases&open=new', 'Alias'],
])('a dialog takes what is typed into its first field: %s', async (path, label) => {
  await go(path);
  const field = dialog().getByLabel(label, { exact: true }).first();
  await field.waitFor();
  await page.waitForFunction(() => document.activeElement?.closest('[data-body]') !== null);
  await page.keyboard.type('first');
  expect(await field.inputValue()).toBe('first');
  await page.keyboard.press('Escape');
  await dialog().getByText("Your changes aren't saved.").waitFor();
  await page.keyboard.press('Escape');
  await dialog().waitFor({ state: 'detached' });
});

test('an alias: providers and models from lists, shares that add up, rows moved by keyboard', async () => {
  await go('/routing?tab=aliases&open=new');
  await dialog().getByLabel('Alias').fill('smart');
  await dialog().getByLabel('Order of targets').selectOption('by share');
  await dialog().getByLabel('Provider of target 1').fill('opnai');
  await dialog().getByText('There is no provider "opnai".').waitFor();
  await dialog().getByLabel('Provider of target 1').fill('');
  await page.keyboard.type('demo');
  await page.getByRole('option', { name: 'demo' }).waitFor();
  await page.keyboard.press('Tab');
  const model = dialog().getByLabel('Model of target 1');
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Model of target 1');
  await model.fill('chat');
  await page.getByRole('option', { name: /demo-chat/ }).waitFor();
  expect(await model.getAttribute('aria-expanded')).toBe('true');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  expect([await model.inputValue(), await model.getAttribute('aria-expanded')]).toEqual(['demo-chat', 'false']);
  await model.fill('demo');
  // Escape closes the list, and only then the dialog.
  await page.keyboard.press('Escape');
  expect(await model.getAttribute('aria-expanded')).toBe('false');
  // Enter sends no half of a name.
  await model.fill('demo-c');
  await page.keyboard.press('Enter');
  expect([await model.getAttribute('aria-expanded'), await dialog().getByRole('alert').count()]).toEqual(['false', 0]);
  await model.fill('demo-chat');
  await button('Add target').click();
  await dialog().getByLabel('Provider of target 2').fill('openai/nobody-prices-this');
  await dialog().getByText('No price: where a cap applies').waitFor();
  await dialog().getByLabel('Share of target 1').fill('60');
  await dialog().getByLabel('Share of target 2').fill('30');
  await dialog().getByText('Total: 90 %, not 100 %').waitFor();
  await button('Create alias').click();
  await dialog().getByText('The shares add up to 90 %, not to 100 %').waitFor();
  await button('Scale to 100 %').click();
  await dialog().getByText('Tried first for 66.67 % of requests.').waitFor();
  await dialog().getByLabel('Share of target 1').press('Alt+ArrowDown');
  expect(await dialog().getByLabel('Model of target 2').inputValue()).toBe('demo-chat');
  await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Share of target 2, %');
  expect(await checkAccessibility(page)).toEqual([]);
  await button('Create alias').click();
  await page.getByText('Alias saved').waitFor();
  const [alias] = (await admin('/aliases')).data;
  expect(alias.targets.map((one: { model: string; weight: number }) => [one.model, one.weight])).toEqual([
    ['nobody-prices-this', 3333],
    ['demo-chat', 6667],
  ]);
  await go(`/routing?tab=aliases&open=${alias.id}`);
  expect(await dialog().getByLabel('Model of target 2').inputValue()).toBe('demo-chat');
});

test('an alert says what it would have done over the last week', async () => {
  for (let sent = 0; sent < 6; sent++) {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: `Hello ${sent}` }] });
    await fetch(`${dashboard.gateway.url}/v1/chat/completions`, { method: 'POST', headers, body });
  }
  await drained(dashboard.gateway);
  await go('/alerts?open=new');
  await dialog().getByLabel('When').selectOption('Spend reaches');
  // The usual threshold of its kind.
  await dialog().getByText('= Spend reaches').waitFor();
  await dialog().getByLabel('Spend, USD').fill('');
  await dialog().getByText('Complete the condition').waitFor();
  await dialog().getByLabel('Spend, USD').fill('1000');
  await dialog().getByText('it would not have fired: ').waitFor();
  await dialog().getByLabel('Time window, minutes').fill('-3');
  await button('Create alert').click();
  await dialog().getByLabel('Name').fill('much');
  await dialog().getByLabel('Webhook').fill('https://hooks.example.test/');
  await button('Create alert').click();
  await dialog().getByText('must be 1 or more').waitFor();
  await page.keyboard.press('Escape');
});

test('an alert for PagerDuty has a key that nobody sees again, and is muted until a time', async () => {
  await go('/alerts?open=new');
  await dialog().getByLabel('Name').fill('burns');
  await dialog().getByLabel('When').selectOption('The error budget burns');
  await dialog().getByLabel('Burn rate').fill('14.4');
  await dialog().getByLabel('Objective, % that succeed').fill('99.9');
  await dialog().getByText('it would not have fired: ').waitFor();
  await dialog().getByLabel('When').selectOption('A provider is down for');
  await dialog().getByLabel('Down for, minutes').fill('2');
  await dialog().getByText('= A provider is down for 2 min').waitFor();
  expect(await dialog().getByLabel('Project').count()).toBe(0);
  await dialog().getByLabel('Sent to').selectOption('PagerDuty');
  await dialog().getByLabel('Webhook').fill('https://events.pagerduty.com/v2/enqueue');
  await dialog().getByLabel('Integration key').fill('R0123456789ABCDEF');
  await dialog().getByLabel('Muted until').fill('2099-01-01T00:00');
  await button('Create alert').click();
  const row = page.getByRole('row', { name: /burns/ });
  await row.getByText('muted', { exact: true }).waitFor();
  await row.getByRole('cell', { name: 'A provider is down for 2 min' }).waitFor();
  await row.click();
  await dialog().getByText('Has not fired in the last 90 days.').waitFor();
  expect(await dialog().getByLabel('Integration key').inputValue()).toBe('');
  await dialog().getByLabel('Muted until').fill('');
  await button('Save alert').click();
  await row.getByText(/^(not checked yet|quiet)$/).waitFor();
  const [alert] = (await admin('/alerts')).data;
  expect(alert).toMatchObject({ kind: 'provider_down', threshold: 2, has_routing_key: true, muted_until: null });
  await row.click();
  await button('Delete').waitFor();
  // As if the list came before the answer to the deletion.
  await callAdmin(dashboard.gateway, `/alerts/${alert.id}`, { method: 'DELETE' });
  await row.waitFor({ state: 'detached' });
  await page.waitForURL((url) => !url.searchParams.has('open'));
  expect(await page.getByText('No such alert').count()).toBe(0);
});

test('a customer has limits before its first request', async () => {
  await go('/customers?open=new');
  await dialog().getByLabel('Project').selectOption(projectId);
  await dialog().getByLabel('Customer ID').fill('acme/1');
  await dialog().getByLabel('Per day, USD').fill('2.5');
  await button('Set limits').click();
  await page.getByText('Limits saved. They apply from the first request.').waitFor();
  const limits = await admin(`/projects/${projectId}/customers/acme%2F1/limits`);
  expect(limits.daily_spend_limit_usd).toBe(2.5);
  await go('/customers?open=new');
  await dialog().getByLabel('Project').selectOption(projectId);
  await dialog().getByLabel('Customer ID').fill('acme/1');
  await button('Set limits').click();
  await dialog().getByText('already has limits').waitFor();
});

test("a provider's address is changed in place, its keys stay; demo takes none", async () => {
  await admin('/providers', { name: 'mine', base_url: 'http://127.0.0.1:9/v1', key: 'sk-0123456789' });
  await go('/routing?open=mine');
  await dialog().getByLabel('Base URL').fill('http://127.0.0.1:10/v1');
  await button('Save settings').click();
  await page.getByText('Saved. Changes apply from the next request.').waitFor();
  const { base_url: url, keys } = await admin('/providers/mine');
  expect([url, keys.length]).toEqual(['http://127.0.0.1:10/v1', 1]);
  await button('Test connection').waitFor();
  await dialog().getByLabel('Add another key').waitFor();
  await go('/routing?open=demo');
  await dialog().getByText('It needs no base URL and no key').waitFor();
  expect(await dialog().getByRole('textbox').count()).toBe(0);
});

test('keys are labelled and revoked together; what fails is told by key; last use is shown', async () => {
  const others = await Promise.all(['key a', 'key b'].map((name) => admin(`/projects/${projectId}/keys`, { name })));
  await go(`/projects/${projectId}?tab=keys`);
  await page
    .getByRole('row', { name: /used/ })
    .getByText(/ago|now/)
    .last()
    .waitFor();
  await page.getByRole('row', { name: /key a/ }).getByText('never', { exact: true }).waitFor();
  for (const name of ['key a', 'key b']) await page.getByLabel(`Select ${name}`).check();
  await page.getByRole('toolbar').getByRole('button', { name: 'Label' }).click();
  await dialog().getByLabel('Set labels').fill('env=batch, team=team a');
  await button('Label 2 keys').click();
  await page.getByText('Updated 2 keys').waitFor();
  const labelled = (await admin('/keys?q=team%20a')).data.map(({ name }: { name: string }) => name);
  expect(labelled.sort()).toEqual(['key a', 'key b']);
  for (const name of ['key a', 'key b']) await page.getByLabel(`Select ${name}`).check();
  await page.getByRole('toolbar').getByRole('button', { name: 'Revoke' }).click();
  await dialog().getByText('These 2 keys served 0 requests in the last hour.').waitFor();
  expect(await checkAccessibility(page)).toEqual([]);
  await fetch(`${dashboard.gateway.url}/admin/v1/projects/${projectId}/keys/${others[0].id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${dashboard.gateway.adminToken}` },
  });
  await button('Revoke 2 keys').click();
  await dialog().getByText('There is no such key.').waitFor();
  await dialog().getByText('done', { exact: true }).waitFor();
  await button('Retry 1 key').waitFor();
  await page.keyboard.press('Escape');
});

test('the palette goes anywhere by keyboard, recent first, and by a button on a phone', async () => {
  await go('/');
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('Control+k');
  // At once, and before it has loaded.
  await page.keyboard.type('new key');
  const field = page.getByRole('combobox', { name: /^Page, project/ });
  await page.waitForFunction(() => (document.activeElement as HTMLInputElement | null)?.value === 'new key');
  await page
    .getByRole('option', { name: /New key/ })
    .first()
    .waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'New key' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  expect(await page.getByRole('option').first().textContent()).toContain('New key');
  await field.fill('acme');
  await page.getByRole('option', { name: /acme\/1/ }).click();
  await page.getByRole('heading', { name: 'acme/1' }).waitFor();
  await page.keyboard.press('Escape');
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await field.fill('theme');
  expect(await checkAccessibility(page)).toEqual([]);
  await page.keyboard.press('Enter');
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
  await page.setViewportSize({ width: 1280, height: 800 });
});

test('a linked row is found beyond the first page, or reported as gone', async () => {
  await go(`/projects/${projectId}?open=${crypto.randomUUID()}`);
  await page.getByRole('heading', { name: 'No such key' }).waitFor();
  await go('/models?open=openai%20nobody');
  await page.getByRole('heading', { name: 'No such model' }).waitFor();
});

test('a copy works without the clipboard of secure pages, and says what to do where it does not', async () => {
  await go(`/projects/${projectId}?open=new`);
  await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true }));
  await dialog().getByLabel('Name').fill('copied');
  await button('Create key').click();
  await dialog().getByText('cannot be shown again').waitFor();
  await page.evaluate(() => {
    document.execCommand = () => false;
  });
  await button('Copy').first().click();
  await dialog().getByText('Select the text and press').waitFor();
  await page.evaluate(() => {
    document.execCommand = (name) => {
      document.title = `${name} ${String(getSelection())}`;
      return true;
    };
  });
  await button('Copy').first().click();
  await dialog().getByRole('button', { name: 'Copied', exact: true }).waitFor();
  expect(await page.title()).toMatch(/^copy llm0_live_[0-9a-f]{64}$/);
  expect(problems).toEqual([]);
});
