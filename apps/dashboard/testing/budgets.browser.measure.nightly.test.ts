import { afterAll, describe, expect, test } from 'bun:test';
import { connectDatabase } from '@llm0/drizzle/client';
import { createMigratedDatabase } from '@llm0/testing/stores/create-database';
import { createTestKey, type GatewayProcess, startGateway } from '@llm0/testing/stores/start-gateway';
import { startPostgres } from '@llm0/testing/stores/start-postgres';
import type { Page } from 'playwright-core';
import { settled } from './settled';
import { shareDashboard, visit } from './share-dashboard';

const KEYS = 10_000;
const CUSTOMERS = 5_000;
const SLOWDOWN = 4;
const MOST_SCRIPT_BYTES = 200_000;
const FIRST_CONTENT_MS = 1000;
const INTERACTIVE_MS = 1500;
const LONGEST_TASK_MS = 200;
/** The work below on an idle machine that is not slowed down. */
const REFERENCE_MS = 3;
const ROUNDS = 12;
const TRIES = 3;

const stops: (() => unknown)[] = [];
let databaseUrl = '';
let projectId = '';
const dashboard = shareDashboard({ start, fill, timeoutMs: 30_000 });
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

async function start(): Promise<GatewayProcess> {
  const given = process.env.TEST_DATABASE_URL;
  if (given !== undefined && given !== '') {
    const own = await createMigratedDatabase(given);
    stops.push(() => own.drop());
    databaseUrl = own.url;
  } else {
    const server = await startPostgres();
    stops.push(() => server.stop());
    databaseUrl = server.url;
  }
  return startGateway({ env: { DATABASE_URL: databaseUrl, DEMO_PROVIDER: 'on' } });
}

/** Straight into Postgres: making them by the API would take minutes. */
async function fill(gateway: GatewayProcess): Promise<void> {
  const made = await createTestKey(gateway, { project: { name: 'many' } });
  projectId = made.projectId;
  const { client, close } = connectDatabase({ url: databaseUrl }, { maxConnections: 1 });
  await client`
    insert into api_keys (project_id, name, key_hash, key_prefix, budget_usd, created_at)
    select ${projectId}::uuid, 'service ' || i, encode(sha256(convert_to('secret ' || i, 'UTF8')), 'hex'),
      'llm0_live_' || lpad(i::text, 6, '0'), 5, now() - i * interval '1 second'
    from generate_series(1, ${KEYS}::int) as i`;
  await client`
    insert into customer_spend (project_id, customer_id, date, request_count, tokens_in, tokens_out, total_spend_usd, saved_usd)
    select ${projectId}::uuid, 'customer ' || i, (now() at time zone 'UTC')::date, i, i, i, i * 0.001, 0
    from generate_series(1, ${CUSTOMERS}::int) as i`;
  await close();
  await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${made.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: 'Hello' }] }),
  }).then((answer) => answer.text());
}

/**
 * How much slower this browser is now than the reference, at least 1: a fixed amount of work, again and again, measured in the
 * page under test with the same slowdown, waits for the processor included. Budgets are multiplied by it, so that a busy
 * machine breaks none.
 */
async function slownessOf(page: Page, slowdown: number): Promise<number> {
  const workMs = await page.evaluate(async (times) => {
    let workMs = 0;
    for (let round = 0; round < times; round++) {
      const startMs = performance.now();
      const texts: string[] = [];
      for (let i = 0; i < 30_000; i++) texts.push((i * 7919).toString(36));
      texts.sort();
      workMs += performance.now() - startMs;
      await new Promise((resolve) => setTimeout(resolve));
    }
    return workMs / times;
  }, ROUNDS);
  return Math.max(1, workMs / (REFERENCE_MS * slowdown));
}

interface Measured {
  tasks: { readonly startMs: number; readonly ms: number }[];
}
declare global {
  interface Window {
    measured?: Measured;
  }
}

/** Lets a page remember its long tasks; before it is opened. */
const watchTasks = (page: Page) =>
  page.addInitScript(() => {
    const tasks: Measured['tasks'] = [];
    window.measured = { tasks };
    new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) tasks.push({ startMs: startTime, ms: duration });
    }).observe({ type: 'longtask', buffered: true });
  });

describe('a first load', () => {
  test('is small, shows soon and can be used soon on a processor four times slower', async () => {
    const { page, problems } = await dashboard.openApart();
    await watchTasks(page);
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('Network.enable');
    const scripts = new Set<string>();
    let bytes = 0;
    cdp.on('Network.responseReceived', ({ requestId, type }) => void (type === 'Script' && scripts.add(requestId)));
    cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (scripts.has(requestId)) bytes += encodedDataLength;
    });
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
    const shares: { first: number; interactive: number }[] = [];
    for (let tries = 0; tries < TRIES; tries++) {
      const before = await slownessOf(page, SLOWDOWN);
      await cdp.send('Network.clearBrowserCache');
      scripts.clear();
      bytes = 0;
      await page.goto(dashboard.gateway.url);
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      const { firstMs, usableMs } = await page.evaluate(readTimes);
      await settled(page);
      expect(scripts.size).toBeGreaterThan(0);
      expect(bytes).toBeGreaterThan(50_000);
      expect(bytes).toBeLessThan(MOST_SCRIPT_BYTES);
      const slowness = (before + (await slownessOf(page, SLOWDOWN))) / 2;
      shares.push({ first: firstMs / slowness, interactive: usableMs / slowness });
    }
    // Somebody else's work slows one load more than another: the best of three is the page's own.
    expect(Math.min(...shares.map(({ first }) => first))).toBeLessThan(FIRST_CONTENT_MS);
    expect(Math.min(...shares.map(({ interactive }) => interactive))).toBeLessThan(INTERACTIVE_MS);
    expect(problems).toEqual([]);
  }, 60_000);
});

/** In the page: when its first content stood there, and when its heading did and no long task held it up any more. */
function readTimes() {
  const nowMs = performance.now();
  const [paint] = performance.getEntriesByName('first-contentful-paint');
  const ends = (window.measured?.tasks ?? []).map(({ startMs, ms }) => startMs + ms);
  return { firstMs: paint?.startTime ?? Number.POSITIVE_INFINITY, usableMs: Math.max(nowMs, ...ends) };
}

describe('with 10,000 keys and 5,000 customers', () => {
  test('no task holds the page up for longer than 200 ms', async () => {
    const { page, problems } = await dashboard.openApart();
    await watchTasks(page);
    await page.goto(dashboard.gateway.url);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    const slow: string[] = [];
    for (const [path, shows] of [
      ['/projects', 'many'],
      [`/projects/${projectId}?tab=keys`, '100 shown; search to find more'],
      ['/customers?range=7d', '100 shown; search to find more'],
      ['/money?range=7d&by=customer', 'Showing 100 of'],
      ['/requests?range=7d', 'demo-chat'],
    ] as const) {
      await page.evaluate(() => window.measured?.tasks.splice(0));
      await visit(page, path);
      await page.getByText(shows).first().waitFor();
      const more = page.getByRole('button', { name: 'Show more' });
      if (await more.isVisible()) await more.click();
      await settled(page);
      const longest = await page.evaluate(() => Math.max(0, ...(window.measured?.tasks ?? []).map(({ ms }) => ms)));
      const slowness = await slownessOf(page, 1);
      if (longest / slowness > LONGEST_TASK_MS) slow.push(`${path}: ${Math.round(longest)} ms, slowness ${slowness}`);
    }
    expect(slow).toEqual([]);
    expect(problems).toEqual([]);
  }, 60_000);
});
