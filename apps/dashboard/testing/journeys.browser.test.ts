import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey, type GatewayProcess, startGateway } from '@llm0/testing/stores/start-gateway';
import { ensureDashboard } from '../../gateway/bin/ensure-dashboard';
import { checkAccessibility } from './check-accessibility';
import { type BrowserUnderTest, openBrowser, type PageOptions } from './open-browser';
import { PAGES } from './pages';
import { openPage, openSignedIn, sidewaysOverflow, signIn } from './watch-page';

let gateway: GatewayProcess;
let browser: BrowserUnderTest;

beforeAll(async () => {
  if (!(await ensureDashboard())) throw new Error('the dashboard could not be built');
  [gateway, browser] = await Promise.all([startGateway({ env: { DEMO_PROVIDER: 'on' } }), openBrowser()]);
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

afterEach(() => browser.closePages());

const open = (path?: string, options?: PageOptions) => openPage({ browser, gateway }, path, options);
const signedIn = (path?: string, options?: PageOptions) => openSignedIn({ browser, gateway }, path, options);

const send = (apiKey: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }], ...body }),
  });

async function drained(): Promise<void> {
  while ((await callAdmin<{ queue_depth: number }>(gateway, '/reconcile')).queue_depth > 0) await Bun.sleep(50);
}

describe('in a browser', () => {
  test('a wrong token is said to be wrong, the right one opens; signing out closes', async () => {
    const { page, problems } = await open();
    await page.getByLabel('Admin token').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This is not an admin token in force').waitFor();
    await signIn(page, { gateway });
    expect(await page.evaluate(() => document.cookie)).toBe('');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Admin token').waitFor();
    expect(problems).toEqual([]);
  });

  test('first run: a key, a first request, and it appears', async () => {
    const { page, problems } = await signedIn();
    await page.getByRole('heading', { name: 'Welcome' }).waitFor();
    await page.getByRole('button', { name: 'Make a key' }).click();
    await page.getByText('Your key, shown this once').waitFor();
    expect(await page.locator('pre').first().textContent()).toMatch(/^llm0_live_[0-9a-f]{64}$/);
    await page.getByRole('button', { name: 'Send it from here' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('Tightest budgets').waitFor();
    expect(problems).toEqual([]);
  });

  test('an alias and a chain are made of targets as typed; a line that is none is said to be so', async () => {
    const { page, problems } = await signedIn('/routing');
    const dialog = page.getByRole('dialog');
    await page.getByRole('tab', { name: 'Aliases' }).click();
    await page.getByRole('button', { name: 'New alias' }).click();
    await dialog.getByLabel('Alias').fill('smart');
    await dialog.getByLabel('Targets').fill('gpt-4o');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('"gpt-4o" is not provider/model').waitFor();
    await dialog.getByLabel('Targets').fill('demo/demo-chat ×3\nopenai/gpt-4o');
    await dialog.getByLabel('Tried').selectOption('by weight');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The alias is live').waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    expect(await dialog.getByLabel('Targets').inputValue()).toBe('demo/demo-chat ×3\nopenai/gpt-4o ×1');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No aliases yet').waitFor();
    await page.getByRole('tab', { name: 'Fallback chains' }).click();
    await page.getByRole('button', { name: 'New chain' }).click();
    await dialog.getByLabel('Name').fill('mine');
    await dialog.getByLabel('Targets').fill('demo/demo-chat');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The chain is live').waitFor();
    expect(problems).toEqual([]);
  });

  test('a project and a key are made, a request is seen live, its drawer tells all, the key is revoked', async () => {
    const { page, problems } = await signedIn('/projects');
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByLabel('Name').fill('<script>alert(1)</script>');
    await page.getByLabel('Monthly cap, USD').fill('25');
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('heading', { level: 1, name: '<script>alert(1)</script>' }).waitFor();
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').last().fill('web');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('it is never shown again').waitFor();
    const apiKey = (await page.locator('pre').first().textContent()) ?? '';
    await page.getByRole('button', { name: 'I have copied it' }).click();

    await page.getByRole('link', { name: 'Requests', exact: true }).click();
    await page.getByRole('button', { name: 'Live' }).click();
    const hostile = '<img src=x onerror=alert(1)>';
    const answer = await send(apiKey, {}, { 'x-customer-id': hostile, 'x-llm0-team': hostile });
    expect(answer.status).toBe(200);
    await page.getByText(hostile).first().waitFor();
    await page.getByText(hostile).first().click();
    await page.getByText('Attempts, of').waitFor();
    await page.getByText('demo / demo-chat').waitFor();
    expect(page.url()).toContain('open=');
    await page.getByRole('button', { name: 'Close' }).click();

    await page.getByRole('link', { name: 'Projects & keys' }).click();
    // The list of requests has the project's name as well.
    await page.getByRole('heading', { level: 1, name: 'Projects & keys' }).waitFor();
    await page.getByText('<script>alert(1)</script>').first().click();
    await page.getByRole('cell', { name: 'web', exact: true }).click();
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByRole('button', { name: 'Revoke now' }).click();
    await page.getByText('The key is refused from now on').waitFor();
    expect((await send(apiKey, {})).status).toBe(401);
    expect(problems).toEqual([]);
  });

  test('the dearest customer of the week in three clicks, capped, and refused from then on', async () => {
    const project = await callAdmin<{ id: string }>(gateway, '/projects', { body: { name: 'capped' } });
    const { key } = await callAdmin<{ key: string }>(gateway, `/projects/${project.id}/keys`, { body: { name: 'k' } });
    const customer = { 'x-customer-id': 'dear one', 'x-llm0-cache': 'off' };
    for (let index = 0; index < 3; index++) expect((await send(key, {}, customer)).status).toBe(200);
    await drained();
    const { page, problems } = await signedIn('/?range=7d');
    await page.getByRole('link', { name: 'Projects & keys' }).click();
    await page.getByRole('button', { name: 'Customers' }).click();
    await page.getByText('dear one').first().click();
    await page.getByLabel('A day, USD').fill('not money');
    await page.getByRole('button', { name: 'Save limits' }).click();
    await page.getByText('must be an amount in USD').waitFor();
    await page.getByLabel('A day, USD').fill('0.000000001');
    await page.getByRole('button', { name: 'Save limits' }).click();
    await page.getByText('The limits hold from the next request on').waitFor();
    expect((await send(key, {}, customer)).status).toBe(429);
    expect(problems).toEqual([]);
  });

  test('requests are filtered, the filter stands in the address, and the file holds what is shown', async () => {
    const { page, problems } = await signedIn('/requests');
    await page.getByLabel('Status').selectOption('cap_exceeded');
    await page.getByText('customer_spend_limit').first().waitFor();
    expect(page.url()).toContain('status=cap_exceeded');
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'CSV' }).click();
    const stream = await (await downloading).createReadStream();
    const csv = await new Response(stream as unknown as ReadableStream).text();
    expect(csv.split('\r\n').length).toBe(3);
    expect(csv).toContain('customer_spend_limit');
    await page.goBack();
    expect(problems).toEqual([]);
  });

  test('a list keeps its place while one of its requests is open, and afterwards', async () => {
    const { apiKey } = await createTestKey(gateway);
    await Promise.all(Array.from({ length: 12 }, () => send(apiKey, {})));
    await drained();
    const { page, problems } = await signedIn('/requests', { height: 300 });
    const rows = page.locator('tbody tr[tabindex]');
    await rows.nth(7).waitFor();
    await page.evaluate(() => scrollTo(0, 120));
    const place = () => page.evaluate(() => `${scrollY} ${document.querySelector('h1')?.getBoundingClientRect().left}`);
    const before = await place();
    expect(before).toStartWith('120 ');
    await rows.nth(5).click();
    await page.getByText('Gateway overhead').waitFor();
    expect(await place()).toBe(before);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await place()).toBe(before);
    expect(problems).toEqual([]);
  });

  test('a price is edited, and holds from the next request on', async () => {
    const { page, problems } = await signedIn('/models');
    await page.getByLabel('Find a model').fill('demo-slow');
    await page.getByRole('cell', { name: 'demo-slow' }).click();
    await page.getByLabel('Output, USD / 1M').fill('123');
    await page.getByRole('button', { name: 'Save price' }).click();
    await page.getByText('The price holds from the next request on').waitFor();
    await page.getByText('$123.00').waitFor();
    const models = await callAdmin<{ data: { output_usd_per_million: number }[] }>(gateway, '/models?model=demo-slow');
    expect(models.data[0]?.output_usd_per_million).toBe(123);
    expect(problems).toEqual([]);
  });

  test('a session that ends in the middle of an edit: sign in again, and what was typed is saved', async () => {
    const { page, problems } = await signedIn('/projects');
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByLabel('Name').fill('typed before');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByText('Nothing you typed is lost').waitFor();
    await page.getByLabel('Admin token').fill(gateway.adminToken);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'typed before' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('a viewer sees everything and is offered no change', async () => {
    const { token } = await callAdmin<{ token: string }>(gateway, '/tokens', {
      body: { name: 'reader', role: 'viewer' },
    });
    const { page, problems } = await open('/projects');
    await page.getByLabel('Admin token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('capped').first().waitFor();
    expect(await page.getByRole('button', { name: 'New project' }).isDisabled()).toBe(true);
    expect(problems).toEqual([]);
  });

  test('the playground streams, and says what it cost and how the cache took it', async () => {
    const { page, problems } = await signedIn('/playground');
    await page.getByRole('button', { name: 'Make one for a day' }).click();
    await page.getByText('A key for 24 hours').waitFor();
    await page.getByLabel('Compare with').fill('demo-slow');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('cache miss').first().waitFor();
    await page.getByText('Headers').nth(1).waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('exact cache hit').first().waitFor();
    expect(problems).toEqual([]);
  });

  test('dark is remembered', async () => {
    const { page, problems } = await signedIn();
    await page.getByRole('button', { name: 'Dark theme' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Light theme' }).waitFor();
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe('dark');
    expect(problems).toEqual([]);
  });

  test('the gateway gone: the page says so and goes on when it is back', async () => {
    const { page } = await signedIn('/cache');
    await page.route('**/admin/v1/stats/**', (route) => route.abort());
    await page.getByRole('link', { name: 'Spend' }).click();
    await page.getByText('cannot be reached').first().waitFor({ timeout: 20_000 });
    await page.unroute('**/admin/v1/stats/**');
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByText('demo-chat').first().waitFor();
  });

  test.each([
    ['wide, light', { width: 1280, theme: 'light' as const }],
    ['on a phone, dark', { width: 390, height: 844, theme: 'dark' as const }],
  ])(
    'every page: no error, no sideways scrolling, nothing axe finds (%s)',
    async (_, options) => {
      const { page, problems } = await signedIn('/', options);
      for (const { path, heading, name } of PAGES) {
        await page.goto(gateway.url + path);
        await page.getByRole('heading', { level: 1, name: heading }).waitFor();
        await page.waitForLoadState('networkidle');
        expect([name, await sidewaysOverflow(page)]).toEqual([name, 0]);
        expect([name, await checkAccessibility(page)]).toEqual([name, []]);
      }
      expect(problems).toEqual([]);
    },
    120_000,
  );
});

describe('what is served', () => {
  test('a strict policy with a nonce of its own each time, nothing from elsewhere, no secrets', async () => {
    const [first, second] = await Promise.all([fetch(gateway.url), fetch(gateway.url)]);
    const policy = first.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain('unsafe');
    expect(second.headers.get('content-security-policy')).not.toBe(policy);
    const html = await first.text();
    expect(html).not.toMatch(/<script(?![^>]*src=)|https?:\/\/|__CSP_NONCE__/);
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(html)?.[1] ?? '';
    const bundle = await (await fetch(gateway.url + script)).text();
    expect(bundle).not.toContain(gateway.adminToken);
    expect((await fetch(`${gateway.url}/.stamp`)).status).toBe(404);
    expect((await fetch(`${gateway.url}/assets/missing.js`)).status).toBe(404);
  });

  test('the first page is less than 350 kB of script and style, gzipped', async () => {
    const page = await browser.newPage();
    const bodies: Promise<Buffer>[] = [];
    page.on('response', (response) => {
      if (/\.(js|css)$/.test(new URL(response.url()).pathname)) bodies.push(response.body());
    });
    await page.goto(gateway.url);
    await signIn(page, { gateway });
    await page.getByRole('heading', { level: 1 }).waitFor();
    const sizes = (await Promise.all(bodies)).map((body) => Bun.gzipSync(new Uint8Array(body)).byteLength);
    expect(sizes.length).toBeGreaterThan(1);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(350_000);
  });
});
