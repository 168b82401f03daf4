import { afterAll, describe, expect, test } from 'bun:test';
import { connectDatabase, type Database } from '@llm0/drizzle/client';
import { insertLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { startFakeUpstream } from '@llm0/testing/fake-upstream/start-fake-upstream';
import { createMigratedDatabase } from '@llm0/testing/stores/create-database';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { createTestKey, type GatewayProcess, startGateway } from '@llm0/testing/stores/start-gateway';
import { startPostgres } from '@llm0/testing/stores/start-postgres';
import { settled } from './settled';
import { drained, shareDashboard, visit } from './share-dashboard';
import { sidewaysOverflow } from './watch-page';

const MANY = 10_000;
/** One screenful after the click, on a machine that does other things too. */
const SOON_MS = 5_000;

let database: Database;
let projectId: string;
let apiKey: string;
const stops: (() => unknown)[] = [];

const dashboard = shareDashboard({ start, fill, timeoutMs: 30_000 });
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

async function start(): Promise<GatewayProcess> {
  const upstream = startFakeUpstream();
  stops.push(() => upstream.stop());
  const databaseUrl = await openServer();
  database = connectDatabase({ url: databaseUrl }, { maxConnections: 2 });
  stops.push(() => database.close());
  const env = { DATABASE_URL: databaseUrl, OPENAI_API_KEY: 'fake', OPENAI_BASE_URL: `${upstream.url}/v1` };
  return startGateway({ env });
}

/** The server tests were given, or one of their own. */
async function openServer(): Promise<string> {
  const given = process.env.TEST_DATABASE_URL;
  if (given !== undefined && given !== '') {
    const own = await createMigratedDatabase(given);
    stops.push(() => own.drop());
    return own.url;
  }
  const server = await startPostgres();
  stops.push(() => server.stop());
  return server.url;
}

/** Keys and customers straight into Postgres: making them by the API would take minutes. */
async function fill(gateway: GatewayProcess): Promise<void> {
  ({ projectId, apiKey } = await createTestKey(gateway, { project: { name: 'many' } }));
  await database.client`
    insert into api_keys (project_id, name, key_hash, key_prefix, budget_usd, created_at)
    select ${projectId}::uuid, 'service ' || i, encode(sha256(convert_to('secret ' || i, 'UTF8')), 'hex'),
      'llm0_live_' || lpad(i::text, 6, '0'), 5, now() - i * interval '1 second'
    from generate_series(1, ${MANY}::int) as i`;
  await database.client`
    insert into customer_spend (project_id, customer_id, date, request_count, tokens_in, tokens_out, total_spend_usd, saved_usd)
    select ${projectId}::uuid, 'customer ' || i, (now() at time zone 'UTC')::date, i, i, i, i * 0.001, 0
    from generate_series(1, ${MANY}::int) as i`;
  const [used] = await database.client<{ id: string }[]>`select id from api_keys where name = 'service 7777'`;
  const record = sampleRecord({ projectId, apiKeyId: used?.id ?? '', costNanoUsd: 1_250_000_000 });
  await insertLogRecords(database.db, [record]);
}

describe('ten thousand of each', () => {
  test('keys come page by page, are found on the server, and each shows what it has used', async () => {
    const { page, problems } = await dashboard.open(`/projects/${projectId}?tab=keys`);
    const rows = page.locator('table', { hasText: 'Starts with' }).locator('tbody tr:has([data-row])');
    await page.getByText('100 shown; search to find more').waitFor();
    expect(await rows.count()).toBe(100);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText('200 shown; search to find more').waitFor();
    const startMs = performance.now();
    await page.getByLabel('Find a key').fill('SERVICE 7777');
    await page.getByRole('row', { name: /service 7777/ }).waitFor();
    await page.getByText('shown; search to find more').waitFor({ state: 'detached' });
    expect(performance.now() - startMs).toBeLessThan(SOON_MS);
    expect(await rows.count()).toBe(1);
    expect(await rows.first().textContent()).toContain('$1.25');
    await page.getByLabel('Find a key').fill('nobody');
    await page.getByText('No matching keys').waitFor();
    expect(await sidewaysOverflow(page)).toBe(0);
    expect(problems).toEqual([]);
  });

  test('customers likewise, the dearest first', async () => {
    const { page, problems } = await dashboard.open('/customers?range=7d');
    const rows = page.locator('tbody tr:has([data-row])');
    await page.getByText('100 shown; search to find more').waitFor();
    expect(await rows.first().textContent()).toContain(`customer ${MANY}`);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText('200 shown; search to find more').waitFor();
    expect(await rows.nth(199).textContent()).toContain(`customer ${MANY - 199}`);
    await page.getByLabel('Find a customer').fill('mer 12');
    await page.getByRole('row', { name: /customer 1299/ }).waitFor();
    expect(await rows.first().textContent()).toContain('customer 1299');
    expect(problems).toEqual([]);
  });

  test('spend by customer and by key: the dearest with their names, the others as one', async () => {
    const { page, problems } = await dashboard.open('/money?range=7d&by=customer');
    const shown = MANY + 1;
    await page.getByText(`Showing 100 of ${shown.toLocaleString('en-US')}`).waitFor();
    await page.getByRole('combobox', { name: 'Group by' }).selectOption('key');
    await page.getByRole('cell', { name: 'service 7777' }).waitFor();
    expect(problems).toEqual([]);
  });

  test.each([
    ['wide', { width: 1280 }],
    ['on a phone', { width: 390, height: 844 }],
  ])('overlong names and markup stay in their place (%s)', async (size, options) => {
    // Text that cannot be broken, nor be packed small by the database.
    const model = Array.from({ length: 5000 / 32 }, () => crypto.randomUUID().replaceAll('-', '')).join('');
    const customer = `${size} <script>alert(1)</script>${'x'.repeat(200)}`;
    const answer = await chat(model, { 'x-customer-id': customer, 'x-llm0-team': '<b onclick=alert(1)>' });
    expect([size, answer.status]).toEqual([size, 404]);
    await drained(dashboard.gateway);
    const { page, problems } = await dashboard.open('/requests?range=1h', options);
    await page.locator('tbody tr', { hasText: model.slice(0, 20) }).click();
    await page.getByText('<b onclick=alert(1)>').first().waitFor();
    expect(await sidewaysOverflow(page)).toBe(0);
    for (const path of [
      '/money?range=1h',
      '/latency?range=1h',
      '/cache?range=1h',
      '/?range=1h',
      '/money?range=1h&by=customer',
    ]) {
      await visit(page, path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await settled(page);
      expect([path, await sidewaysOverflow(page)]).toEqual([path, 0]);
    }
    // What is named in the table leads to its requests, however long it is.
    // So many requests are added up for all who ask within 20 s: the page may be that old.
    const row = page.locator('tbody tr', { hasText: customer.slice(0, 20) });
    for (let tries = 0; tries < 10 && !(await row.isVisible()); tries++) {
      await page.goto(`${dashboard.gateway.url}/money?range=1h&by=customer`);
      await row.waitFor({ timeout: 3000 }).catch(() => {});
    }
    await row.click();
    await page.getByText('1 shown').waitFor();
    expect(problems).toEqual([]);
  });
});

describe('a provider in trouble', () => {
  test('an open breaker shows at its provider, and at the model that has it', async () => {
    const fail = () => chat('gpt-4o-mini', {}, { status: 500 });
    for (let index = 0; index < 6; index++) await fail();
    // Its probes fail as well: it is open for longer than a busy machine needs to draw a page.
    const failing = setInterval(() => void fail(), 200);
    try {
      const { page, problems } = await dashboard.open('/routing');
      const row = page.getByRole('row', { name: /openai.*paused/ });
      await row.waitFor();
      await row.click();
      await page.getByText(/paused, retries in \d+ s/).waitFor();
      expect(await page.getByRole('dialog').textContent()).toContain('gpt-4o-mini');
      expect(problems).toEqual([]);
    } finally {
      clearInterval(failing);
    }
  });
});

const chat = (model: string, headers: Record<string, string>, fake: object = {}) =>
  fetch(`${dashboard.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'x-llm0-cache': 'off',
      ...headers,
    },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], x_fake: fake }),
  });
