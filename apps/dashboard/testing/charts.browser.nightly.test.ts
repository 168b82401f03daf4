import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import type { PageOptions } from './open-browser';
import { shareDashboard } from './share-dashboard';
import { timeLabels, watchCanvas } from './watch-canvas';

const HOUR = 3_600_000;

const dashboard = shareDashboard({ timeoutMs: 20_000 });

/** A signed-in page whose statistics are made up: `bucket` of each start of an interval, or none. */
async function openCharts(path: string, bucket: (startMs: number) => object | null, options: PageOptions = {}) {
  const { page } = await dashboard.openApart(options);
  await watchCanvas(page);
  await page.route('**/admin/v1/stats/*', (route) => {
    const { searchParams } = new URL(route.request().url());
    const [from, to] = [searchParams.get('from'), searchParams.get('to')].map((at) => Date.parse(at ?? ''));
    const stepMs = Number(searchParams.get('interval')) * 1000;
    const buckets: object[] = [];
    for (let at = Math.ceil((from ?? 0) / stepMs) * stepMs; at < (to ?? 0); at += stepMs) {
      const made = bucket(at);
      if (made !== null) buckets.push({ start: new Date(at).toISOString(), group: null, requests: 1, ...made });
    }
    return route.fulfill({
      json: { buckets, groups: 1, partial: false, partial_from: null, bins: [], data: [], cells: [] },
    });
  });
  await page.goto(dashboard.gateway.url + path);
  return page;
}

const spent =
  (group = 'gpt-4o') =>
  () => ({
    ...{ group, cost_usd: 1, saved_usd: 0, tokens_in: 1, tokens_out: 1 },
  });
const stretch = (from: string, to: string) => `from=${from}&to=${to}`;

/** What a clock in a zone reads. */
const readClock = (ms: number, timeZone: string) => {
  const say = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat('en-GB', { timeZone, ...options }).format(ms);
  return {
    clock: say({ hour: '2-digit', minute: '2-digit' }),
    day: new Intl.DateTimeFormat('en-US', { timeZone, month: 'short', day: 'numeric' }).format(ms),
  };
};

/** Labels that do not stand where their time is. */
async function misplaced(page: Page, at: { from: string; to: string; timeZone: string }): Promise<string[]> {
  const name = /^Spend over time/;
  await page.getByRole('img', { name }).waitFor();
  const [fromMs, toMs] = [Date.parse(at.from), Date.parse(at.to)];
  const labels = await timeLabels(page, name);
  expect(labels.length).toBeGreaterThan(4);
  return labels.flatMap(({ text, share }) => {
    // A pixel is some minutes.
    const ms = Math.round((fromMs + share * (toMs - fromMs)) / HOUR) * HOUR;
    const { clock, day } = readClock(ms, at.timeZone);
    return text === (clock === '00:00' ? day : clock) ? [] : [`${text} at ${day} ${clock}`];
  });
}

describe('the time axis', () => {
  const SUMMER = { from: '2026-03-27T00:00:00Z', to: '2026-04-01T00:00:00Z' };
  const SUMMER_LA = { from: '2026-03-06T00:00:00Z', to: '2026-03-11T00:00:00Z' };

  test.each([
    ['Europe/Berlin', SUMMER],
    ['Asia/Tokyo', SUMMER],
    ['America/Los_Angeles', SUMMER_LA],
  ])('says UTC in UTC and local time where asked for, in %s and over a change to summer time', async (zone, week) => {
    const page = await openCharts(`/money?${stretch(week.from, week.to)}`, spent(), { timeZone: zone });
    expect([zone, await misplaced(page, { ...week, timeZone: 'UTC' })]).toEqual([zone, []]);
    await page.getByRole('button', { name: 'Times are shown in UTC' }).click();
    await page.getByRole('button', { name: `Times are shown in ${zone}` }).waitFor();
    expect([zone, await misplaced(page, { ...week, timeZone: zone })]).toEqual([zone, []]);
  });
});

describe('values', () => {
  test('a percentile between two gaps is a point', async () => {
    const durations = { p50: 100, p95: 500, p99: 900 };
    const all = { latency_ms: durations, ttft_ms: durations, overhead_ms: durations, upstream_ms: durations };
    const every = (hours: number) => (startMs: number) => (startMs % (hours * HOUR) === 0 ? all : null);
    const page = await openCharts(`/latency?${stretch('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z')}`, every(4));
    const chart = page.getByRole('img', { name: /^Percentiles/ });
    await chart.waitFor();
    // The six of each line, told apart by their colour.
    const painted = await chart.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] };
      const columns = new Set<number>();
      for (let at = 0; at < data.length; at += 4)
        if (data[at] === 0xe1 && data[at + 1] === 0x5f && data[at + 2] === 0x0a) columns.add((at / 4) % canvas.width);
      return [...columns].filter((column) => !columns.has(column - 1)).length;
    });
    expect(painted).toBe(6);
  });

  test('a touch shows the values of a bar, the next one leads to its requests', async () => {
    const phone = { width: 390, height: 844, hasTouch: true };
    const page = await openCharts(`/money?${stretch('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z')}`, spent(), phone);
    const plot = page.getByRole('img', { name: /^Spend over time/ }).locator('.u-over');
    await plot.waitFor();
    await plot.tap({ position: { x: 100, y: 100 } });
    await page.getByText(/^2026-03-01 \d\d:\d\d UTC/).waitFor();
    expect(new URL(page.url()).pathname).toBe('/money');
    await plot.tap({ position: { x: 160, y: 100 } });
    await plot.tap({ position: { x: 160, y: 100 } });
    await page.waitForURL('**/requests?**');
    expect(new URL(page.url()).searchParams.get('answering_model')).toBe('gpt-4o');
  });
});
