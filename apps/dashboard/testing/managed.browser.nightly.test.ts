// What configuration files manage is marked, and read-only until it is unlocked.
import { beforeAll, expect, test } from 'bun:test';
import { callAdmin } from '@llm0/testing/stores/start-gateway';
import type { Page } from 'playwright-core';
import { checkAccessibility } from './check-accessibility';
import { shareDashboard } from './share-dashboard';

let page: Page;
let problems: string[];

const dashboard = shareDashboard({ env: { EGRESS_ALLOW: '127.0.0.1' } });
beforeAll(async () => {
  ({ page, problems } = await dashboard.open());
}, 30_000);

const go = (path: string) => page.goto(dashboard.gateway.url + path);
const dialog = () => page.getByRole('dialog');
const button = (name: string | RegExp) => dialog().getByRole('button', { name });

/** Makes resources as an apply of a file does. */
async function apply<T>(name: string, work: (make: Make) => Promise<T>): Promise<T> {
  const { gateway } = dashboard;
  const lease = await callAdmin<{ id: string }>(gateway, '/applies', { body: { apply_name: name } });
  const headers = { 'x-llm0-apply': lease.id };
  const make: Make = (path, body, method = 'POST') => callAdmin(gateway, path, { method, body, headers });
  const made = await work(make);
  await callAdmin(gateway, `/applies/${lease.id}`, { method: 'DELETE' }).catch(() => {});
  return made;
}
type Make = (path: string, body: object, method?: string) => Promise<{ readonly id: string }>;

test('what a file manages is marked, says who changed it, and is read-only until it is unlocked', async () => {
  const { gateway } = dashboard;
  const lease = await callAdmin<{ id: string }>(gateway, '/applies', { body: { apply_name: 'prod' } });
  const headers = { 'x-llm0-apply': lease.id };
  const made = await callAdmin<{ id: string }>(gateway, '/projects', { body: { name: 'managed' }, headers });
  await callAdmin(gateway, `/projects/${made.id}/keys`, { body: { name: 'from-file' }, headers });
  await callAdmin(gateway, `/applies/${lease.id}`, { method: 'DELETE' }).catch(() => {});
  await callAdmin(gateway, `/projects/${made.id}`, { method: 'PATCH', body: { monthly_cap_usd: 6 } });
  await go(`/projects/${made.id}?tab=limits`);
  const note = page.getByRole('note').filter({ hasText: 'configuration file “prod”' }).first();
  await note.getByText('ADMIN_TOKEN changed it').waitFor();
  const save = page.getByRole('button', { name: 'Save settings' });
  expect(await save.isDisabled()).toBe(true);
  await note.getByRole('button', { name: 'Unlock' }).click();
  expect(await save.isDisabled()).toBe(false);
  await page.getByRole('tab', { name: 'Keys' }).click();
  await page.getByRole('cell', { name: 'from-file managed', exact: true }).click();
  await dialog().getByText('The next apply may undo a change').waitFor();
  expect(await button('Revoke').isDisabled()).toBe(true);
  expect(await checkAccessibility(page)).toEqual([]);
  await dialog().getByRole('button', { name: 'Unlock' }).click();
  expect(await button('Revoke').isDisabled()).toBe(false);
  expect(problems).toEqual([]);
});

test('bulk actions leave managed keys unchanged until they are unlocked', async () => {
  const { gateway } = dashboard;
  const project = await callAdmin<{ id: string }>(gateway, '/projects', { body: { name: 'bulk' } });
  const keys = `/projects/${project.id}/keys`;
  await apply('prod', async (make) => {
    for (const name of ['web', 'worker']) await make(keys, { name, rate_limit_per_minute: 5 });
  });
  await callAdmin(gateway, keys, { body: { name: 'own', rate_limit_per_minute: 5 } });
  const limits = async () => {
    const { data } = await callAdmin<{ data: { name: string; rate_limit_per_minute: number }[] }>(gateway, keys);
    return Object.fromEntries(data.map((key) => [key.name, key.rate_limit_per_minute]));
  };
  const choose = async (action: string, ...names: string[]) => {
    await go(`/projects/${project.id}?tab=keys`);
    for (const name of names) await page.getByRole('checkbox', { name: `Select ${name}` }).click();
    await page.getByRole('toolbar').getByRole('button', { name: action, exact: true }).click();
  };
  for (const action of ['Revoke', 'Set expiry', 'Set limits', 'Label']) {
    await choose(action, 'web', 'worker');
    await dialog().getByRole('note').getByText('2 of 2 keys are managed and stay unchanged').waitFor();
    await dialog().getByText('Managed by the configuration file “prod”').waitFor();
    expect(await dialog().locator('button[type=submit]').isDisabled()).toBe(true);
  }
  await choose('Set limits', 'web', 'worker', 'own');
  await button('Set the limits of 1 key').waitFor();
  expect(await checkAccessibility(page)).toEqual([]);
  await dialog().getByLabel('Requests per minute').fill('77');
  await button('Set the limits of 1 key').click();
  await dialog().waitFor({ state: 'hidden' });
  expect(await limits()).toEqual({ web: 5, worker: 5, own: 77 });
  // The locked ones stay selected.
  await page.getByText('2 selected').waitFor();
  await page.getByRole('toolbar').getByRole('button', { name: 'Set limits' }).click();
  await button('Unlock').click();
  await dialog().getByLabel('Requests per minute').fill('78');
  await button('Set the limits of 2 keys').click();
  await dialog().waitFor({ state: 'hidden' });
  expect(await limits()).toEqual({ web: 78, worker: 78, own: 77 });
  expect(problems).toEqual([]);
});

test("a provider's managed keys, and managed prices, are read-only in the dialogs around them", async () => {
  await callAdmin(dashboard.gateway, '/providers', { body: { name: 'mixed', base_url: 'http://127.0.0.1:9/v1' } });
  await apply('prod', async (make) => {
    await make('/providers/mixed/keys', { name: 'main', key: 'sk-managed-000001' });
    await make('/models?provider=mixed&model=m', { input_usd_per_million: 1, output_usd_per_million: 2 }, 'PUT');
  });
  await go('/routing?open=mixed');
  await dialog().getByText('This stored key is managed').waitFor();
  for (const name of ['Delete', 'Delete stored settings']) {
    expect(await dialog().getByRole('button', { name, exact: true }).isDisabled()).toBe(true);
  }
  await button('Unlock').click();
  expect(await dialog().getByRole('button', { name: 'Delete', exact: true }).isDisabled()).toBe(false);
  await go('/models');
  await page.getByRole('button', { name: 'Import prices' }).click();
  const map = { m: { litellm_provider: 'mixed', input_cost_per_token: 1e-6, output_cost_per_token: 9e-6 } };
  const file = { name: 'prices.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(map)) };
  await dialog().getByLabel('Price map').setInputFiles(file);
  await dialog().getByText('This price is managed').waitFor();
  await button('Set 0 prices').waitFor();
  await button('Unlock').click();
  await button('Set 1 prices').waitFor();
  await go('/models?open=new');
  await dialog().getByLabel('Provider').fill('mixed');
  await dialog().getByLabel('Model').fill('m');
  await dialog().getByLabel('Input, USD / 1M', { exact: true }).fill('7');
  await dialog().getByLabel('Output, USD / 1M', { exact: true }).fill('7');
  await button('Save price').click();
  await dialog().getByText('This model has a price').waitFor();
  expect(problems).toEqual([]);
});
