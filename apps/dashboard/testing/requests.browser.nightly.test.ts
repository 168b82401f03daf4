import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { isAll } from '@llm0/testing/lane';
import { callAdmin, createTestKey } from '@llm0/testing/stores/start-gateway';
import type { Page } from 'playwright-core';
import { checkAccessibility } from './check-accessibility';
import { requestDetail } from './dialogs';
import { shareDashboard } from './share-dashboard';

let apiKey: string;
let page: Page;
let problems: readonly string[];

const dashboard = shareDashboard({
  env: { LOG_BODIES: 'true' },
  fill: async (gateway) => {
    ({ apiKey } = await createTestKey(gateway, { project: { name: 'asked' }, key: { name: 'the bot' } }));
    await callAdmin(gateway, '/demo-data', { body: { days: 3, requests_a_day: 400 } });
  },
});
beforeAll(async () => {
  ({ page, problems } = await dashboard.open('/requests?range=7d'));
}, 30_000);
afterEach(() => page.unrouteAll());
afterAll(() => expect(problems).toEqual([]));

const send = async (body: object = {}, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${dashboard.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }], ...body }),
  });
  await answer.text();
  return answer.headers.get('x-request-id') ?? '';
};
const open = (path: string) => page.goto(dashboard.gateway.url + path);
const button = (name: string | RegExp) => page.getByRole('button', { name });
const cells = async (column: number) => page.locator(`tbody tr td:nth-child(${column})`).allTextContents();
const focusedRow = () =>
  page.evaluate(() => [...document.querySelectorAll('tbody [data-row]')].indexOf(document.activeElement as Element));

test('a heading sorts all of it on the server, the count is exact, and the file has the same order', async () => {
  await page.getByText('100 shown', { exact: true }).waitFor();
  const from = new Date(Date.now() - 7 * 86_400_000).toISOString();
  const { count } = await callAdmin<{ count: { rows: number } }>(
    dashboard.gateway,
    `/logs?limit=1&count=true&from=${from}`,
  );
  await page.getByText(`of ${count.rows.toLocaleString('en')}`, { exact: true }).waitFor();
  expect(count.rows).toBeGreaterThan(100);
  await button('Cost').click();
  await page.waitForURL(/sort=-cost_usd/);
  type Rows = { data: { cost_usd: number }[] };
  const { data } = await callAdmin<Rows>(dashboard.gateway, `/logs?sort=-cost_usd&limit=1&from=${from}`);
  const dearest = data[0]?.cost_usd ?? 0;
  await page.waitForFunction(
    (usd) => document.querySelector('th[aria-sort=descending]')?.textContent?.startsWith('Cost') && usd > 0,
    dearest,
  );
  const header = await page
    .getByRole('columnheader', { name: 'Cost' })
    .evaluate((th) => (th as HTMLTableCellElement).cellIndex + 1);
  // A heading says how rows will be sorted before they have come.
  await page.locator('tbody tr:has([data-row])').nth(20).waitFor();
  const shown = (await cells(header)).map((text) => Number(text.replace(/[$,]/g, '')));
  expect(shown[0]).toBeCloseTo(dearest, 3);
  expect(shown).toEqual(shown.toSorted((a, b) => b - a));
  expect(await page.getByRole('link', { name: 'CSV' }).getAttribute('href')).toContain('sort=-cost_usd');
  await page.locator('tr[aria-rowindex="30"]').scrollIntoViewIfNeeded();
  await page.locator('tr[aria-rowindex="50"]').scrollIntoViewIfNeeded();
  expect(await page.locator('thead').evaluate((head) => head.getBoundingClientRect().top)).toBeGreaterThanOrEqual(0);
});

const MANY = 10_000;
/** The heading is row 1. */
const FIRST_ROW = 2;
const ROWS_A_PAGE = 1000;

test('ten thousand loaded rows: one opens in 60 ms, keys go on, and the table says how long it is', async () => {
  const { data } = await callAdmin<{ data: Record<string, unknown>[] }>(dashboard.gateway, '/logs?limit=1');
  const idOf = (at: number) => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`;
  const rowAt = (at: number) => ({ ...data[0], id: idOf(at), request_id: idOf(at) });
  await page.route(/\/admin\/v1\/logs\?(?!.*count=)/, (route) => {
    const start = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
    const next = start + ROWS_A_PAGE;
    const rows = Array.from({ length: ROWS_A_PAGE }, (_, index) => rowAt(start + index));
    return route.fulfill({ json: { data: rows, next_cursor: next < MANY ? String(next) : null } });
  });
  await page.route(/\/admin\/v1\/logs\/0/, (route) => {
    const id = /logs\/([0-9a-f-]+)$/.exec(route.request().url())?.[1];
    return id === undefined
      ? route.fulfill({ status: 404, json: {} })
      : route.fulfill({ json: { ...data[0], request_id: id } });
  });
  await open('/requests?range=7d');
  for (let loaded = ROWS_A_PAGE; loaded < MANY; loaded += ROWS_A_PAGE) {
    await page.getByText(`${loaded.toLocaleString('en')} shown`).waitFor();
    await button('Show more').click();
  }
  await page.getByText(`${MANY.toLocaleString('en')} shown`).waitFor();
  const table = page.getByRole('table', { name: 'Requests' });
  expect(await table.getAttribute('aria-rowcount')).toBe(String(MANY + 1));
  expect(await page.locator('tbody [data-row]').count()).toBeLessThan(80);
  const frame = table.locator('..');
  await frame.evaluate((element) => element.scrollTo(0, element.scrollHeight / 2));
  const row = (index: number) => page.locator(`tr[aria-rowindex="${index}"] [data-row]`);
  const middle = await frame.evaluate(async (element) => {
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const { left, top } = element.getBoundingClientRect();
    return Number(document.elementFromPoint(left + 50, top + 200)?.closest('tr')?.ariaRowIndex);
  });
  expect(Math.abs(middle - MANY / 2)).toBeLessThan(60);
  const took: number[] = [];
  for (let index = middle; index < middle + 8; index++) took.push(await openIn(page, index));
  if (isAll) expect(Math.min(...took)).toBeLessThan(60);
  // From the row of the open request the keys go on, far away from it too.
  await frame.evaluate((element) => element.scrollTo(0, 0));
  await row(FIRST_ROW).waitFor();
  await page.keyboard.press('j');
  await row(middle + 8)
    .and(page.locator('[aria-current]'))
    .waitFor();
  await page.keyboard.press('Escape');
  await requestDetail(page).waitFor({ state: 'detached' });
  await page.waitForFunction((at) => document.activeElement?.closest('tr')?.ariaRowIndex === at, String(middle + 8));
  await page.keyboard.press('j');
  await page.waitForFunction((at) => document.activeElement?.closest('tr')?.ariaRowIndex === at, String(middle + 9));
  // The search of the browser reaches rows that are not drawn, and scrolls there.
  await page.keyboard.press('Control+f');
  const hidden = page.locator('[hidden=until-found]');
  expect(await hidden.count()).toBe(MANY);
  await hidden.nth(9000).evaluate((element) => {
    element.removeAttribute('hidden');
    element.scrollIntoView({ block: 'center' });
  });
  await row(9000 + FIRST_ROW).waitFor();
});

test('rows that come slowly leave the list where it is, and the focus on the button that asked for them', async () => {
  await open('/requests?range=7d');
  await page.getByText('100 shown', { exact: true }).waitFor();
  await page.route(/\/admin\/v1\/logs\?.*cursor=/, async (route) => {
    await Bun.sleep(1200);
    await route.continue();
  });
  const frame = page.getByRole('table', { name: 'Requests' }).locator('..');
  for (const shown of ['200 shown', '300 shown']) {
    if (shown === '200 shown') await button('Show more').click();
    else await page.keyboard.press('Enter');
    await page.getByText(shown, { exact: true }).waitFor();
    await page.waitForFunction(() => document.activeElement?.textContent === 'Show more');
    expect(await frame.evaluate((element) => element.scrollTop)).toBe(0);
  }
});

/** Milliseconds from the click on a row until its request is drawn. */
const openIn = (at: Page, index: number): Promise<number> =>
  at.evaluate(async (rowIndex) => {
    const head = document.querySelector<HTMLElement>(`tr[aria-rowindex="${rowIndex}"] [data-row]`);
    const id = /open=([^&]+)/.exec(head?.getAttribute('href') ?? '')?.[1] ?? 'no row';
    const startMs = performance.now();
    head?.click();
    const isOpen = () => document.querySelector('section[aria-labelledby]')?.textContent?.includes(id);
    while (!isOpen()) await new Promise((resolve) => requestAnimationFrame(resolve));
    return performance.now() - startMs;
  }, index);

test('a search says what it covers, and goes on by itself to the end of the range', async () => {
  const { data } = await callAdmin<{ data: Record<string, unknown>[] }>(dashboard.gateway, '/logs?limit=1');
  const asked: (string | null)[] = [];
  await page.route(/\/admin\/v1\/logs\?(?!.*count=)/, (route) => {
    const cursor = new URL(route.request().url()).searchParams.get('cursor');
    asked.push(cursor);
    const steps = Number(cursor ?? 0);
    const partial = { partial: true, partial_from: new Date(Date.now() - (steps + 1) * 3_600_000).toISOString() };
    const json = steps < 3 ? { data: [], next_cursor: String(steps + 1), ...partial } : { data, next_cursor: null };
    return route.fulfill({ json });
  });
  await open('/requests?range=7d');
  const field = page.getByRole('searchbox', { name: /models.*prompts and answers/ });
  await page.getByText('1 shown', { exact: true }).waitFor();
  asked.length = 0;
  await field.fill('zebra');
  await field.press('Enter');
  await page.getByText(/^Search covers models, .*prompts and answers\.$/).waitFor();
  await page.getByText('1 shown', { exact: true }).waitFor();
  expect(asked).toEqual([null, '1', '2', '3']);
});

test('a value in the address that no request has is named, until it is removed', async () => {
  await open('/requests?range=7d&status=failed&provider=openai');
  await page.getByText('No request can have this value, so the list ignores it:').waitFor();
  expect(await page.getByText('status=failed').count()).toBe(1);
  await button('Remove status=failed').click();
  await page.getByText('status=failed').waitFor({ state: 'detached' });
  expect(new URL(page.url()).searchParams.get('provider')).toBe('openai');
});

test('filters by keyboard: suggestions, one of, is not, edited and taken away; all of it in the address', async () => {
  await open('/requests?range=7d');
  await button('Filter').press('Enter');
  await button('Provider').last().press('Enter');
  const field = page.getByRole('combobox', { name: 'Provider: value' });
  await page.getByRole('listbox').getByRole('option').first().waitFor();
  await field.press('ArrowDown');
  await field.press('Enter');
  await page.waitForURL(/provider=/);
  await field.press('ArrowDown');
  await field.press('Enter');
  await page.getByText(/^Provider is one of .+, .+/).waitFor();
  await page.getByLabel('Provider: is or is not').selectOption('not');
  await page.waitForURL(/provider_not=/);
  await page.keyboard.press('Escape');
  const chip = button(/^Provider is none of .+, .+/);
  await chip.waitFor();
  await page.reload();
  await chip.press('Enter');
  await field.waitFor();
  await page.keyboard.press('Escape');
  await chip.press('Delete');
  await chip.waitFor({ state: 'detached' });
  expect(page.url()).not.toContain('provider');
});

test('a drag over the histogram takes that stretch of time', async () => {
  await open('/requests?range=7d&model_not=nobody');
  const chart = page.getByRole('img', { name: /^Requests over time\. Success/ });
  await chart.waitFor();
  const box = await page.locator('.u-over').first().boundingBox();
  if (box === null) throw new Error('no chart');
  await page.mouse.move(box.x + box.width * 0.7, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.9, box.y + 20, { steps: 5 });
  await page.mouse.up();
  await page.waitForURL(/from=.*to=/);
  expect(page.url()).not.toContain('range=');
  expect(page.url()).toContain('model_not=nobody');
});

test('columns are chosen and remembered; a view keeps filters, columns and sort for everybody', async () => {
  await open('/requests?range=7d&outcome=error&sort=-latency_ms');
  await button('Columns').click();
  await page.getByRole('checkbox', { name: 'Key', exact: true }).check();
  await page.getByRole('checkbox', { name: 'Project' }).uncheck();
  await button('Move Key up').click();
  await page.keyboard.press('Escape');
  await page.getByRole('columnheader', { name: 'Key' }).waitFor();
  await button('Views').click();
  await page.getByLabel('View name').fill('Slow errors');
  await page.getByLabel('View name').press('Enter');
  await page.getByText('View "Slow errors" saved for everyone').waitFor();
  await page.waitForURL(/view=/);
  await page.keyboard.press('Escape');
  await open('/requests?range=7d&cache=miss');
  expect(await page.getByRole('columnheader', { name: 'Project' }).count()).toBe(0);
  await button('Columns').click();
  await button('Reset to default').click();
  await page.keyboard.press('Escape');
  await page.getByRole('columnheader', { name: 'Project' }).waitFor();
  await button('Views').click();
  await button('Slow errors').click();
  await page.waitForURL(/outcome=error.*sort=-latency_ms|sort=-latency_ms.*outcome=error/);
  await page.getByRole('columnheader', { name: 'Key' }).waitFor();
  expect(page.url()).not.toContain('cache=miss');
  const { data } = await callAdmin<{ data: { columns: string[] }[] }>(dashboard.gateway, '/views');
  expect(data[0]?.columns).toContain('api_key_id');
  await button('Columns').click();
  await button('Reset to default').click();
});

test('j, k and arrows go through the rows and through the open one, and the focus comes back to it', async () => {
  await open('/requests?range=7d');
  await page.locator('[data-row]').nth(5).waitFor();
  await page.keyboard.press('j');
  expect(await focusedRow()).toBe(0);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('j');
  await page.keyboard.press('k');
  expect(await focusedRow()).toBe(1);
  await page.keyboard.press('Enter');
  const opened = () => new URL(page.url()).searchParams.get('open');
  await page.getByText('Gateway overhead').waitFor();
  // The keyboard goes on in the panel: there up and down scroll.
  await page.waitForFunction(() => document.activeElement?.matches('section[aria-labelledby]'));
  const first = opened();
  await page.keyboard.press('j');
  await page.waitForFunction((id) => !location.search.includes(String(id)), first);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Escape');
  await requestDetail(page).waitFor({ state: 'detached' });
  await page.waitForFunction(() => document.activeElement?.matches('[data-row]'));
  expect(await focusedRow()).toBe(2);
});

test('an old request opens by its address: conversation, difference, curl, playground and links', async () => {
  const png =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=';
  const tool = { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } };
  const long = `Start ${'word '.repeat(600)}the very end`;
  const id = await send(
    {
      messages: [
        { role: 'system', content: 'Be **brief** <script>alert(1)</script>' },
        {
          role: 'user',
          content: [
            { type: 'text', text: "It's hot?" },
            { type: 'image_url', image_url: { url: png } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: '{"celsius":31}' },
        { role: 'user', content: long },
      ],
      tools: [tool],
    },
    { 'x-customer-id': 'acme' },
  );
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  for (let i = 0; i < 60; i++) {
    const kept = await callAdmin(dashboard.gateway, `/logs/${id}/bodies`)
      .then(() => callAdmin(dashboard.gateway, `/logs/${id}`))
      .catch(() => null);
    if (kept !== null) break;
    await Bun.sleep(50);
  }
  // Far outside of what the list shows.
  await open(`/requests?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z&open=${id}`);
  const drawer = requestDetail(page);
  await drawer.locator('strong', { hasText: 'brief' }).waitFor();
  await drawer.getByText('<script>alert(1)</script>').waitFor();
  await drawer.getByText('Call to weather').waitFor();
  await drawer.getByText('"city": "Rome"').waitFor();
  await drawer.getByText('"celsius": 31').waitFor();
  expect(await drawer.locator('img').evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(1);
  expect(await drawer.getByText('the very end').count()).toBe(0);
  await button(/^Show all 3,0\d\d characters$/).click();
  await drawer.getByText('the very end').first().waitFor();
  // The conversation comes before the technical part.
  const topOf = async (text: string | RegExp) => (await drawer.getByText(text).first().boundingBox())?.y ?? 0;
  expect(await topOf('the very end')).toBeLessThan(await topOf(/^Waterfall, /));
  await button('Copy as curl').click();
  await page.getByText('Set LLM0_API_KEY').waitFor();
  const curl = await page.evaluate(() => navigator.clipboard.readText());
  expect(curl).toContain('-H "Authorization: Bearer $LLM0_API_KEY"');
  expect(curl).toContain('X-Customer-ID: acme');
  expect(curl).not.toContain(apiKey);
  const command = `exec 2>/dev/null; export LLM0_API_KEY=${apiKey}; ${curl.replace('curl ', 'curl -s ')}`;
  const again = await new Response(Bun.spawn(['sh', '-c', command], { stdout: 'pipe' }).stdout).text();
  expect(again).toContain('"choices"');
  await button('Sent to provider').click();
  await drawer.getByText('As demo received it').waitFor();
  await button('Raw JSON').click();
  await drawer.locator('figcaption', { hasText: 'Answer' }).waitFor();
  expect(await drawer.getByRole('link', { name: 'Open in playground' }).getAttribute('href')).toContain(id);
  for (const [name, part] of [
    ['the bot', '/projects/'],
    ['acme', '/customers?'],
    ['demo-chat', 'model=demo-chat'],
    ['demo', '/routing'],
  ] as const) {
    expect(await drawer.getByRole('link', { name, exact: true }).getAttribute('href')).toContain(part);
  }
});

test('a request opens beside the list, which goes on: clicks and arrows change it; on a phone it is a drawer', async () => {
  const phone = { width: 390, height: 844 };
  await page.setViewportSize({ width: 1440, height: 900 });
  await open('/requests?range=7d');
  const rows = page.locator('tbody [data-row]');
  await rows.nth(5).waitFor();
  const ids = await rows.evaluateAll((all) =>
    all.map((row) => new URL((row as HTMLAnchorElement).href).searchParams.get('open') ?? ''),
  );
  const panel = page.getByRole('region', { name: 'Request', exact: true });
  const shows = (index: number) => panel.getByText(ids[index] ?? '', { exact: true }).waitFor();
  const current = () => page.waitForFunction(() => document.activeElement?.matches('[data-row][aria-current]'));
  await rows.nth(3).click();
  await shows(3);
  await panel.getByText('Gateway overhead').waitFor();
  const [list, beside] = await Promise.all([
    page.getByRole('table', { name: 'Requests' }).boundingBox(),
    panel.boundingBox(),
  ]);
  expect((list?.x ?? 0) + (list?.width ?? 0)).toBeLessThanOrEqual(beside?.x ?? 0);
  expect(await page.getByRole('dialog').count()).toBe(0);
  await page.keyboard.press('ArrowDown');
  await shows(4);
  await current();
  expect(await focusedRow()).toBe(4);
  await page.keyboard.press('k');
  await shows(3);
  await rows.nth(1).click();
  await shows(1);
  await current();
  expect(await focusedRow()).toBe(1);
  expect(await checkAccessibility(page)).toEqual([]);
  await page.setViewportSize(phone);
  const drawer = page.getByRole('dialog', { name: 'Request', exact: true });
  await drawer.getByText('Gateway overhead').waitFor();
  expect(await panel.count()).toBe(0);
  expect(await drawer.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true);
  expect(await checkAccessibility(page, '[role=dialog]')).toEqual([]);
  await page.setViewportSize({ width: 1440, height: 900 });
  await shows(1);
  // Back closes the panel, however many were shown in it.
  await page.goBack();
  await panel.waitFor({ state: 'detached' });
  expect(new URL(page.url()).pathname).toBe('/requests');
  await page.setViewportSize({ width: 1280, height: 800 });
});

test('the waterfall of a request that failed over: each attempt in words, and its times add up', async () => {
  const from = new Date(Date.now() - 7 * 86_400_000).toISOString();
  type Rows = { data: { request_id: string; latency_ms: number; attempts: { outcome: string }[] }[] };
  const { data } = await callAdmin<Rows>(dashboard.gateway, `/logs?failover_from=openai&limit=200&from=${from}`);
  const found = data.find(({ attempts }) => attempts[0]?.outcome === 'rate_limited') ?? data[0];
  if (found === undefined) throw new Error('no request failed over');
  await open(`/requests?range=7d&open=${found.request_id}`);
  const steps = page.getByRole('table', { name: /^Steps of this request/ }).getByRole('row');
  await steps.nth(1).waitFor();
  const texts = (await steps.allTextContents()).slice(1);
  expect(texts[0]).toContain('before the first attempt');
  expect(texts.filter((text) => /rate limited \(429\)|skipped/.test(text))).not.toEqual([]);
  const times = await steps.locator('td:last-child').allTextContents();
  const shown = times.reduce((sum, text) => sum + (text === '–' ? 0 : readMs(text)), 0);
  expect(Math.abs(shown - found.latency_ms)).toBeLessThan(0.02 * found.latency_ms + 1);
});

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, min: 60_000 };
const readMs = (text: string) => {
  const [value = '', unit = ''] = text.split(' ');
  return Number(value.replaceAll(',', '')) * (UNITS_MS[unit] ?? Number.NaN);
};

const LOOKS = [
  [1440, 'dark'],
  [390, 'light'],
] as const;
test.each(isAll ? LOOKS : LOOKS.slice(0, 1))('nothing is beyond reach, at %i px, %s', async (width, theme) => {
  await page.setViewportSize({ width, height: 900 });
  await page.evaluate((value) => localStorage.setItem('llm0-theme', value), theme);
  await page.evaluate((value) => document.documentElement.setAttribute('data-theme', value), theme);
  await open('/requests?range=7d&model_not=a&model_not=b');
  await page.locator('[data-row]').first().waitFor();
  expect(await checkAccessibility(page)).toEqual([]);
  for (const name of ['Filter', 'Columns', 'Views']) {
    await button(name).first().click();
    await page.locator('[data-radix-popper-content-wrapper]').waitFor();
    expect(await checkAccessibility(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    await page.keyboard.press('Escape');
  }
});
