// An operator on day one and an SRE at three in the morning, each with a whole job, by keyboard alone.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startFakeUpstream } from '@llm0/testing/fake-upstream/start-fake-upstream';
import { callAdmin, createTestKey, type GatewayProcess, startGateway } from '@llm0/testing/stores/start-gateway';
import { ensureDashboard } from '../../gateway/bin/ensure-dashboard';
import { requestDetail } from './dialogs';
import { openBrowser, type PageOptions } from './open-browser';
import { drained } from './share-dashboard';
import { goTo, localStamp, sitDown } from './sit-down';

const WIDE = 1440;
const PHONE = 390;
if (!(await ensureDashboard())) throw new Error('the dashboard could not be built');
const browser = openBrowser();
const upstream = startFakeUpstream();
const hook = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('ok') });

afterAll(async () => {
  await browser.close();
  await Promise.all([upstream.stop(), hook.stop(true)]);
});

async function ask(gateway: GatewayProcess, key: string, model: string, said = 'Hello') {
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-llm0-cache': 'off' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: said }] }),
  });
  const body = (await answer.json()) as { choices?: { message: { content: string } }[] };
  return { status: answer.status, id: answer.headers.get('x-request-id') ?? '', body };
}

describe('an operator on day one', () => {
  test.each([
    [WIDE, 'Europe/Berlin'],
    [PHONE, 'Asia/Tokyo'],
    [WIDE, 'America/Los_Angeles'],
  ])(
    'from signing in to a key that is revoked, at %i px in %s',
    async (width, timeZone) => {
      const gateway = await startGateway({ env: { DEMO_PROVIDER: 'on', EGRESS_ALLOW: '127.0.0.1' } });
      try {
        await firstDay(gateway, { width, timeZone });
      } finally {
        await browser.closePages();
        await gateway.stop();
      }
    },
    120_000,
  );
});

async function firstDay(gateway: GatewayProcess, options: PageOptions): Promise<void> {
  const { page, keys, problems } = await sitDown({ browser, gateway }, options, 'Welcome');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  const gone = (name: string) => page.getByRole('dialog', { name }).waitFor({ state: 'detached' });

  // What the page of welcome shows: a key and an answer, without leaving it.
  await keys.choose('Create key');
  await page.getByText('Your key, shown only once').waitFor();
  await keys.landed('the key was made');
  await keys.choose('Send from here');
  await page.getByRole('region', { name: 'Answer' }).getByText('demo-chat answered').waitFor();
  await keys.landed('the answer has come');
  await keys.choose('Go to the overview');
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await keys.landed('the welcome is over');

  // A provider of their own.
  await goTo(page, keys, 'Routing');
  await keys.choose('Add provider', { role: 'button' });
  await keys.write('Name', 'house');
  await keys.press('Tab');
  await keys.write('Base URL', upstream.baseUrl);
  await keys.write('Key', 'sk-house');
  await keys.press('Enter');
  await page.getByText('Provider added').waitFor();
  await gone('Add a provider');
  expect((await keys.landed('the provider was added')).name).toBe('Add provider');
  const { data: providers } = await callAdmin<{ data: { name: string; base_url: string }[] }>(gateway, '/providers');
  expect(providers.find(({ name }) => name === 'house')?.base_url).toBe(upstream.baseUrl);

  // An alias of two targets, by share.
  await keys.openTab('Aliases', { back: true });
  await keys.choose('New alias');
  await keys.write('Alias', 'smart');
  await keys.select('Order of targets', 'by share');
  await keys.write('Provider of target 1', 'demo');
  await keys.write('Model of target 1', 'demo-chat');
  await keys.write(/^Share of target 1/, '100');
  await keys.choose('Create alias');
  await page.getByText('Alias saved').waitFor();
  await gone('New alias');
  await keys.landed('the alias was made');

  // A project with a cap, and a key that is shown once.
  await goTo(page, keys, 'Projects & keys');
  await keys.choose('New project');
  await keys.write('Name', 'Search');
  await keys.write('Monthly cap, USD', '25');
  await page.getByText('= $25.00 a month').waitFor();
  await keys.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor();
  await keys.landed('the project was made');
  await keys.choose('New key');
  await keys.write('Name', 'web');
  await keys.write('Requests per minute', '60');
  await keys.write('Budget, USD', '1.50');
  await page.getByText('= $1.50 in total').waitFor();
  await keys.choose('Create key');
  await page.getByRole('dialog', { name: 'Key web' }).waitFor();
  await keys.landed('the key was made');
  await keys.press('Escape');
  await page.getByText('You have not copied it yet').waitFor();
  await keys.choose(/^Copy/);
  await page.getByText('Copied', { exact: true }).waitFor();
  const secret = await copied();
  expect(secret).toMatch(/^llm0_live_[0-9a-f]{64}$/);
  await keys.press('Escape');
  await gone('Key web');
  expect((await keys.landed('the secret was copied')).name).toBe('New key');

  // Its first request, asked from outside, and read on the page while it comes.
  await goTo(page, keys, 'Requests');
  await keys.choose('Live', { role: 'button' });
  const first = await ask(gateway, secret, 'smart');
  expect([first.status, typeof first.body.choices?.[0]?.message.content]).toEqual([200, 'string']);
  await page.locator(`tbody a[href*="${first.id}"]`).waitFor();
  await page.keyboard.press('j');
  await keys.press('Enter');
  const drawer = requestDetail(page);
  await drawer.getByText('Gateway overhead').waitFor();
  expect(await drawer.textContent()).toContain(first.id);
  await keys.press('Escape');
  await drawer.waitFor({ state: 'detached' });
  await keys.landed('the request was closed');

  // Somebody is told before the cap is reached.
  await goTo(page, keys, 'Alerts');
  await keys.choose('New alert');
  await keys.write('Name', 'A cap is near');
  await keys.write('Budget used, %', '90');
  await keys.select('Project', 'Search');
  await keys.write('Webhook', hook.url.href);
  await keys.choose('Create alert');
  await page.getByRole('cell', { name: 'A cap is near' }).waitFor();
  await keys.landed('the alert was made');
  const { data: alerts } = await callAdmin<{ data: { threshold: number; project_id: string }[] }>(gateway, '/alerts');
  expect(alerts.map(({ threshold }) => threshold)).toEqual([0.9]);

  // The key is rotated and revoked, each after a question; what was refused is refused at once.
  await goTo(page, keys, 'Projects & keys');
  await keys.choose('Search', { role: 'link' });
  await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor();
  await keys.landed('the project was opened');
  await keys.openTab('Keys');
  // On a phone, its last use is in the same cell.
  await keys.choose(/^web/, { role: 'link' });
  await keys.choose('Rotate');
  await page.getByText('It sent 1 request in the last hour').waitFor();
  await keys.select('The old secret', 'ends with the next request');
  await keys.choose('Rotate now');
  await page.getByRole('dialog', { name: 'Key web' }).waitFor();
  await keys.choose(/^Copy/);
  await page.getByText('Copied', { exact: true }).waitFor();
  const second = await copied();
  expect([(await ask(gateway, secret, 'smart')).status, (await ask(gateway, second, 'smart')).status]).toEqual([
    401, 200,
  ]);
  await keys.press('Escape');
  await gone('Key web');
  await keys.landed('the new secret was copied');
  // On a phone, its last use is in the same cell.
  await keys.choose(/^web/, { role: 'link' });
  await keys.choose('Revoke');
  await keys.choose('Revoke now');
  await page.getByText('Key revoked').waitFor();
  await gone('web');
  await keys.landed('the key was revoked');
  expect((await ask(gateway, second, 'smart')).status).toBe(401);
  expect(problems).toEqual([]);
}

const ELSEWHERE = 7;
const FAILED = 3;
const HALF_AN_HOUR = 1_800_000;

describe('an SRE at three in the morning', () => {
  /** A vendor that is down. */
  const down = Bun.serve({ port: 0, fetch: () => Response.json({ error: { message: 'down' } }, { status: 500 }) });
  let gateway: GatewayProcess;
  let apiKey: string;
  beforeAll(async () => {
    gateway = await startGateway({
      env: {
        ...{ LOG_BODIES: 'true', OPENAI_API_KEY: 'fake', OPENAI_BASE_URL: `${down.url.origin}/v1` },
        ...{ ANTHROPIC_API_KEY: 'fake', ANTHROPIC_BASE_URL: upstream.url },
      },
    });
    ({ apiKey } = await createTestKey(gateway));
    const targets = [
      { provider: 'openai', model: 'gpt-4o' },
      { provider: 'anthropic', model: 'claude-sonnet-4-5' },
    ];
    await callAdmin(gateway, '/annotations', { body: { text: 'web 1.2', kind: 'deploy' } });
    for (const alias of ['safe', 'safe2', 'safe3']) await callAdmin(gateway, '/aliases', { body: { alias, targets } });
    for (let at = 0; at < ELSEWHERE; at++) {
      expect((await ask(gateway, apiKey, 'safe', `Is it night ${at}?`)).status).toBe(200);
    }
    // The other vendor fails for a moment. All of them in one bar of half an hour.
    const leftMs = HALF_AN_HOUR - (Date.now() % HALF_AN_HOUR);
    if (leftMs < 5000) await Bun.sleep(leftMs);
    upstream.control.setDefault({ status: 500 });
    for (let at = 0; at < FAILED; at++) expect((await ask(gateway, apiKey, 'claude-sonnet-4-5')).status).toBe(502);
    upstream.control.setDefault({});
    await callAdmin(gateway, '/providers/anthropic/test', { body: {} });
    await drained(gateway);
  }, 60_000);
  afterAll(async () => {
    await gateway?.stop();
    await down.stop(true);
  });

  test.each([
    [PHONE, 'Europe/Berlin', 'safe'],
    [WIDE, 'Asia/Tokyo', 'safe2'],
    [PHONE, 'America/Los_Angeles', 'safe3'],
  ])(
    'from the banner to the mended route, at %i px in %s',
    async (width, timeZone, alias) => {
      const at = { gateway, apiKey, alias, timeZone };
      await threeInTheMorning(at, { width, timeZone }).finally(() => browser.closePages());
    },
    120_000,
  );
});

interface Night {
  readonly gateway: GatewayProcess;
  readonly apiKey: string;
  readonly alias: string;
  readonly timeZone: string;
}
interface Logged {
  readonly data: readonly { readonly request_id: string }[];
  readonly count: { readonly rows: number };
}

async function threeInTheMorning({ gateway, apiKey, alias, timeZone }: Night, options: PageOptions): Promise<void> {
  const { page, keys, problems } = await sitDown({ browser, gateway }, options, 'Overview');
  const shown = (ids: readonly string[]) =>
    page.waitForFunction((wanted) => {
      const hrefs = [...document.querySelectorAll('tbody a[data-row]')].map((link) => link.getAttribute('href') ?? '');
      return hrefs.length === wanted.length && wanted.every((id, at) => hrefs[at]?.includes(id));
    }, ids);
  const asked = () => {
    const { searchParams } = new URL(page.url());
    const kept = ['from', 'to', 'status', 'outcome', 'failover_from', 'provider'].flatMap((name) =>
      searchParams.getAll(name).map((value): [string, string] => [name, value]),
    );
    return callAdmin<Logged>(gateway, `/logs?${new URLSearchParams([...kept, ['count', 'true']])}`);
  };

  // What is wrong, since when: in UTC, and on the clock of this room.
  const { open } = await callAdmin<{ open: { since: string }[] }>(gateway, '/status');
  const since = open[0]?.since ?? '';
  await page.getByText(`openai: paused since ${since.slice(11, 16)} UTC`).waitFor();
  await keys.choose('Times are shown in UTC. Switch time zone');
  await page.getByText(`openai: paused since ${localStamp(since, timeZone).slice(11)} (gpt-4o)`).waitFor();

  // Errors over time, and from the bar to exactly its requests.
  await keys.tabTo('Error rate: point in time');
  await keys.press('End');
  const bar = page.getByRole('slider', { name: 'Error rate: point in time' });
  const say = async () => (await bar.getAttribute('aria-valuetext')) ?? '';
  // A bar of its own may have begun since: the last one with errors is it.
  while (!/Failed (?:[1-9]|0\.[1-9])/.test(await say()) && (await bar.getAttribute('aria-valuenow')) !== '0') {
    await keys.press('ArrowLeft');
  }
  const said = await say();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
  await keys.landed('the bar led to its requests');
  const from = new URL(page.url()).searchParams.get('from') ?? '';
  expect(said).toStartWith(localStamp(from, timeZone));
  const failed = await asked();
  expect(failed.count.rows).toBe(FAILED);
  await shown(failed.data.map(({ request_id: id }) => id));

  // What happened at the time, on the clock of this room.
  await goTo(page, keys, 'Overview');
  await keys.choose(/^\d+ events? marked on the charts/);
  const { data: told } = await callAdmin<{ data: { at: string; text: string }[] }>(gateway, '/annotations');
  const deploy = told.find(({ text }) => text === 'web 1.2')?.at ?? '';
  const listed = page.getByRole('list', { name: 'Events marked on the charts' });
  await listed.getByText('Deploy: web 1.2').waitFor();
  expect(await listed.textContent()).toContain(localStamp(deploy, timeZone));

  // Those whom others answered, narrowed further.
  await keys.choose(/requests answered elsewhere$/);
  await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
  await keys.landed('the banner led to its requests');
  const elsewhere = await asked();
  expect(elsewhere.count.rows).toBe(ELSEWHERE);
  await keys.choose('Filter', { role: 'button' });
  await keys.choose('Provider', { role: 'button' });
  await page.getByRole('listbox').getByRole('option').first().waitFor();
  await keys.press('ArrowDown');
  await keys.press('Enter');
  await page.waitForURL(/provider=/);
  await keys.press('Escape');
  const narrowed = await asked();
  await shown(narrowed.data.map(({ request_id: id }) => id));

  // One is opened and read, the next one, and back to its row.
  const [first, second] = narrowed.data.map(({ request_id: id }) => id);
  await page.keyboard.press('j');
  await keys.press('Enter');
  const drawer = requestDetail(page);
  await drawer.getByText('openai/gpt-4o').first().waitFor();
  await drawer.getByText('anthropic/claude-sonnet-4-5').first().waitFor();
  await drawer
    .getByText(/^Is it night \d\?$/)
    .first()
    .waitFor();
  expect(await drawer.textContent()).toContain(first ?? '');
  await keys.press('j');
  await drawer
    .getByText(second ?? '')
    .first()
    .waitFor();
  await keys.press('k');
  await drawer
    .getByText(first ?? '')
    .first()
    .waitFor();
  await keys.press('Escape');
  await drawer.waitFor({ state: 'detached' });
  await page.waitForFunction((id) => document.activeElement?.getAttribute('href')?.includes(String(id)), first);

  // The route is mended, and the next request is seen to take it while one watches.
  await goTo(page, keys, 'Routing');
  await keys.openTab('Aliases');
  await keys.choose(`Edit ${alias}`);
  await keys.write('Provider of target 1', 'anthropic');
  await keys.write('Model of target 1', 'claude-sonnet-4-5');
  await keys.choose('Remove target 2');
  await keys.choose('Save alias');
  await page.getByText('Alias saved').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect((await keys.landed('the alias was saved')).name).toBe(`Edit ${alias}`);
  await goTo(page, keys, 'Requests');
  await keys.choose('Live', { role: 'button' });
  const next = await ask(gateway, apiKey, alias);
  await page.locator(`tbody a[href*="${next.id}"]`).waitFor();
  const log = await callAdmin<{ final_provider: string; attempts: readonly unknown[] }>(gateway, `/logs/${next.id}`);
  expect([next.status, log.final_provider, log.attempts.length]).toEqual([200, 'anthropic', 1]);
  expect(problems).toEqual([]);
}
