import { afterAll, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { logRow } from '@llm0/testing/e2e/environment';
import { CLIENT, type FakeIssuer, startFakeIssuer } from '@llm0/testing/sign-on/fake-issuer';
import { callAdmin, type GatewayProcess } from '@llm0/testing/stores/start-gateway';
import type { Page } from 'playwright-core';
import { shareDashboard } from './share-dashboard';

let issuer: FakeIssuer;
let teamId: string;
const GROUP = 'engineers';

async function addProvider(gateway: GatewayProcess): Promise<void> {
  issuer = await startFakeIssuer({ redirectUris: [`${gateway.url}/auth/callback`] });
  const add = <T>(path: string, body: object) => callAdmin<T>(gateway, path, { body });
  teamId = (await add<{ id: string }>('/teams', { name: 'Search' })).id;
  await add('/projects', { name: 'search-api', team_id: teamId });
  await add('/projects', { name: 'of-nobody-here' });
  await add('/identity-providers', {
    ...{ name: 'Acme', issuer: issuer.issuer, client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret },
    group_roles: [{ group: GROUP, team_id: teamId, role: 'team_admin' }],
  });
}

const dashboard = shareDashboard({
  env: { EGRESS_ALLOW: '127.0.0.1', ENCRYPTION_KEY: randomBytes(32).toString('base64') },
  fill: addProvider,
});
afterAll(() => issuer.close());

/** For looking at: SHOTS names a folder. */
async function shoot(page: Page, name: string): Promise<void> {
  if (process.env.SHOTS === undefined) return;
  await page.waitForTimeout(1500);
  for (const [width, height] of [
    [1440, 900],
    [390, 844],
  ] as const) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height });
      await page.evaluate((theme) => document.documentElement.setAttribute('data-theme', theme), colorScheme);
      await page.screenshot({ path: `${process.env.SHOTS}/${name}-${width}-${colorScheme}.png` });
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

test('a person signs in with a provider, sees the own team alone, and signs out', async () => {
  const { page } = await dashboard.open('/');
  await page.context().clearCookies();
  await page.goto(`${dashboard.gateway.url}/projects?sign_in=unreachable&provider=Acme`);
  await page.getByText("Acme can't be reached.").waitFor();
  const button = page.getByRole('link', { name: 'Sign in with Acme' });
  await button.waitFor();
  await shoot(page, 'sign-in');
  issuer.person = { sub: 'ann', email: 'ann@example.com', email_verified: true, name: 'Ann Example', groups: [GROUP] };
  await button.click();
  await page.getByText('search-api').first().waitFor();
  expect(new URL(page.url()).pathname).toBe('/projects');
  expect(await page.getByText('of-nobody-here').count()).toBe(0);
  const menu = page.getByRole('navigation', { name: 'Pages' });
  expect(await menu.getByRole('link', { name: 'Access & system' }).count()).toBe(0);
  await page.getByText('Ann Example').waitFor();
  await shoot(page, 'projects');
  await menu.getByRole('link', { name: 'Overview' }).click();
  await shoot(page, 'overview');
  await menu.getByRole('link', { name: 'Requests' }).click();
  await shoot(page, 'requests');
  await menu.getByRole('link', { name: 'Playground' }).click();
  await shoot(page, 'playground');
  await menu.getByRole('link', { name: 'Teams & people' }).click();
  await page.getByRole('cell', { name: 'Search' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('cell', { name: 'ann@example.com' }).waitFor();
  await shoot(page, 'team');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Sign out' }).click();
  // The issuer ends its own session, on its own page.
  await page.waitForURL((url) => url.href.startsWith(issuer.issuer));
  await page.goto(`${dashboard.gateway.url}/`);
  await page.getByRole('link', { name: 'Sign in with Acme' }).waitFor();
});

test('a newcomer without a team is told to ask for one, and lands on the first page of the role', async () => {
  const { page } = await dashboard.open('/');
  await page.context().clearCookies();
  await page.goto(`${dashboard.gateway.url}/`);
  issuer.person = { sub: 'new', email: 'new@example.com', email_verified: true, name: 'New', groups: [] };
  await page.getByRole('link', { name: 'Sign in with Acme' }).click();
  await page.getByText('You belong to no team yet').waitFor();
  await shoot(page, 'no-team');
  const { data } = await callAdmin<{ data: { id: string }[] }>(dashboard.gateway, '/users?q=new@example.com');
  const body = { user_id: data[0]?.id, role: 'billing' };
  await callAdmin(dashboard.gateway, `/teams/${teamId}/members`, { body });
  await page.goto(`${dashboard.gateway.url}/`);
  await page.waitForURL((url) => url.pathname === '/money');
  await page.getByRole('heading', { level: 1 }).waitFor();
  const menu = page.getByRole('navigation', { name: 'Pages' });
  await menu.getByRole('link', { name: 'Customers' }).waitFor();
  await page.waitForLoadState('networkidle');
  await shoot(page, 'billing');
  expect(await page.getByText("Your role doesn't permit this").count()).toBe(0);
  expect(await menu.getByRole('link', { name: 'Overview' }).count()).toBe(0);
  await page.goto(`${dashboard.gateway.url}/requests`);
  await page.getByText("Your role doesn't include this page").waitFor();
});

test('llm0 login gets a key from the page; My keys shows it with what it spends', async () => {
  const { page } = await dashboard.open('/');
  await page.context().clearCookies();
  const asked = Promise.withResolvers<URLSearchParams>();
  await using listener = Bun.serve({
    ...{ hostname: '127.0.0.1', port: 0 },
    fetch: async (request) => {
      asked.resolve(new URLSearchParams(await request.text()));
      return new Response('You can close this page.');
    },
  });
  const state = crypto.randomUUID();
  issuer.person = { sub: 'ann', email: 'ann@example.com', email_verified: true, name: 'Ann Example', groups: [GROUP] };
  await page.goto(`${dashboard.gateway.url}/connect?port=${listener.port}&state=${state}&days=2`);
  await page.getByRole('link', { name: 'Sign in with Acme' }).click();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByText('You can close this page.').waitFor();
  const given = Object.fromEntries(await asked.promise);
  expect(given).toMatchObject({ state, project: 'search-api', url: dashboard.gateway.url, waits: 'false' });
  expect(given.key).toStartWith('llm0_live_');
  const ask = { model: 'demo-chat', messages: [{ role: 'user', content: 'hi' }] };
  const answer = await fetch(`${given.url}/v1/chat/completions`, {
    ...{ method: 'POST', body: JSON.stringify(ask) },
    headers: { authorization: `Bearer ${given.key}`, 'content-type': 'application/json' },
  });
  expect(answer.status).toBe(200);
  await logRow(dashboard.gateway, answer.headers.get('x-request-id') ?? '');
  await page.goto(`${dashboard.gateway.url}/me`);
  const newest = page.getByRole('table', { name: 'The newest requests of your keys' });
  await newest.getByText('demo-chat').waitFor();
  await page.getByText(/^Your keys: /).waitFor();
  await shoot(page, 'my-keys');
  await page.getByRole('link', { name: 'All of your requests' }).click();
  await page.waitForURL((url) => url.pathname === '/requests' && url.searchParams.has('api_key_id'));
});

test('an admin token has no keys of its own, and is told where those of projects are', async () => {
  const { page } = await dashboard.open('/me');
  await page.getByText('You signed in with an admin token').waitFor();
  await page.getByRole('main').getByRole('link', { name: 'Projects & keys' }).click();
  await page.waitForURL((url) => url.pathname === '/projects');
});

test('an admin adds a user and gives a role; without JavaScript errors', async () => {
  const { page, problems } = await dashboard.open('/teams?tab=users');
  await page.getByRole('button', { name: 'Add user' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Bob');
  await dialog.getByLabel('Address').fill('bob@example.com');
  await dialog.getByRole('button', { name: 'Add user' }).click();
  await page.getByRole('cell', { name: 'bob@example.com' }).waitFor();
  await shoot(page, 'users');
  await page.getByRole('tab', { name: 'Organizations' }).click();
  await page.getByRole('button', { name: 'New organization' }).click();
  await dialog.getByLabel('Name').fill('Europe');
  await dialog.getByLabel('Requests per minute').fill('600');
  await dialog.getByRole('button', { name: 'Create organization' }).click();
  await page.getByRole('cell', { name: '600 requests a minute' }).waitFor();
  await shoot(page, 'organizations');
  await page.getByRole('tab', { name: 'Sign-on' }).click();
  await page.getByRole('cell', { name: 'Acme', exact: true }).click();
  await dialog.getByRole('button', { name: 'Add group' }).click();
  await dialog.getByLabel('Group 2', { exact: true }).fill('designers');
  await dialog.getByLabel('Team of group 2').fill('sear');
  await page.getByRole('option', { name: 'Search' }).click();
  await dialog.getByLabel('Role of group 2').selectOption('viewer');
  await shoot(page, 'identity-provider');
  await dialog.getByRole('button', { name: 'Save provider' }).click();
  await dialog.waitFor({ state: 'detached' });
  type Providers = { data: { name: string; group_roles: object[] }[] };
  const providers = await callAdmin<Providers>(dashboard.gateway, '/identity-providers');
  expect(providers.data.find(({ name }) => name === 'Acme')?.group_roles).toContainEqual({
    ...{ group: 'designers', team_id: teamId, role: 'viewer' },
  });
  await shoot(page, 'sign-on');
  await page.getByRole('tab', { name: 'Teams' }).click();
  await page.getByRole('cell', { name: 'Search' }).click();
  await page.getByRole('combobox', { name: 'User' }).fill('bob@');
  await page.getByRole('option', { name: 'Bob' }).click();
  await page.getByRole('combobox', { name: 'Role' }).selectOption('viewer');
  await page.getByRole('button', { name: 'Save member' }).click();
  await page.getByRole('dialog').getByRole('cell', { name: 'Bob', exact: true }).waitFor();
  await shoot(page, 'members');
  await dialog.getByLabel('Budget per day, USD').fill('2.5');
  await dialog.getByRole('button', { name: 'Save team' }).click();
  await page.getByRole('cell', { name: '$2.50 a day' }).waitFor();
  await page.getByRole('tab', { name: 'Users' }).click();
  await page.getByRole('cell', { name: 'bob@example.com' }).click();
  await dialog.getByLabel('Monthly cap, USD').fill('20');
  await dialog.getByRole('button', { name: 'Save user' }).click();
  await page.getByRole('cell', { name: '$20.00 a month' }).waitFor();
  const { data } = await callAdmin<{ data: { role: string; email: string }[] }>(
    dashboard.gateway,
    `/teams/${teamId}/members`,
  );
  expect(data).toContainEqual(expect.objectContaining({ email: 'bob@example.com', role: 'viewer' }));
  expect(problems).toEqual([]);
});

/** Signs in as somebody, on a page that knows nobody. */
async function signInAs(page: Page, sub: string, more: object = {}): Promise<void> {
  issuer.person = { sub, email: `${sub}@example.com`, email_verified: true, name: sub, ...more };
  await page.context().clearCookies();
  await page.goto(`${dashboard.gateway.url}/projects`);
  await page.getByRole('link', { name: 'Sign in with Acme' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}

test('a person deletes a project only after a new sign-in', async () => {
  const body = { name: 'short-lived', team_id: teamId };
  const { id } = await callAdmin<{ id: string }>(dashboard.gateway, '/projects', { body });
  const { page } = await dashboard.open('/');
  await signInAs(page, 'dora', { groups: [GROUP] });
  const place = `${dashboard.gateway.url}/projects/${id}?tab=danger`;
  await page.goto(place);
  const remove = async () => {
    await page.getByRole('button', { name: 'Delete project' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete project' }).click();
  };
  await remove();
  await page.getByRole('dialog', { name: 'Sign in again' }).getByRole('button', { name: 'Sign in again' }).click();
  await page.waitForURL(place);
  await remove();
  await page.getByText('Project deleted.').waitFor();
});

test("a member's key waits until an admin approves it", async () => {
  const body = { key_approval: true };
  await callAdmin(dashboard.gateway, `/teams/${teamId}`, { method: 'PATCH', body });
  const { page } = await dashboard.open('/');
  await signInAs(page, 'cara');
  const users = await callAdmin<{ data: { id: string }[] }>(dashboard.gateway, '/users?q=cara');
  const member = { user_id: users.data[0]?.id, role: 'member' };
  await callAdmin(dashboard.gateway, `/teams/${teamId}/members`, { body: member });
  await page.goto(`${dashboard.gateway.url}/me?open=new`);
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('of-cara');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByText('once an admin of the team has approved it').waitFor();
  await page.reload();
  await page.getByText('waiting for approval').waitFor();
  const { page: desk, problems } = await dashboard.open('/teams?tab=requests');
  await desk.getByRole('cell', { name: 'of-cara', exact: true }).waitFor();
  await shoot(desk, 'key-requests');
  await desk.getByRole('button', { name: 'Approve of-cara' }).click();
  await desk.getByText('No key waits').waitFor();
  const { data } = await callAdmin<{ data: { name: string; state: string }[] }>(dashboard.gateway, '/keys?q=of-cara');
  expect(data.map(({ state }) => state)).toEqual(['active']);
  expect(problems).toEqual([]);
});
