import { describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '@llm0/testing/stores/start-gateway';
import type { Page } from 'playwright-core';
import { settled } from './settled';
import { drained, shareDashboard } from './share-dashboard';

let apiKey: string;
const dashboard = shareDashboard({
  timeoutMs: 10_000,
  fill: async (gateway) => {
    ({ apiKey } = await createTestKey(gateway));
    await send('first of all');
  },
});

const send = async (customer: string, model = 'demo-chat') => {
  const answer = await fetch(`${dashboard.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'x-customer-id': customer,
      'x-llm0-cache': 'off',
    },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await answer.text();
};
const streamOf = (page: Page) => page.waitForResponse((answer) => answer.url().includes('/admin/v1/live'));

describe('events arrive', () => {
  test('a miss is in the live list within two seconds of its answer, once, and nothing polls', async () => {
    const { page, problems } = await dashboard.open('/requests?live=true', { until: streamOf });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    for (const customer of ['seen one', 'seen two']) {
      await send(customer);
      const answeredMs = performance.now();
      await page.getByText(customer).first().waitFor();
      expect(performance.now() - answeredMs).toBeLessThan(2000);
    }
    expect(await page.getByText('seen one').count()).toBe(1);
    // How many there are is asked anew, the list is not.
    expect(asked.filter((url) => url.includes('/logs?') && !url.includes('count=true'))).toEqual([]);
    expect(problems).toEqual([]);
  });

  test('in the background it stops; back again it tells what was missed', async () => {
    const { page, problems } = await dashboard.open('/requests?live=true', { until: streamOf });
    const hide = (hidden: boolean) =>
      page.evaluate((state) => {
        Object.defineProperty(document, 'hidden', { value: state, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, hidden);
    const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('/live'));
    await hide(true);
    await ended;
    await send('while away');
    expect(await page.getByText('while away').count()).toBe(0);
    await hide(false);
    await page.getByText('while away').first().waitFor();
    expect(await page.getByText('while away').count()).toBe(1);
    expect(problems).toEqual([]);
  });

  test('behind a proxy that holds streams back, it is asked for what is new', async () => {
    const { page } = await dashboard.openApart();
    await page.route('**/admin/v1/live?**', async (route) => {
      // Given on when it has ended, as such a proxy does.
      if (route.request().url().includes('once=true')) await route.continue();
    });
    await page.goto(`${dashboard.gateway.url}/requests?live=true`);
    await page.waitForRequest((request) => request.url().includes('once=true'));
    await send('behind a proxy');
    await page.getByText('behind a proxy').first().waitFor();
  });

  test('the counters of the overview follow, and its other numbers are not asked while nothing happens', async () => {
    await drained(dashboard.gateway);
    const { page, problems } = await dashboard.open('/?range=1h', { until: streamOf });
    await page.getByText('Budgets closest to their limit').waitFor();
    await settled(page);
    const count = () =>
      callAdmin<{ requests: number }>(dashboard.gateway, '/stats/overview').then(({ requests }) => requests);
    const before = await count();
    await page.getByText(String(before), { exact: true }).first().waitFor();
    await send('counted');
    await page
      .getByText(String(before + 1), { exact: true })
      .first()
      .waitFor();
    expect(problems).toEqual([]);
  });
});
