import { describe, expect, test } from 'bun:test';
import { batchClient, makeBatch, readUntil } from '@llm0/testing/e2e/run-batch';
import { createTestKey } from '@llm0/testing/stores/start-gateway';
import { WIDTHS } from './looks';
import { shareDashboard } from './share-dashboard';

const dashboard = shareDashboard();

describe.each([...WIDTHS])('batches, %d px wide', (width) => {
  test('one that has ended shows its reason, its key and its requests', async () => {
    const { apiKey } = await createTestKey(dashboard.gateway, { key: { rate_limit_per_minute: null } });
    const client = () => batchClient(dashboard.gateway, apiKey);
    const made = await makeBatch(client(), 3, { model: 'demo/demo-chat' });
    await readUntil(client, made.id);
    const { page, problems } = await dashboard.open('/batches', { width });
    await page.getByRole('row').filter({ hasText: made.id }).getByRole('link').first().click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText('3 of 3 lines completed').waitFor();
    await drawer.getByText(/^Key /).waitFor();
    await drawer.getByRole('link', { name: 'Requests of this batch' }).click();
    await page.waitForURL((url) => url.pathname.endsWith('/requests') && url.search.includes(made.id));
    await page.getByRole('row').nth(3).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    expect(problems).toEqual([]);
  }, 60_000);
});
