import { afterAll, describe, expect, test } from 'bun:test';
import { startHttpBackend } from '@llm0/testing/fake-upstream/start-http-backend';
import { callAdmin, createTestKey } from '@llm0/testing/stores/start-gateway';
import { WIDTHS } from './looks';
import { drained, shareDashboard, visit } from './share-dashboard';

const backend = startHttpBackend();
const dashboard = shareDashboard({ env: { EGRESS_ALLOW: '127.0.0.1', PY_SERVICE_URL: backend.url } });
afterAll(() => backend.stop());

interface Shown {
  readonly name: string;
  readonly retries: number;
  readonly price_per_request_usd: number;
  readonly cache: { readonly enabled: boolean; readonly ttl_seconds: number | null };
}

const stored = async (name: string): Promise<Shown | undefined> =>
  (await callAdmin<{ data: Shown[] }>(dashboard.gateway, `/backends?name=${name}`)).data[0];

describe.each([...WIDTHS])('HTTP backends, %d px wide', (width) => {
  test('one is added, tested, changed and deleted; that of the environment stands beside it', async () => {
    const name = `rerank-${width}`;
    const { page, problems } = await dashboard.open('/backends', { width });
    await page.getByText('environment', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Add backend' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByLabel('URL').fill('http://10.0.0.1');
    await dialog.getByRole('button', { name: 'Add backend' }).click();
    // What the gateway refuses is said at the field.
    await dialog.getByText('leads to an address that is not public').waitFor();
    await dialog.getByLabel('URL').fill(backend.url);
    await dialog.getByLabel('Price per request, USD').fill('0.0025');
    await dialog.getByLabel('Headers').fill('X-Tenant=gateway');
    await dialog.getByRole('button', { name: 'Add backend' }).click();
    await page.getByText(`Added. It is reached at /infer/${name}/`).first().waitFor();
    expect(await stored(name)).toMatchObject({
      price_per_request_usd: 0.0025,
      cache: { enabled: true, ttl_seconds: null },
    });

    await page.getByRole('link', { name }).click();
    const opened = page.getByRole('dialog');
    await opened.getByText('Stored headers: X-Tenant').waitFor();
    await opened.getByRole('button', { name: 'Test connection' }).click();
    await opened.getByText('Answered 200 in').waitFor();
    expect(backend.seen.at(-1)?.headers['x-tenant']).toBe('gateway');
    await opened.getByLabel('Retries').fill('0');
    await opened.getByLabel('Keep for, seconds').fill('30');
    await opened.getByLabel('Answers to GET').selectOption('false');
    await opened.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Saved. Changes apply').first().waitFor();
    expect(await stored(name)).toMatchObject({ retries: 0, cache: { enabled: false, ttl_seconds: 30 } });
    await opened.getByRole('button', { name: 'Delete backend' }).click();
    await page.getByText('are answered with 404 from now on').waitFor();
    await page.getByRole('button', { name: 'Delete backend' }).last().click();
    await page.getByText('Backend deleted').first().waitFor();
    expect(await stored(name)).toBeUndefined();
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    // What was refused above.
    expect(problems.filter((problem) => !problem.includes('status of 400'))).toEqual([]);
  }, 60_000);
});

test('what a backend answered is in its row, and in the spend of its team', async () => {
  const { gateway } = dashboard;
  await callAdmin(gateway, '/backends', {
    body: { name: 'priced', url: backend.url, price_per_request_usd: 0.4, cache: { enabled: false } },
  });
  const team = await callAdmin<{ id: string }>(gateway, '/teams', { body: { name: 'Support', monthly_cap_usd: 0.5 } });
  const { apiKey } = await createTestKey(gateway, { project: { team_id: team.id } });
  const answer = await fetch(`${gateway.url}/infer/priced/anything`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  expect(answer.status).toBe(200);
  await drained(gateway);
  // Nobody asked for this range before: the gateway shares an answer for 20 s.
  const { page, problems } = await dashboard.open('/backends?range=1h');
  const cells = (name: string) => page.getByRole('row', { name }).getByRole('cell').allInnerTexts();
  await page.getByRole('row', { name: 'priced' }).getByText('0.0 %').waitFor();
  expect((await cells('priced')).slice(2, 4)).toEqual(['1', '0 (0.0 %)']);
  await visit(page, '/teams');
  await page.getByRole('row', { name: 'Support' }).getByText('$0.40', { exact: true }).waitFor();
  expect(await cells('Support')).toContain('$0.50 a month');
  expect(problems).toEqual([]);
});
