// A finance person at month's end, by keyboard alone.
import { describe, expect, test } from 'bun:test';
import { isAll } from '@llm0/testing/lane';
import { callAdmin } from '@llm0/testing/stores/start-gateway';
import type { Page } from 'playwright-core';
import { checkAccessibility } from './check-accessibility';
import { THEMES, WIDTHS } from './looks';
import { shareDashboard } from './share-dashboard';
import { goTo, localStamp, sitDown } from './sit-down';
import { sidewaysOverflow } from './watch-page';

interface Row {
  readonly group: string;
  readonly name: string;
  readonly requests: number;
  readonly cost_usd: number;
}
interface Statement {
  readonly month: string;
  readonly from: string;
  readonly to: string;
  readonly rows: readonly Row[];
  readonly total: { readonly cost_usd: number; readonly forecast: { readonly expected_usd: number } | null };
  readonly caps: readonly {
    readonly name: string;
    readonly spent_usd: number;
    readonly forecast: { readonly expected_usd: number } | null;
  }[];
}

const dashboard = shareDashboard({
  fill: async (gateway) => {
    await callAdmin(gateway, '/demo-data', { body: { days: 60, requests_a_day: 30 } });
  },
});

const statement = (query: Readonly<Record<string, string>>) =>
  callAdmin<Statement>(dashboard.gateway, `/finance/statement?${new URLSearchParams(query)}`);
/** In units of the last digit shown. */
const units = (text = '') => Number(text.replace('−', '-').replace(/[,.]/g, ''));
const decimalsOf = (text = '') => text.split('.')[1]?.length ?? 0;
const costCells = (page: Page, part: string) =>
  page.locator(`table.statement ${part} td:nth-of-type(2)`).allTextContents();
/** Whether an amount stands there; a forecast is of its moment, and grows by the minute. */
function saysAmount(text: string | null, usd: number, decimals: number): boolean {
  const amounts = text?.match(new RegExp(`[\\d,]+\\.\\d{${decimals}}`, 'g')) ?? [];
  return amounts.some((amount) => Math.abs(Number(amount.replaceAll(',', '')) - usd) <= usd / 200 + 10 ** -decimals);
}

/** Rows are those of the API, and add up to the total to the last digit. Returns the number of decimals. */
async function checkTable(page: Page, expected: Statement): Promise<number> {
  await page.locator('table.statement').getByRole('link', { name: expected.rows[0]?.name, exact: true }).waitFor();
  expect(expected.rows.length).toBeGreaterThan(1);
  expect(await page.locator('table.statement tbody th').allTextContents()).toEqual(
    expected.rows.map(({ name }) => name),
  );
  const shown = await costCells(page, 'tbody tr');
  const foot = await costCells(page, 'tfoot tr');
  const decimals = decimalsOf(foot.at(-1));
  for (const [at, cell] of shown.entries()) {
    expect(decimalsOf(cell)).toBe(decimals);
    expect(Math.abs(units(cell) - (expected.rows[at]?.cost_usd ?? 0) * 10 ** decimals)).toBeLessThan(0.501);
  }
  const sum = [...shown, ...foot.slice(0, -1)].reduce((all, cell) => all + units(cell), 0);
  expect(sum).toBe(units(foot.at(-1)));
  expect(Math.abs(units(foot.at(-1)) - expected.total.cost_usd * 10 ** decimals)).toBeLessThan(0.501);
  return decimals;
}

/** Filters are behind a button. */
const PHONE_BELOW = 640;
const PLACES: [number, string][] = [
  [1440, 'Europe/Berlin'],
  [390, 'Asia/Tokyo'],
  [1440, 'America/Los_Angeles'],
];
test.each(isAll ? PLACES : PLACES.slice(0, 1))(
  "month's end by keyboard alone, at %i px in %s",
  async (width, timeZone) => {
    const { gateway, browser } = dashboard;
    const { page, keys, problems } = await sitDown({ browser, gateway }, { width, timeZone }, 'Overview');
    await goTo(page, keys, 'Spend & statements');
    await keys.openTab('Statement');
    await page.getByText('Month to date, USD').waitFor();

    // Months of this room: they begin at its midnight.
    await keys.select('Time zone', timeZone.slice(0, 3));
    await page.waitForURL(/tz=local/);
    const running = await statement({ time_zone: timeZone });
    await keys.choose('Previous month');
    await page.waitForURL(/month=/);
    const month = new URL(page.url()).searchParams.get('month') ?? '';
    const last = await statement({ month, time_zone: timeZone, by: 'label.team' });
    expect([localStamp(last.from, timeZone), localStamp(last.to, timeZone)]).toEqual([
      `${month}-01 00:00`,
      `${running.month}-01 00:00`,
    ]);
    await page.getByText(`${month}-01 00:00 to ${running.month}-01 00:00`).waitFor();

    // Last month by a label, as the API has it.
    if (width < PHONE_BELOW) await keys.choose('Group and filter');
    await keys.select('Group by another label', 'team');
    await page.getByRole('columnheader', { name: 'Label team', exact: true }).waitFor();
    await checkTable(page, last);

    // The file says the same, and whose it is.
    await keys.tabTo('CSV');
    const [download] = await Promise.all([page.waitForEvent('download'), keys.press('Enter')]);
    expect(download.suggestedFilename()).toBe(`statement-${month}-by-label-team.csv`);
    const [head = '', ...lines] = (await Bun.file(await download.path()).text()).trimEnd().split('\r\n');
    const cell = (line: string, name: string) => line.split(',')[head.split(',').indexOf(name)];
    const total = lines.at(-1) ?? '';
    expect(['kind', 'month', 'time_zone', 'currency', 'filters'].map((name) => cell(total, name))).toEqual([
      ...['total', month, timeZone, 'USD', 'none'],
    ]);
    expect(lines.map((line) => Number(cell(line, 'cost_usd')))).toEqual([
      ...last.rows.map(({ cost_usd: cost }) => cost),
      last.total.cost_usd,
    ]);

    // Its curve is the whole month, and ends at the total of the month in UTC.
    const { total: inUtc } = await statement({ month });
    const curve = page.getByRole('table', { name: / in figures$/ });
    await curve.getByRole('row').nth(28).waitFor({ state: 'attached' });
    const ends = await curve.getByRole('row').last().getByRole('cell').first().textContent();
    // Shown with two decimals.
    expect(Math.abs(Number(ends?.replace(/[$,]/g, '')) - inUtc.cost_usd)).toBeLessThan(0.00501);

    // On paper: period, zone, currency and filters, the same rows, and nothing of the screen alone.
    await page.evaluate(() => {
      window.print = () => {
        document.title = 'printed';
      };
    });
    await keys.choose('Print statement');
    expect(await page.title()).toBe('printed');
    await page.emulateMedia({ media: 'print' });
    await page.getByRole('heading', { name: 'Cost statement' }).waitFor();
    const said = await page.locator('.statement-head').textContent();
    const parts = ['Period', `${month}-01 00:00`, timeZone, 'USD', 'Filters', 'none', 'LLM0 Gateway'];
    for (const part of parts) expect(said).toContain(part);
    expect([await page.getByRole('navigation').count(), await page.getByRole('button').count()]).toEqual([0, 0]);
    await checkTable(page, last);
    expect((await page.pdf({ preferCSSPageSize: true })).subarray(0, 5).toString()).toBe('%PDF-');
    await page.emulateMedia({ media: 'screen' });

    // The running month: what it will cost, against each cap.
    await keys.choose('Next month', { back: true });
    await page.getByRole('heading', { name: 'Forecast against caps' }).waitFor();
    const caps = page.getByRole('table', { name: 'Monthly caps' });
    const decimals = decimalsOf((await costCells(page, 'tfoot tr')).at(-1));
    expect(running.caps.length).toBeGreaterThan(0);
    for (const { name, spent_usd: spent, forecast } of running.caps) {
      const row = caps.getByRole('row').filter({ has: page.getByText(name, { exact: true }) });
      const texts = (await row.allTextContents()).join(' ');
      expect([name, saysAmount(texts, spent, decimals)]).toEqual([name, true]);
      if (forecast !== null) expect([texts, saysAmount(texts, forecast.expected_usd, decimals)]).toEqual([texts, true]);
    }
    const summary = await page.locator('.statement-summary').textContent();
    const expected = running.total.forecast?.expected_usd ?? Number.NaN;
    expect([summary, saysAmount(summary, expected, decimals)]).toEqual([summary, true]);

    // Narrowed, and from a row to exactly its requests, on the days of this room.
    await keys.write('Filter value', 'gpt-4o-mini');
    await keys.press('Enter');
    await page.getByText('Model gpt-4o-mini', { exact: true }).waitFor();
    const narrowed = await statement({ time_zone: timeZone, by: 'label.team', model: 'gpt-4o-mini' });
    expect(narrowed.total.cost_usd).toBeLessThan(running.total.cost_usd);
    await checkTable(page, narrowed);
    await keys.choose(/^Model: gpt-4o-mini/);
    await page.getByText('Model gpt-4o-mini', { exact: true }).waitFor({ state: 'detached' });
    await keys.choose('Provider', { role: 'button', back: true });
    await keys.choose('Previous month', { back: true });
    const of = await statement({ month, time_zone: timeZone, by: 'provider' });
    await page.getByText(`${month}-01 00:00 to ${running.month}-01 00:00`).waitFor();
    await checkTable(page, of);
    const row = of.rows[0];
    await keys.choose(row?.name ?? '', { role: 'link' });
    await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
    await keys.landed('a row led to its requests');
    const { searchParams } = new URL(page.url());
    expect(['from', 'to', 'provider'].map((name) => searchParams.get(name))).toEqual([
      ...[of.from, of.to, row?.group ?? ''],
    ]);
    await page.getByText(`of ${row?.requests.toLocaleString('en')}`, { exact: true }).waitFor();
    const asked = { from: of.from, to: of.to, provider: row?.group ?? '', limit: '1' };
    const { data } = await callAdmin<{ data: { created_at: string }[] }>(
      gateway,
      `/logs?${new URLSearchParams(asked)}`,
    );
    const newest = localStamp(data[0]?.created_at ?? '', timeZone);
    expect(newest).toStartWith(month);
    expect(await page.locator('tbody [data-row]').first().textContent()).toContain(newest.slice(5));
    expect(problems).toEqual([]);
    await page.context().close();
  },
  60_000,
);

test('it can be read by everybody, on a phone and on a desk, in both themes, and never scrolls sideways', async () => {
  // As its address was in earlier versions.
  const { page, problems } = await dashboard.open('/finance');
  await page.getByText('Month to date, USD').waitFor();
  for (const theme of THEMES) {
    await page.emulateMedia({ colorScheme: theme });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const found = [await checkAccessibility(page), await sidewaysOverflow(page)];
      expect([theme, width, ...found]).toEqual([theme, width, [], 0]);
    }
  }
  expect(problems).toEqual([]);
}, 20_000);

describe('spend in pictures', () => {
  interface Logged {
    readonly data: readonly { readonly model: string; readonly customer_id: string | null }[];
    readonly count: { readonly rows: number };
  }
  /** Requests that the page of requests is asked for. */
  const asked = (page: Page) => {
    const { searchParams } = new URL(page.url());
    const kept = [...searchParams].filter(([name]) => name !== 'range');
    return callAdmin<Logged>(
      dashboard.gateway,
      `/logs?${new URLSearchParams([...kept, ['count', 'true'], ['limit', '1000']])}`,
    );
  };
  const requestsIn = (text: string | null) => Number(/([\d,]+) requests?$/.exec(text ?? '')?.[1]?.replaceAll(',', ''));
  const focused = (page: Page) =>
    page.evaluate(() => document.activeElement?.querySelector('.sr-only')?.textContent ?? '');

  test('the month ends at the forecast of the statement; its days and cells lead to their requests by keyboard', async () => {
    const [from7, to7] = [7, 0].map((days) => new Date(Date.now() - days * 86_400_000).toISOString());
    const { page, problems } = await dashboard.open(`/money?from=${from7}&to=${to7}`);
    const figures = page.getByRole('table', { name: 'This month in figures' });
    const last = figures.getByRole('row').last();
    await page.getByText(/^Forecast with its range$/).waitFor();
    const { total } = await statement({ by: 'provider' });
    const ends = (await last.getByRole('cell').allTextContents()).map((text) => Number(text.replace(/[$,]/g, '')));
    const expected = total.forecast?.expected_usd ?? Number.NaN;
    expect(Math.abs((ends[2] ?? 0) - expected)).toBeLessThan(expected / 100);

    const month = page.getByRole('slider', { name: 'Spend of the month by day' });
    await month.focus();
    await page.keyboard.press('Home');
    expect(await month.getAttribute('aria-valuetext')).toMatch(
      /^[A-Z][a-z]{2} 1: \$[\d.,]+ spent.*, \$[\d.,]+ by then in the month before$/,
    );
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/requests\?.*sort=-cost_usd/);
    const { searchParams } = new URL(page.url());
    const [from, to] = [searchParams.get('from'), searchParams.get('to')].map((at) => Date.parse(at ?? ''));
    expect([new Date(from ?? 0).getUTCDate(), (to ?? 0) - (from ?? 0)]).toEqual([1, 86_400_000]);

    await page.goBack();
    const calendar = page.getByRole('table', { name: /^Spend by day\./ });
    await page.getByRole('button', { name: '12 weeks' }).click();
    await calendar.getByRole('link').first().focus();
    await page.keyboard.press('ArrowDown');
    const day = await focused(page);
    expect(requestsIn(day)).toBeGreaterThan(0);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/requests\?/);
    expect([day, (await asked(page)).count.rows]).toEqual([day, requestsIn(day)]);

    await page.goBack();
    const table = page.getByRole('table', { name: /^Spend by model and customer/ });
    await table.getByRole('link').first().focus();
    await page.keyboard.press('ArrowRight');
    const cell = await focused(page);
    const [model, customer] = cell.split(':')[0]?.split(', ') ?? [];
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/requests\?.*model=/);
    const { data } = await asked(page);
    // The filter also finds requests that asked for the model and were answered by another.
    expect([cell, data.filter((row) => row.model === model).length]).toEqual([cell, requestsIn(cell)]);
    expect(data.every((row) => (row.customer_id ?? '(none)') === customer)).toBe(true);
    expect(problems).toEqual([]);
  }, 30_000);

  test('shares end at 100 %, running totals at the spend; the address keeps the view', async () => {
    const { page, problems } = await dashboard.open('/money?range=30d&view=shares');
    const chart = page.getByRole('img', { name: /^Spend over time/ });
    await chart.waitFor();
    const point = page.getByRole('slider', { name: 'Spend over time: point in time' });
    const said = async () => {
      await point.focus();
      await page.keyboard.press('End');
      await page.keyboard.press('ArrowLeft');
      return point.getAttribute('aria-valuetext');
    };
    expect(await said()).toContain('total 100.0 %');
    await page.getByRole('button', { name: 'Running total' }).click();
    await page.waitForURL(/view=total/);
    expect(await said()).toMatch(/total \$/);
    expect(problems).toEqual([]);
  });

  test('take their room before they are there, fit on a phone, and are accessible in both themes', async () => {
    const { page, problems } = await dashboard.open('/money?range=7d');
    const cards = [/^This month/, 'Spend by day (UTC)'].map((name) =>
      page.locator('section', { has: page.getByRole('heading', { name }) }),
    );
    const heights = () => Promise.all(cards.map(async (card) => (await card.boundingBox())?.height));
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const held = Promise.withResolvers<void>();
      await page.route(/\/(stats\/spend|finance\/statement)\?/, (route) => held.promise.then(() => route.continue()));
      await page.goto(`${dashboard.gateway.url}/money?range=7d`);
      for (const card of cards) await card.locator('[aria-busy=true]').waitFor();
      const before = await heights();
      held.resolve();
      await page.getByText(/^Forecast with its range$/).waitFor();
      await page.getByRole('table', { name: /^Spend by model and customer/ }).waitFor();
      expect([width, await heights()]).toEqual([width, before]);
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme });
        const found = [await checkAccessibility(page), await sidewaysOverflow(page)];
        expect([theme, width, ...found]).toEqual([theme, width, [], 0]);
      }
      await page.unrouteAll({ behavior: 'wait' });
    }
    expect(problems).toEqual([]);
  }, 30_000);
});

test('the month before is closed for good; the statement says so on the screen and on paper', async () => {
  const before = new Date();
  before.setUTCMonth(before.getUTCMonth(), 0);
  const month = before.toISOString().slice(0, 7);
  const { page, problems } = await dashboard.open(`/money?tab=statement&month=${month}&by=team`);
  await page.getByRole('button', { name: 'Close month' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Close month' }).click();
  await page.getByText('Its statements never change').waitFor({ state: 'detached' });
  await page.getByText('These figures no longer change.').waitFor();
  await page.getByRole('button', { name: 'Close month', disabled: true }).waitFor();
  type Closings = { data: { month: string; cost_usd: number }[] };
  const { data } = await callAdmin<Closings>(dashboard.gateway, '/finance/closings');
  const { total } = await statement({ month, by: 'team' });
  expect(data).toEqual([expect.objectContaining({ month, cost_usd: total.cost_usd })]);
  await page.emulateMedia({ media: 'print' });
  expect(await page.locator('.statement-head').textContent()).toContain('by ADMIN_TOKEN');
  const file = page.waitForEvent('download');
  await page.emulateMedia({ media: 'screen' });
  await page.getByRole('button', { name: 'FOCUS' }).click();
  expect((await file).suggestedFilename()).toBe(`focus-${month}.csv`);
  expect(problems).toEqual([]);
}, 30_000);
