import { describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '@llm0/testing/stores/start-gateway';
import { checkAccessibility } from './check-accessibility';
import { requestDetail } from './dialogs';
import { THEMES, WIDTHS } from './looks';
import type { PageOptions } from './open-browser';
import { PAGES } from './pages';
import { settled } from './settled';
import { drained, shareDashboard, visit } from './share-dashboard';
import { sidewaysOverflow, signIn } from './watch-page';

const dashboard = shareDashboard({ timeoutMs: 30_000 });
const signedIn = (path?: string, options?: PageOptions) => dashboard.open(path, options);

/** Where somebody is to sign in. */
const signedOut = async (path = '/') => {
  const watched = await dashboard.openApart({ adminToken: null });
  await watched.page.goto(dashboard.gateway.url + path);
  return watched;
};

const send = (apiKey: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${dashboard.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }], ...body }),
  });

describe('in a browser', () => {
  test('a wrong token is said to be wrong, the right one opens; signing out closes', async () => {
    const { page, problems } = await signedOut();
    await page.getByLabel('Admin token').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This admin token is not valid').waitFor();
    await signIn(page, dashboard);
    expect(await page.evaluate(() => document.cookie)).toBe('');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Admin token').waitFor();
    expect(problems).toEqual([]);
  });

  test('first run: a key, a first request, and it appears', async () => {
    const { page, problems } = await signedIn();
    await page.getByRole('heading', { name: 'Welcome' }).waitFor();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Your key, shown only once').waitFor();
    expect(await page.locator('pre').first().textContent()).toMatch(/^llm0_live_[0-9a-f]{64}$/);
    await page.getByRole('button', { name: 'Send from here' }).click();
    expect(await page.getByRole('region', { name: 'Answer' }).textContent()).toContain('demo-chat answered');
    expect(await page.locator('pre').first().textContent()).toMatch(/^llm0_live_/);
    await page.getByRole('button', { name: 'Go to the overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('Budgets closest to their limit').waitFor();
    expect(problems).toEqual([]);
  });

  test('an alias and a chain are made of targets in rows; a row that is none is said to be so', async () => {
    const { page, problems } = await signedIn('/routing');
    const dialog = page.getByRole('dialog');
    await page.getByRole('tab', { name: 'Aliases' }).click();
    await page.getByRole('button', { name: 'New alias' }).click();
    await dialog.getByLabel('Alias').fill('smart');
    await dialog.getByLabel('Provider of target 1').fill('demo');
    await dialog.getByRole('button', { name: 'Create alias' }).click();
    await dialog.getByText('Row 1: choose a model').waitFor();
    await dialog.getByLabel('Model of target 1').fill('demo-chat');
    await dialog.getByRole('button', { name: 'Add target' }).click();
    await dialog.getByLabel('Provider of target 2').fill('openai/gpt-4o');
    await dialog.getByLabel('Order of targets').selectOption('by share');
    await dialog.getByLabel('Share of target 1').fill('75');
    await dialog.getByLabel('Share of target 2').fill('25');
    const route = dialog.getByRole('table', { name: 'Route, in words: smart' });
    await route.getByRole('row', { name: '1. demo/demo-chat 75 % openai/gpt-4o' }).waitFor();
    expect(await checkAccessibility(page, '[role=dialog]')).toEqual([]);
    await dialog.getByRole('button', { name: 'Create alias' }).click();
    await page.getByText('Alias saved').waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    expect(await dialog.getByLabel('Model of target 2').inputValue()).toBe('gpt-4o');
    expect(await dialog.getByLabel('Share of target 1').inputValue()).toBe('75');
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete alias' }).click();
    await page.getByText('No aliases yet').waitFor();
    await page.getByRole('tab', { name: 'Fallback chains' }).click();
    await page.getByRole('button', { name: 'New chain' }).click();
    await dialog.getByLabel('Name').fill('mine');
    await dialog.getByLabel('Provider of target 1').fill('demo/demo-chat');
    await dialog.getByRole('button', { name: 'Create chain' }).click();
    await page.getByText('Chain saved').waitFor();
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
    await page.getByText('it cannot be shown again').waitFor();
    const apiKey = (await page.locator('pre').first().textContent()) ?? '';
    await page.getByRole('button', { name: 'I have copied it' }).click();

    await page.getByRole('link', { name: 'Requests', exact: true }).click();
    await page.getByRole('button', { name: 'Live' }).click();
    const hostile = '<img src=x onerror=alert(1)>';
    const answer = await send(apiKey, {}, { 'x-customer-id': hostile, 'x-llm0-team': hostile });
    expect(answer.status).toBe(200);
    await page.getByText(hostile).first().waitFor();
    await page.getByText(hostile).first().click();
    await page.getByText(/^Waterfall, .* in total/).waitFor();
    await page.getByText('demo/demo-chat').waitFor();
    expect(page.url()).toContain('open=');
    await page.getByRole('button', { name: 'Close' }).click();

    await page.getByRole('link', { name: 'Projects & keys' }).click();
    // The list of requests has the project's name as well.
    await page.getByRole('heading', { level: 1, name: 'Projects & keys' }).waitFor();
    await page.getByText('<script>alert(1)</script>').first().click();
    await page.getByRole('tab', { name: 'Keys' }).click();
    await page.getByRole('cell', { name: 'web', exact: true }).click();
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByRole('button', { name: 'Revoke now' }).click();
    await page.getByText('Key revoked').waitFor();
    expect((await send(apiKey, {})).status).toBe(401);
    expect(problems).toEqual([]);
  });

  test('the dearest customer of the week in two clicks, capped, and refused from then on', async () => {
    const project = await callAdmin<{ id: string }>(dashboard.gateway, '/projects', { body: { name: 'capped' } });
    const { key } = await callAdmin<{ key: string }>(dashboard.gateway, `/projects/${project.id}/keys`, {
      body: { name: 'k' },
    });
    const customer = { 'x-customer-id': 'dear one', 'x-llm0-cache': 'off' };
    for (let index = 0; index < 3; index++) expect((await send(key, {}, customer)).status).toBe(200);
    await drained(dashboard.gateway);
    const { page, problems } = await signedIn('/?range=7d');
    await page.getByRole('link', { name: 'Customers' }).click();
    await page.getByText('dear one').first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Limits', exact: true }).click();
    await page.getByLabel('Per day, USD').fill('not money');
    await page.getByRole('button', { name: 'Save limits' }).click();
    await page.getByText('must be an amount in USD').waitFor();
    await page.getByLabel('Per day, USD').fill('0.000000001');
    await page.getByRole('button', { name: 'Save limits' }).click();
    await page.getByText('Limits saved. They apply from the next request.').waitFor();
    expect((await send(key, {}, customer)).status).toBe(429);
    expect(problems).toEqual([]);
  });

  test('requests are filtered, the filter stands in the address, and the file holds what is shown', async () => {
    const { page, problems } = await signedIn('/requests');
    await page.getByLabel('Status').selectOption('cap_exceeded');
    await page.getByText('customer_spend_limit').first().waitFor();
    expect(page.url()).toContain('outcome=cap_exceeded');
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
    const { apiKey } = await createTestKey(dashboard.gateway);
    await Promise.all(Array.from({ length: 12 }, () => send(apiKey, {})));
    await drained(dashboard.gateway);
    const { page, problems } = await signedIn('/requests', { height: 300 });
    const rows = page.locator('tbody tr:has([data-row])');
    await rows.nth(7).waitFor();
    await page.evaluate(() => scrollTo(0, 120));
    await rows.nth(5).scrollIntoViewIfNeeded();
    const place = () => page.evaluate(() => `${scrollY} ${document.querySelector('h1')?.getBoundingClientRect().left}`);
    const before = await place();
    expect(Number.parseInt(before, 10)).toBeGreaterThanOrEqual(120);
    await rows.nth(5).click();
    await page.getByText('Gateway overhead').waitFor();
    expect(await place()).toBe(before);
    await page.keyboard.press('Escape');
    await requestDetail(page).waitFor({ state: 'detached' });
    expect(await place()).toBe(before);
    expect(problems).toEqual([]);
  });

  test('a price is edited, and holds from the next request on', async () => {
    const { page, problems } = await signedIn('/models');
    await page.getByLabel('Find a model').fill('demo-slow');
    await page.getByRole('cell', { name: 'demo-slow' }).click();
    await page.getByLabel('Output, USD / 1M', { exact: true }).fill('123');
    await page.getByRole('button', { name: 'Save price' }).click();
    await page.getByText('Price saved. It applies from the next request.').waitFor();
    await page.getByRole('cell', { name: '$123.00' }).waitFor();
    const models = await callAdmin<{ data: { output_usd_per_million: number }[] }>(
      dashboard.gateway,
      '/models?model=demo-slow',
    );
    expect(models.data[0]?.output_usd_per_million).toBe(123);
    expect(problems).toEqual([]);
  });

  test('a session that ends in the middle of an edit: sign in again, and what was typed is saved', async () => {
    const { page, problems } = await signedIn('/projects');
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByLabel('Name').fill('typed before');
    await settled(page);
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByText('Nothing you typed is lost').waitFor();
    await page.getByLabel('Admin token').fill(dashboard.gateway.adminToken);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'typed before' }).waitFor();
    expect(problems).toEqual([]);
  });

  test('a viewer sees everything and is offered no change', async () => {
    const { token } = await callAdmin<{ token: string }>(dashboard.gateway, '/tokens', {
      body: { name: 'reader', role: 'viewer' },
    });
    const { page, problems } = await signedOut('/projects');
    await page.getByLabel('Admin token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('capped').first().waitFor();
    expect(await page.getByRole('button', { name: 'New project' }).isDisabled()).toBe(true);
    expect(problems).toEqual([]);
  });

  test('the playground streams, and says what it cost and how the cache took it', async () => {
    const { page, problems } = await signedIn('/playground');
    await page.getByRole('button', { name: 'Compare with another model' }).click();
    await page.getByText('available to this key').waitFor();
    await page.getByRole('combobox', { name: 'Model 2' }).fill('demo-slow');
    await page.getByRole('combobox', { name: 'Model 2' }).press('Enter');
    await page.getByRole('button', { name: 'Send ⌘' }).click();
    await page.getByText('cache miss').first().waitFor();
    await page.getByText('Headers').nth(1).waitFor();
    await page.getByRole('button', { name: 'Send ⌘' }).click();
    await page.getByText('exact cache hit').first().waitFor();
    expect(problems).toEqual([]);
  });

  test('a guardrail starts from a template, and refuses once it is enforced', async () => {
    const { projectId, apiKey } = await createTestKey(dashboard.gateway);
    const { page, problems } = await signedIn(`/guardrails?project=${projectId}`);
    await page.getByRole('button', { name: 'Block words' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Words').fill('darn');
    await dialog.getByRole('button', { name: 'Add rule' }).click();
    await page.getByRole('link', { name: 'words' }).waitFor();
    await page.getByRole('button', { name: 'Enforce' }).click();
    await page.getByText('Rules act on everything').waitFor();
    const asks = (content: string) => send(apiKey, { messages: [{ role: 'user', content }] });
    expect([(await asks('darn it')).status, (await asks('hello')).status]).toEqual([400, 200]);
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
    let isAway = true;
    await page.route('**/admin/v1/stats/**', (route) => (isAway ? route.abort() : route.fallback()));
    await page.getByRole('link', { name: 'Spend & statements' }).click();
    await page.getByText('cannot be reached').first().waitFor({ timeout: 20_000 });
    // Live news would take the button away from a gateway that is back.
    await page.getByRole('button', { name: 'Try again' }).first().click();
    isAway = false;
    await page.getByText('demo-chat').first().waitFor();
  });

  test('every page, wide and on a phone, light and dark: no error, no sideways scrolling, nothing axe finds', async () => {
    const { page, problems } = await signedIn();
    for (const { path, heading, name } of PAGES) {
      await visit(page, path);
      await page.getByRole('heading', { level: 1, name: heading }).waitFor();
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 844 });
        for (const theme of THEMES) {
          await page.emulateMedia({ colorScheme: theme });
          await settled(page);
          const where = `${name} at ${width}, ${theme}`;
          expect([where, await sidewaysOverflow(page)]).toEqual([where, 0]);
          expect([where, await checkAccessibility(page)]).toEqual([where, []]);
        }
      }
    }
    expect(problems).toEqual([]);
  }, 120_000);
});

describe('served answer', () => {
  test('a strict policy with a nonce of its own each time, nothing from elsewhere, no secrets', async () => {
    const [first, second] = await Promise.all([fetch(dashboard.gateway.url), fetch(dashboard.gateway.url)]);
    const policy = first.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toContain('unsafe');
    expect(second.headers.get('content-security-policy')).not.toBe(policy);
    const html = await first.text();
    expect(html).not.toMatch(/<script(?![^>]*src=)|https?:\/\/|__CSP_NONCE__/);
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(html)?.[1] ?? '';
    const bundle = await (await fetch(dashboard.gateway.url + script)).text();
    expect(bundle).not.toContain(dashboard.gateway.adminToken);
    expect((await fetch(`${dashboard.gateway.url}/.stamp`)).status).toBe(404);
    expect((await fetch(`${dashboard.gateway.url}/assets/missing.js`)).status).toBe(404);
  });

  test('files come as they were compressed by the build, are kept for good, and asked for by their tag', async () => {
    const { url } = dashboard.gateway;
    const ask = (path: string, headers: Record<string, string>) => fetch(url + path, { headers, decompress: false });
    const page = await ask('/', { 'accept-encoding': 'gzip' });
    expect([page.headers.get('content-encoding'), page.headers.get('vary')]).toEqual(['gzip', 'Accept-Encoding']);
    const small = await page.bytes();
    // It has a nonce, and so no tag: that is no loss while it is hardly longer than "not modified".
    expect([page.headers.get('etag'), small.length < 1000]).toEqual([null, true]);
    const html = Buffer.from(Bun.gunzipSync(small)).toString();
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(html)?.[1] ?? '';
    const plain = await (await ask(script, { 'accept-encoding': 'identity' })).bytes();
    const tags = new Set<string | null>();
    for (const encoding of ['br', 'gzip', 'identity']) {
      const answer = await ask(script, { 'accept-encoding': encoding });
      expect(answer.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding);
      expect(answer.headers.get('cache-control')).toContain('immutable');
      expect(answer.headers.get('vary')).toBe('Accept-Encoding');
      const tag = answer.headers.get('etag') ?? '';
      tags.add(tag);
      const size = (await answer.bytes()).byteLength;
      if (encoding !== 'identity') expect(size).toBeLessThan(plain.byteLength / 2);
      const again = await ask(script, { 'accept-encoding': encoding, 'if-none-match': `"other", W/${tag}` });
      expect([again.status, (await again.bytes()).byteLength]).toEqual([304, 0]);
    }
    expect(tags.size).toBe(3);
    const icon = await ask('/icon.svg', { 'accept-encoding': 'br' });
    expect([icon.headers.get('content-encoding'), icon.headers.get('cache-control')]).toEqual(['br', 'no-cache']);
  });

  test('the page of the admin API shows every operation', async () => {
    const { page } = await dashboard.openApart({ adminToken: null });
    const { url } = dashboard.gateway;
    const spec = (await (await fetch(`${url}/admin/v1/openapi.json`)).json()) as { paths: Record<string, object> };
    const operations = Object.values(spec.paths).flatMap((methods) => Object.keys(methods));
    await page.goto(`${url}/admin/docs`);
    await page.getByRole('heading', { level: 1, name: 'LLM0 Gateway admin API' }).waitFor();
    expect(await page.locator('details').count()).toBe(operations.length);
  });

  test('the first page is less than 350 kB of script and style, gzipped', async () => {
    const { page } = await dashboard.openApart({ adminToken: null });
    const bodies: Promise<Buffer>[] = [];
    page.on('response', (response) => {
      if (/\.(js|css)$/.test(new URL(response.url()).pathname)) bodies.push(response.body());
    });
    await page.goto(dashboard.gateway.url);
    await signIn(page, dashboard);
    await page.getByRole('heading', { level: 1 }).waitFor();
    const sizes = (await Promise.all(bodies)).map((body) => Bun.gzipSync(new Uint8Array(body)).byteLength);
    expect(sizes.length).toBeGreaterThan(1);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(350_000);
  });
});
