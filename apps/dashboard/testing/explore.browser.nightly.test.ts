import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startOnServers } from '@llm0/testing/e2e/environment';
import { startFakeUpstream } from '@llm0/testing/fake-upstream/start-fake-upstream';
import { callAdmin, createTestKey, type GatewayProcess } from '@llm0/testing/stores/start-gateway';
import type { Locator, Page } from 'playwright-core';
import { ensureDashboard } from '../../gateway/bin/ensure-dashboard';
import { checkAccessibility } from './check-accessibility';
import { WIDTHS } from './looks';
import { openBrowser } from './open-browser';
import { drained } from './share-dashboard';
import { openSignedIn, sidewaysOverflow } from './watch-page';

const HOUR = 3_600_000;

const upstream = startFakeUpstream();
/** A vendor that is down. */
const down = Bun.serve({ port: 0, fetch: () => Response.json({ error: { message: 'down' } }, { status: 500 }) });

let gateway: GatewayProcess;
const browser = openBrowser();
let page: Page;
let problems: string[];

beforeAll(async () => {
  if (!(await ensureDashboard())) throw new Error('the dashboard could not be built');
  const env = {
    ...{ DEMO_PROVIDER: 'on', OPENAI_API_KEY: 'fake', OPENAI_BASE_URL: `${down.url.origin}/v1` },
    ...{ ANTHROPIC_API_KEY: 'fake', ANTHROPIC_BASE_URL: upstream.url },
  };
  gateway = await startOnServers(env);
  await callAdmin(gateway, '/demo-data', { body: { days: 4, requests_a_day: 300 } });
  ({ page, problems } = await openSignedIn({ browser, gateway }, '/money?range=7d'));
}, 120_000);
afterAll(async () => {
  await browser.close();
  await gateway?.stop();
  await Promise.all([upstream.stop(), down.stop(true)]);
});

const chart = (title: string, of = page): Locator => of.getByRole('img', { name: new RegExp(`^${title}`) });

/** Opens a path and waits for a chart of it: the area that is drawn in. */
async function openChart(path: string, title: string, on = page) {
  await on.goto(gateway.url + path);
  const over = chart(title, on).locator('.u-over');
  await over.waitFor();
  const box = await over.boundingBox();
  if (box === null) throw new Error(`${title} is not to be seen`);
  return { over, box };
}

const addressed = (of = page) => {
  const { pathname, searchParams } = new URL(of.url());
  const [from, to] = [searchParams.get('from'), searchParams.get('to')].map((at) => Date.parse(at ?? ''));
  return { pathname, range: searchParams.get('range'), from: from ?? Number.NaN, to: to ?? Number.NaN };
};

describe('zooming', () => {
  test('a drag shows its stretch on the whole page, in whole bars; Back and a button lead out of it', async () => {
    const { box } = await openChart('/money?range=7d', 'Spend over time');
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.75, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, y, { steps: 4 });
    await page.mouse.move(box.x + box.width * 0.5, y, { steps: 4 });
    expect(await page.locator('.chart-selection').isVisible()).toBe(true);
    await page.mouse.up();
    await page.waitForURL(/from=/);
    const { pathname, from, to, range } = addressed();
    expect([pathname, range, from % HOUR, to % HOUR]).toEqual(['/money', '7d', 0, 0]);
    const days = (to - from) / (24 * HOUR);
    expect([days > 1.6, days < 2]).toEqual([true, true]);
    const shown = new Date(from).toISOString().slice(5, 16).replace('T', ' ');
    await page.getByRole('button', { name: `Time range: ${shown}` }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: 'Time range: last 7 days' }).waitFor();
    await page.goForward();
    await page.getByRole('button', { name: 'Back to the last 7 days' }).click();
    await page.getByRole('button', { name: 'Time range: last 7 days' }).waitFor();
    expect(addressed().from).toBeNaN();
    expect(problems).toEqual([]);
  });

  test('by keyboard alone: arrows say values, Shift selects, Enter zooms and then leads to the requests', async () => {
    await openChart('/latency?range=7d', 'Percentiles');
    const cursor = page.getByRole('slider', { name: 'Percentiles: point in time' });
    await cursor.focus();
    await page.keyboard.press('Home');
    expect(await cursor.getAttribute('aria-valuetext')).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d UTC: p50/);
    expect(await cursor.getAttribute('aria-valuenow')).toBe('0');
    await page.keyboard.press('End');
    for (let press = 0; press < 3; press++) await page.keyboard.press('Shift+ArrowLeft');
    await page.keyboard.press('Enter');
    await page.waitForURL(/from=/);
    const { from, to } = addressed();
    // Four bars of three hours.
    expect((to - from) / HOUR).toBe(12);
    await page.waitForFunction(() => document.querySelector('[role=slider]')?.getAttribute('aria-valuemax') === '47');
    await cursor.focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/requests?**');
    expect(addressed().to - addressed().from).toBeLessThan(HOUR);
    expect(problems).toEqual([]);
  });

  test('a finger that moves sideways zooms, too', async () => {
    const { page: phone } = await openSignedIn({ browser, gateway }, '/money?range=7d', { hasTouch: true });
    const { box } = await openChart('/money?range=7d', 'Spend over time', phone);
    const session = await phone.context().newCDPSession(phone);
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', share: number) =>
      session.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: type === 'touchEnd' ? [] : [{ x: box.x + box.width * share, y: box.y + 50 }],
      });
    await touch('touchStart', 0.5);
    for (const share of [0.52, 0.56, 0.65, 0.75]) await touch('touchMove', share);
    await touch('touchEnd', 0.75);
    await phone.waitForURL(/from=/);
    const { pathname, from, to } = addressed(phone);
    expect(pathname).toBe('/money');
    expect((to - from) / HOUR).toBeGreaterThan(40);
    await phone.context().close();
  });

  test('the right half of a bar is that bar, not the next one', async () => {
    const to = Math.floor(Date.now() / (24 * HOUR)) * 24 * HOUR;
    const [fromText, toText] = [to - 72 * HOUR, to].map((ms) => new Date(ms).toISOString());
    const { over, box } = await openChart(`/money?from=${fromText}&to=${toText}`, 'Spend over time');
    const bars = 72;
    const hover = async (bar: number, part: number) => {
      await over.hover({ position: { x: (box.width / bars) * (bar + part), y: 60 } });
      return page.getByText(/^\d{4}-\d\d-\d\d \d\d:\d\d UTC/).textContent();
    };
    expect(await hover(40, 0.8)).toBe(await hover(40, 0.3));
    expect(await hover(41, 0.2)).not.toBe(await hover(40, 0.8));
  });
});

describe('comparing', () => {
  test('a legend entry isolates its series, again all; with Shift it is hidden; by keyboard, too', async () => {
    await openChart('/latency?range=7d', 'Percentiles');
    const pressed = async () => {
      const entries = await page.getByRole('list', { name: 'Series' }).getByRole('button').all();
      return Promise.all(entries.map((entry) => entry.getAttribute('aria-pressed')));
    };
    const p95 = page.getByRole('list', { name: 'Series' }).getByRole('button', { name: 'p95' });
    await p95.click();
    await chart('Percentiles.*points. p95: up to [^;]*$').waitFor();
    expect(await pressed()).toEqual(['false', 'true', 'false']);
    await p95.click();
    expect(await pressed()).toEqual(['true', 'true', 'true']);
    await p95.focus();
    await page.keyboard.press('Control+Enter');
    await chart('Percentiles.*p50.*; p99: up to [^;]*$').waitFor();
    expect(await pressed()).toEqual(['true', 'false', 'true']);
    await page.keyboard.press('Control+Enter');
    await page.keyboard.press('Enter');
    expect(await pressed()).toEqual(['false', 'true', 'false']);
    expect(problems).toEqual([]);
  });

  test('the period before lies behind each chart, with its values, and the switch stays in the address', async () => {
    const range = { from: new Date(Date.now() - 24 * HOUR).toISOString(), to: new Date().toISOString() };
    const { over } = await openChart(`/money?from=${range.from}&to=${range.to}`, 'Spend over time');
    await over.hover({ position: { x: 200, y: 60 } });
    expect(await page.getByText(/previous: /).count()).toBe(0);
    // By keyboard: the pointer rests on the chart, and what it shows stays when the other period arrives.
    await page.getByRole('button', { name: 'The previous period' }).press('Enter');
    await page.waitForURL(/previous=on/);
    await page.getByText(/previous: \d{4}-\d\d-\d\d/).waitFor();
    await page.getByRole('link', { name: 'Latency', exact: true }).click();
    await page.getByRole('button', { name: 'The previous period', pressed: true }).waitFor();
    await page.getByRole('slider', { name: 'Percentiles: point in time' }).focus();
    await page.keyboard.press('ArrowLeft');
    await page.getByText(/previous: /).waitFor();
    expect(problems).toEqual([]);
  });
});

describe('marks', () => {
  test('a deploy told by API is marked on the charts, in words, listed beneath, and switched off', async () => {
    const at = Math.floor(Date.now() / (24 * HOUR)) * 24 * HOUR - 30.5 * HOUR;
    await callAdmin(gateway, '/annotations', {
      body: { text: 'web 1.2', kind: 'deploy', at: new Date(at).toISOString() },
    });
    const [from, to] = [at - 35.5 * HOUR, at + 36.5 * HOUR].map((ms) => new Date(ms).toISOString());
    const { over, box } = await openChart(`/money?from=${from}&to=${to}`, 'Spend over time');
    const x = (box.width * 35.5) / 72;
    await over.hover({ position: { x: x + 3, y: 40 } });
    await page.getByText(/^\d\d:30 Deploy: web 1\.2, by ADMIN_TOKEN$/).waitFor();
    await over.hover({ position: { x: x - 60, y: 40 } });
    expect(await page.getByText(/^\d\d:30 Deploy: web 1\.2/).count()).toBe(0);
    // What is heard of the bar says it, too.
    const cursor = page.getByRole('slider', { name: 'Spend over time: point in time' });
    await cursor.focus();
    await page.keyboard.press('Home');
    for (let press = 0; press < 35; press++) await page.keyboard.press('ArrowRight');
    expect(await cursor.getAttribute('aria-valuetext')).toContain('Deploy: web 1.2, by ADMIN_TOKEN');
    // On a phone, too, what is said of the last bar stays on the page.
    await page.setViewportSize({ width: 390, height: 844 });
    await cursor.focus();
    await page.keyboard.press('End');
    await page.waitForFunction(() => document.documentElement.scrollWidth <= innerWidth);
    expect(await sidewaysOverflow(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByText(/^\d+ events? marked on the charts/).click();
    const listed = page.getByRole('list', { name: 'Events marked on the charts' });
    await listed.getByText('Deploy: web 1.2').waitFor();
    expect(await checkAccessibility(page)).toEqual([]);
    await page.getByRole('button', { name: 'Deploys and changes' }).click();
    await page.waitForURL(/marks=off/);
    await listed.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });
});

describe('pictures of the overview', () => {
  const strip = () => page.getByRole('slider', { name: 'openai: health over time' });
  const said = async () => (await strip().getAttribute('aria-valuetext')) ?? '';

  test('a bar leads to the requests of its provider and time, by keyboard and by pointer; figures are in tables', async () => {
    await page.goto(`${gateway.url}/?range=7d`);
    await strip().focus();
    await page.keyboard.press('End');
    // Seven days of bars of two hours, and the begun one.
    expect(await strip().getAttribute('aria-valuemax')).toBe('84');
    for (let bars = 0; bars < 84 && (await said()).endsWith('no requests'); bars++) {
      await page.keyboard.press('ArrowLeft');
    }
    expect(await said()).toMatch(/^\d{4}-\d\d-\d\d \d\d:00 to .*UTC: \d+ requests?, (none|\d+) failed/);
    await page.getByText(/these requests$/).waitFor();
    const figures = page.getByRole('table', { name: 'Provider health in figures' });
    expect(await figures.getByRole('rowheader').allTextContents()).toContain('openai');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/requests\?.*sent_to=openai/);
    expect(addressed().to - addressed().from).toBe(2 * HOUR);
    await page.getByText(/^\d+ shown$/).waitFor();
    await page.goBack();
    const box = await strip().boundingBox();
    await strip().click({ position: { x: (box?.width ?? 0) * 0.9, y: 10 } });
    await page.waitForURL(/\/requests\?.*from=/);
    expect(problems).toEqual([]);
  });

  test('take their room before they are there, on a phone as well, and are accessible', async () => {
    const cards = ['Provider health', 'Route map', 'Budgets closest to their limit'].map((name) =>
      page.locator('section', { has: page.getByRole('heading', { name, exact: true }) }),
    );
    const heights = () => Promise.all(cards.map(async (card) => (await card.boundingBox())?.height));
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 844 });
      const held = Promise.withResolvers<void>();
      await page.route(/\/stats\/(health|flows)\?/, (route) => held.promise.then(() => route.continue()));
      await page.goto(`${gateway.url}/?range=7d`);
      // The page waits for budgets: their banner would move it.
      for (const card of cards.slice(0, 2)) await card.locator('[aria-busy]').waitFor();
      const before = await heights();
      held.resolve();
      await strip().waitFor();
      await page.getByRole('table', { name: 'Budgets in figures' }).waitFor();
      await page.getByRole('table', { name: 'Route map in figures' }).waitFor();
      expect([width, await heights()]).toEqual([width, before]);
      expect([width, await sidewaysOverflow(page), await checkAccessibility(page)]).toEqual([width, 0, []]);
      await page.unrouteAll({ behavior: 'wait' });
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(problems).toEqual([]);
  });
});

describe('the heat map', () => {
  const map = () => page.getByRole('slider', { name: 'Requests by time and total duration' });
  const said = async () => (await map().getAttribute('aria-valuetext')) ?? '';
  const differs = () => page.getByRole('region', { name: 'What differs' });

  test('a drag over slow requests shows what differs there; a row leads to exactly those', async () => {
    await page.goto(`${gateway.url}/latency?range=7d`);
    await map().waitFor();
    const box = await map().boundingBox();
    if (box === null) throw new Error('the heat map is not to be seen');
    const at = (x: number, y: number) => page.mouse.move(box.x + box.width * x, box.y + box.height * y, { steps: 4 });
    await at(0.45, 0.02);
    await page.mouse.down();
    await at(0.99, 0.45);
    await page.mouse.up();
    await differs()
      .getByText(/All [\d,]+ requests? inside, [\d,]+ outside\.$/)
      .waitFor();
    expect(await checkAccessibility(page)).toEqual([]);
    const row = differs().getByRole('row').nth(1);
    await row.getByRole('link').click();
    await page.waitForURL(/\/requests\?.*max_latency=/);
    const { from, to } = addressed();
    expect([from % HOUR, to % HOUR, to > from]).toEqual([0, 0, true]);
    await page.getByText(/^\d+ shown/).waitFor();
    await page.goBack();
    await differs().waitFor();
    expect(problems).toEqual([]);
  });

  test('the region is in the address: a reload and a shared link show it, another duration and a zoom do not', async () => {
    await page.goto(`${gateway.url}/latency?range=7d`);
    await map().focus();
    await page.keyboard.press('End');
    for (let press = 0; press < 20; press++) await page.keyboard.press('Shift+ArrowLeft');
    for (let press = 0; press < 6; press++) await page.keyboard.press('Shift+PageDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/region=latency_/);
    const told = differs().getByText(/ inside, .* outside\.$/);
    const text = await told.textContent();
    await page.reload();
    await told.waitFor();
    expect(await told.textContent()).toBe(text);
    const shared = page.url();
    await page.getByRole('button', { name: 'First token', exact: true }).click();
    await differs().waitFor({ state: 'detached' });
    await page.goto(shared);
    await differs().getByRole('button', { name: 'Zoom in' }).click();
    await page.waitForURL((url) => url.searchParams.has('from') && !url.searchParams.has('region'));
    await differs().waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
  });

  test('by keyboard alone: arrows say cells, Shift selects, Escape clears, Enter opens', async () => {
    await page.goto(`${gateway.url}/latency?range=7d`);
    await map().focus();
    await page.keyboard.press('End');
    expect(await said()).toMatch(/^\d{4}-\d\d-\d\d \d\d:00 to .* UTC, .* to .*: [\d,]+ requests?$/);
    for (let press = 0; press < 20; press++) await page.keyboard.press('Shift+ArrowLeft');
    for (let press = 0; press < 6; press++) await page.keyboard.press('Shift+PageDown');
    await page.keyboard.press('Enter');
    await differs()
      .getByText(/inside/)
      .waitFor();
    await page.keyboard.press('Escape');
    await differs().waitFor({ state: 'detached' });
    const rows = page.getByRole('table', { name: 'Heat map in figures' }).getByRole('rowheader');
    expect(await rows.count()).toBeGreaterThan(10);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/requests\?.*max_latency=/);
    await page.goto(`${gateway.url}/latency?range=7d`);
    const bins = page.getByRole('slider', { name: 'Total time distribution' });
    await bins.focus();
    await page.keyboard.press('Home');
    expect(await bins.getAttribute('aria-valuetext')).toMatch(/ms: ([\d,]+|no) requests?/);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/requests\?.*max_latency=/);
    expect(problems).toEqual([]);
  });
});

describe('the route map', () => {
  test('nodes and ribbons lead to their requests; the live strip says what comes in', async () => {
    await page.goto(`${gateway.url}/?range=7d`);
    const ribbons = page.getByRole('slider', { name: 'From models to providers' });
    await ribbons.focus();
    await page.keyboard.press('Home');
    expect(await ribbons.getAttribute('aria-valuetext')).toMatch(/^.+ → .+: [\d,]+ requests?/);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/requests\?.*model=/);
    await page.goBack();
    await page.getByRole('list', { name: 'Answered by' }).getByRole('link').first().click();
    await page.waitForURL(/\/requests\?.*(provider|cache)=/);
    await page.goto(`${gateway.url}/?range=7d`);
    const live = page.getByRole('region', { name: 'Live' });
    await live.getByText(/^\d+\.\d$/).waitFor();
    const { apiKey } = await createTestKey(gateway);
    await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Live?' }] }),
    });
    await live.getByText(/^0\.[1-9]$/).waitFor();
    expect(problems).toEqual([]);
  });
});

describe('an outage', () => {
  test('a breaker that opened is said on the overview, and leads to exactly the requests that others answered', async () => {
    const { apiKey } = await createTestKey(gateway);
    const targets = [
      { provider: 'openai', model: 'gpt-4o' },
      { provider: 'anthropic', model: 'claude-sonnet-4-5' },
    ];
    await callAdmin(gateway, '/aliases', { body: { alias: 'safe', targets } });
    const ASKED = 7;
    for (let index = 0; index < ASKED; index++) {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'safe', messages: [{ role: 'user', content: `Hello ${index}` }] }),
      });
      expect(answer.status).toBe(200);
    }
    // The log is drained within a second.
    await drained(gateway);
    await page.goto(`${gateway.url}/?range=1h`);
    const banner = page.getByRole('status').filter({ hasText: 'openai: paused since' });
    await banner.getByText(/^openai: paused since \d\d:\d\d UTC \(gpt-4o\)/).waitFor();
    // What is asked first on the page: is it well?
    const titles = await page.getByRole('heading', { level: 2 }).allTextContents();
    expect(titles.slice(0, 5)).toEqual([
      ...['Live', 'Requests by status', 'Error rate', 'Provider health', 'Route map'],
    ]);
    // Others answered what it failed: its strip says so, and leads to all that it got.
    const strip = page.getByRole('slider', { name: 'openai: health over time' });
    await strip.focus();
    await page.keyboard.press('End');
    const said = async () => (await strip.getAttribute('aria-valuetext')) ?? '';
    for (let bars = 0; bars < 10 && !(await said()).includes('failed ('); bars++)
      await page.keyboard.press('ArrowLeft');
    expect(await said()).toMatch(/\d+ failed \(.* %\), mostly upstream_error; \d+ answered elsewhere/);
    await page.getByText(/these requests$/).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/sent_to=openai/);
    await page.goBack();
    await banner.getByRole('link', { name: `${ASKED} requests answered elsewhere` }).click();
    await page.waitForURL(/failover_from=openai/);
    await page.getByText(`${ASKED} shown`, { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Back to the last 1 hour' }).click();
    await page.getByRole('button', { name: 'Time range: last 1 hour' }).waitFor();
    expect(problems).toEqual([]);
  });
});

describe('forced colors', () => {
  test('what is chosen stands out, swatches keep their colors, and axe finds nothing', async () => {
    await page.emulateMedia({ forcedColors: 'active' });
    await openChart('/?range=7d', 'Spend');
    const looks = await page.evaluate(() => {
      const background = (selector: string) => {
        const found = document.querySelector(selector);
        return found === null ? `no ${selector}` : getComputedStyle(found).backgroundColor;
      };
      return {
        chosen: background('fieldset [aria-pressed="true"]'),
        other: background('fieldset [aria-pressed="false"]'),
        page: background('nav [aria-current="page"]'),
        // Without it, the browser paints the canvas behind text of its own color.
        adjusts: getComputedStyle(document.querySelector('nav [aria-current=page]') ?? document.body).forcedColorAdjust,
        swatch: background('[aria-label="Series"] [aria-pressed] > span'),
        series: background('[aria-label="Series"] [aria-pressed="true"]'),
        canvas: background('body'),
      };
    });
    expect(looks.chosen).not.toBe(looks.other);
    expect([looks.page, looks.adjusts]).toEqual([looks.chosen, 'none']);
    expect(looks.series).not.toBe(looks.chosen);
    expect([looks.canvas, looks.chosen]).not.toContain(looks.swatch);
    const found = await checkAccessibility(page);
    await page.emulateMedia({ forcedColors: null });
    expect(found).toEqual([]);
  });
});

describe('layout', () => {
  test.each([1440, 390])('answers that come late move no card, at %i px', async (width) => {
    const come = Promise.withResolvers<void>();
    const late = /\/admin\/v1\/(?:stats\/(?:spend|latency|flows|health|overview))\?/;
    await page.setViewportSize({ width, height: 900 });
    await page.route(late, (route) => come.promise.then(() => route.continue()));
    await page.goto(`${gateway.url}/?range=24h`);
    await page.getByRole('heading', { name: 'Errors and refusals' }).waitFor();
    await page.locator('[data-held]').waitFor({ state: 'detached' });
    const tops = () =>
      page
        .getByRole('heading', { level: 2 })
        .evaluateAll((all) => all.map((one) => `${one.textContent} ${one.getBoundingClientRect().top + scrollY}`));
    const before = await tops();
    expect(before.length).toBeGreaterThan(8);
    come.resolve();
    for (const title of ['Spend', 'Latency']) await chart(title).locator('.u-over').waitFor();
    await page
      .getByText(/of \$[\d.,]+$/)
      .first()
      .waitFor();
    const after = await tops();
    await page.unroute(late);
    expect(after).toEqual(before);
  });

  test('on a phone, the banners of an outage move nothing that was there before', async () => {
    const { apiKey } = await createTestKey(gateway);
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ model: 'openai/gpt-4o', messages: [{ role: 'user', content: 'Hello' }] });
    for (let index = 0; index < 8; index++) {
      await (await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })).text();
    }
    await drained(gateway);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`${gateway.url}/?range=24h`);
    await page.getByText('of requests fail').waitFor();
    await page.getByText(/paused since/).waitFor();
    await chart('Spend').locator('.u-over').waitFor();
    const shift = await page.evaluate(async () => {
      const shifts: number[] = [];
      const note = (list: PerformanceObserverEntryList) =>
        shifts.push(...list.getEntries().map((entry) => (entry as PerformanceEntry & { value: number }).value));
      new PerformanceObserver(note).observe({ type: 'layout-shift', buffered: true });
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))));
      return shifts.reduce((sum, value) => sum + value, 0);
    });
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(shift).toBeLessThanOrEqual(0.05);
  });
});

describe('models', () => {
  test('those in use come first; circles tell price, speed and requests, and open them by keyboard', async () => {
    await page.goto(`${gateway.url}/models?range=7d`);
    const picture = page.getByRole('slider', { name: 'Price and speed of models' });
    await picture.waitFor();
    const cells = page.getByRole('table', { name: 'Models and prices' }).locator('tbody td:nth-child(3)');
    expect(await cells.allTextContents()).not.toContain('–');
    await page.getByRole('button', { name: /^Show [\d,]+ models not in use$/ }).click();
    await cells.getByText('–', { exact: true }).first().waitFor();
    const shares = await cells.allTextContents();
    const used = shares.indexOf('–');
    const values = shares.slice(0, used).map((share) => Number.parseFloat(share));
    expect(used).toBeGreaterThan(1);
    expect(values).toEqual(values.toSorted((a, b) => b - a));
    expect(shares.slice(used).every((share) => share === '–')).toBe(true);
    await picture.focus();
    await page.keyboard.press('Home');
    expect(await picture.getAttribute('aria-valuetext')).toMatch(
      /^[^\s/]+: \$[\d.,]+ per 1M tokens, upstream p95 .+, [\d,]+ requests \(/,
    );
    await page
      .getByText(/its requests$/)
      .first()
      .waitFor();
    expect(await checkAccessibility(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/requests?**');
    const { searchParams } = new URL(page.url());
    expect([searchParams.has('answering_model'), searchParams.has('provider')]).toEqual([true, true]);
    expect(problems).toEqual([]);
  });
});

describe('lists', () => {
  /** The order that a list shows, and whether its second column has it. */
  async function dearestFirst(name: string, header: string) {
    const table = page.getByRole('table', { name });
    const amounts = await table.locator('tbody td:nth-child(2)').allTextContents();
    const values = amounts.map((text) => Number(text.replace(/[$,]/g, '')));
    const order = await table.getByRole('columnheader', { name: header }).getAttribute('aria-sort');
    return [
      order,
      Bun.deepEquals(
        values,
        values.toSorted((a, b) => b - a),
      ),
    ];
  }

  test('show spend by day and the end of budgets, with one question for all rows', async () => {
    const asked: string[] = [];
    const count = (request: { url(): string }) => asked.push(new URL(request.url()).pathname);
    // The page before asks until it is gone.
    await page.goto('about:blank');
    page.on('request', count);
    await page.goto(`${gateway.url}/projects`);
    const days = page.getByRole('img', { name: /in 14 days, most on/ });
    await days.first().waitFor();
    await page.getByText(/^Runs out next: |No \w+'s budget is expected to run out/).waitFor();
    const rows = await page.getByRole('table', { name: 'Projects' }).locator('tbody tr').count();
    expect(rows).toBeGreaterThan(1);
    expect(await dearestFirst('Projects', 'Spent this month')).toEqual(['descending', true]);
    expect(asked.filter((path) => /^\/admin\/.*(?:spend|budgets)/.test(path)).toSorted()).toEqual([
      ...['/admin/v1/budgets', '/admin/v1/stats/spend', '/admin/v1/stats/spend'],
    ]);
    page.off('request', count);
    expect(await checkAccessibility(page)).toEqual([]);
    await page.locator('tbody [data-row]').first().click();
    await page.getByRole('tab', { name: 'Keys' }).click();
    await page.getByRole('table', { name: 'Keys' }).getByRole('img').first().waitFor();
    await page.goto(`${gateway.url}/customers?range=7d`);
    await days.first().waitFor();
    expect(await dearestFirst('Customers', 'Spent in this range')).toEqual(['descending', true]);
    await page.goto(`${gateway.url}/routing`);
    await page
      .getByRole('img', { name: /requests?, at most .* in 1 hour/ })
      .first()
      .waitFor();
    expect(await checkAccessibility(page)).toEqual([]);
    expect(problems).toEqual([]);
  });
});
