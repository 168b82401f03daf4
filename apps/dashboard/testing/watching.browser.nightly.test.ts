import { describe, expect, test } from 'bun:test';
import { callAdmin } from '@llm0/testing/stores/start-gateway';
import { settled } from './settled';
import { shareWatched } from './share-watched';

const { dashboard, send, signedIn } = shareWatched();

describe('the address', () => {
  test('tabs and metrics stand in it, and every page has a title of its own', async () => {
    const { page, problems } = await signedIn('/latency');
    await page.getByRole('heading', { level: 1, name: 'Latency' }).waitFor();
    expect(await page.title()).toBe('Latency · LLM0 Gateway');
    await page.getByRole('button', { name: 'First token', exact: true }).click();
    await page.getByRole('button', { name: 'By provider' }).click();
    await page.waitForURL(/metric=ttft.*compared=provider/);
    await page.reload();
    await page.getByRole('button', { name: 'First token', exact: true, pressed: true }).waitFor();
    await page.getByRole('button', { name: 'By provider', pressed: true }).waitFor();
    await page.goto(`${dashboard.gateway.url}/settings`);
    await page.getByRole('heading', { level: 1, name: 'Access & system' }).waitFor();
    expect(await page.title()).toBe('Access & system · LLM0 Gateway');
    await page.getByRole('tab', { name: 'Job runs' }).click();
    await page.waitForURL(/tab=jobs/);
    expect(problems).toEqual([]);
  });
});

describe('the menu', () => {
  const SECTIONS = {
    Watch: ['Overview', 'Requests', 'Runs', 'Batches', 'Latency', 'Cache', 'Alerts'],
    Money: ['Spend & statements', 'Customers'],
    Control: ['Projects & keys', 'Models', 'Routing', 'Guardrails', 'Tools', 'HTTP backends'],
    Try: ['My keys', 'Playground'],
    Admin: ['Audit', 'Teams & people', 'Access & system'],
  };

  test('has sections, and says where one is; every page has the name that led to it, also on a phone', async () => {
    const { page, problems } = await signedIn('/');
    const menu = page.getByRole('navigation', { name: 'Pages' });
    await menu.waitFor();
    for (const [section, pages] of Object.entries(SECTIONS)) {
      const links = menu.getByRole('list', { name: section }).getByRole('link');
      expect([section, await links.allTextContents()]).toEqual([section, pages]);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    for (const name of Object.values(SECTIONS).flat()) {
      await page.getByRole('button', { name: 'Menu', exact: true }).click();
      const link = menu.getByRole('link', { name, exact: true });
      expect([name, await link.isVisible()]).toEqual([name, true]);
      await link.click();
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      expect(await page.locator('nav [aria-current=page]').textContent()).toBe(name);
    }
    expect(problems).toEqual([]);
  });

  test('addresses of earlier versions lead to their pages, with what they ask for', async () => {
    const { page, problems } = await signedIn('/spend?range=7d&by=customer');
    const shown = () => {
      const { pathname, searchParams } = new URL(page.url());
      return [pathname, Object.fromEntries(searchParams)];
    };
    await page.getByRole('button', { name: 'Customer', pressed: true }).first().waitFor();
    expect(shown()).toEqual(['/money', { range: '7d', by: 'customer' }]);
    for (const [path, heading, place, search] of [
      [
        '/finance?month=2026-01&by=model',
        'Spend & statements',
        '/money',
        { month: '2026-01', by: 'model', tab: 'statement' },
      ],
      ['/settings?tab=audit', 'Audit', '/audit', {}],
      ['/settings?tab=backends&open=new', 'HTTP backends', '/backends', { open: 'new' }],
      ['/projects?tab=customers&range=7d', 'Customers', '/customers', { range: '7d' }],
    ] as const) {
      await page.goto(dashboard.gateway.url + path);
      await page.getByRole('heading', { level: 1, name: heading, includeHidden: true }).waitFor();
      expect(shown()).toEqual([place, search]);
    }
    expect(problems).toEqual([]);
  });
});

describe('two people at the same project', () => {
  test('changes of other fields stay, the same field is shown with both versions', async () => {
    const made = await callAdmin<{ id: string }>(dashboard.gateway, '/projects', {
      body: { name: 'shared', monthly_cap_usd: 10 },
    });
    const path = `/projects/${made.id}`;
    const { page, problems } = await signedIn(`${path}?tab=limits`);
    const cap = page.getByLabel('Monthly cap, USD');
    await cap.waitFor();
    await callAdmin(dashboard.gateway, path, { method: 'PATCH', body: { cache_ttl_seconds: 77 } });
    await cap.fill('20');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('Saved. Changes apply').waitFor();
    type Shared = { monthly_cap_usd: number; cache_ttl_seconds: number };
    expect(await callAdmin<Shared>(dashboard.gateway, path)).toMatchObject({
      monthly_cap_usd: 20,
      cache_ttl_seconds: 77,
    });

    await page.reload();
    await cap.waitFor();
    await callAdmin(dashboard.gateway, path, { method: 'PATCH', body: { monthly_cap_usd: 5 } });
    await cap.fill('30');
    await page.getByRole('button', { name: 'Save settings' }).click();
    const note = page.getByRole('alert').filter({ hasText: 'Someone else changed this' });
    await note.getByRole('row', { name: 'Monthly cap, USD 30 5' }).waitFor();
    expect((await callAdmin<Shared>(dashboard.gateway, path)).monthly_cap_usd).toBe(5);
    await note.getByRole('button', { name: 'Keep mine' }).click();
    await page.getByRole('button', { name: 'Save settings' }).click();
    await note.waitFor({ state: 'detached' });
    await page.getByText('Saved. Changes apply').waitFor();
    expect((await callAdmin<Shared>(dashboard.gateway, path)).monthly_cap_usd).toBe(30);
    expect(problems).toEqual([]);
  });
});

describe('prompts and answers', () => {
  test('a viewer is told that they are not for its token; an admin reads them', async () => {
    const answer = await send({ messages: [{ role: 'user', content: 'a secret of the house' }] });
    const path = `/requests?open=${answer.headers.get('x-request-id')}`;
    const bodies = `/logs/${answer.headers.get('x-request-id')}/bodies`;
    while (
      await callAdmin(dashboard.gateway, bodies).then(
        () => false,
        () => true,
      )
    )
      await Bun.sleep(50);
    const asAdmin = await signedIn(path);
    await asAdmin.page.getByText('a secret of the house').first().waitFor();
    const body = { name: 'looks only', role: 'viewer' };
    const { token: adminToken } = await callAdmin<{ token: string }>(dashboard.gateway, '/tokens', { body });
    const { page, problems } = await dashboard.openApart({ adminToken });
    await page.goto(dashboard.gateway.url + path);
    await page.getByText('Your token may not read prompts and answers').waitFor();
    expect(await page.getByText('a secret of the house').count()).toBe(0);
    expect(problems).toEqual([]);
  });
});

describe('trouble', () => {
  test('a gateway that is away is said once, with how old what is shown is; what was known stays', async () => {
    const { page } = await dashboard.openApart();
    await page.clock.install();
    await page.goto(`${dashboard.gateway.url}/?range=24h`);
    await page.getByRole('img', { name: /^Requests by status/ }).waitFor();
    await settled(page);
    await page.route('**/admin/v1/**', (route) => route.abort());
    // Half a minute later: the range has moved on, and all of it is asked anew.
    await page.clock.runFor(61_000);
    await page.getByText(/cannot be reached.*as of \d{4}-\d\d-\d\d/).waitFor();
    await page.clock.runFor(10_000);
    expect(await page.getByRole('alert').count()).toBe(1);
    await page.getByRole('img', { name: /^Requests by status/ }).waitFor();
    // Of another range nothing is known, and that is said, too.
    await page.getByRole('button', { name: 'Time range' }).click();
    await page.getByRole('button', { name: '7 days', exact: true }).click();
    await page.clock.runFor(10_000);
    await page.getByText('No data for this range yet').first().waitFor();
    expect(await page.getByRole('alert').count()).toBe(1);
    await page.unroute('**/admin/v1/**');
    // Nobody has to press "Try again", nor to wait for the next question.
    await page.clock.runFor(6_000);
    await page.getByText('cannot be reached').waitFor({ state: 'detached' });
  });

  test('a page that was not visited opens while the gateway is away, or offers to try again', async () => {
    const { page } = await signedIn('/');
    await page.getByRole('img', { name: /^Requests by status/ }).waitFor();
    await page.route('**/assets/**', (route) => route.abort());
    await page.route('**/', (route) => route.abort());
    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByRole('alert').filter({ hasText: 'cannot be reached' }).waitFor();
    await page.getByRole('link', { name: 'Overview' }).waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor();
    await signedIn('/');
    // Idle time loads the other pages.
    await page.waitForFunction(() =>
      performance.getEntriesByType('resource').some(({ name }) => /playground-page/.test(name)),
    );
    await page.route('**/assets/**', (route) => route.abort());
    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor();
    await page.unrouteAll();
    await page.goto(`${dashboard.gateway.url}/plaground`);
    await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
  });

  test('an outage leaves a mark: requests by status, the error rate, and the open breaker with who was spared', async () => {
    const { page, problems } = await signedIn('/');
    await page.getByRole('img', { name: /^Requests by status.*Failed/ }).waitFor();
    await page.getByRole('img', { name: /^Error rate/ }).waitFor();
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const open = [
      { provider: 'openai', models: ['gpt-4o'], since, retry_at: since, answered_elsewhere: 41, is_drained: false },
    ];
    await page.route('**/admin/v1/status', (route) =>
      route.fulfill({ json: { hot_store: { kind: 'redis', ok: false }, open } }),
    );
    await page.reload();
    await page.getByText(`openai: paused since ${since.slice(11, 16)} UTC`).waitFor();
    await page.getByText('Redis is not responding').waitFor();
    await page.getByRole('link', { name: '41 requests answered elsewhere' }).click();
    await page.waitForURL(/failover_from=openai/);
    await page.getByText('Answered elsewhere than: openai').waitFor();
    expect(problems).toEqual([]);
  });
});
