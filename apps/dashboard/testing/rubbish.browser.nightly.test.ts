import { beforeAll, describe, expect, test } from 'bun:test';
import { createTestKey, type GatewayProcess } from '@llm0/testing/stores/start-gateway';
import type { Page } from 'playwright-core';
import { PAGES } from './pages';
import { settled } from './settled';
import { drained, shareDashboard, visit } from './share-dashboard';

/** What people paste, mistype, or call things. */
const NAMES = [
  '<script>window.hit = 1</script>',
  '"><img src=x onerror="window.hit = 1">',
  '\u202egnp.exe',
  'Zoë 👩‍👩‍👧 naïve — “quoted”',
  "Robert'); DROP TABLE projects;--",
  '=HYPERLINK("http://evil.example","x")',
  'a\tb   c',
  '{{7*7}} #{7*7} %00 %2e%2e/',
];
const RUBBISH: Readonly<Record<string, readonly string[]>> = {
  range: ['zzz', '0d', '-1d', '9999999d'],
  from: ['notadate', '2026-13-45', '-1', '9999999999999999'],
  to: ['1970-01-01T00:00:00Z', 'x'],
  tz: ['Mars/Phobos', 'utc\u0000'],
  project: ['not-a-uuid', '00000000-0000-0000-0000-000000000000'],
  tab: ['zzz', '__proto__', 'constructor', 'statement'],
  open: ['zzz', '00000000-0000-0000-0000-000000000000', '../../etc', '"><script>'],
  sort: ['evil', '-cost_usd;drop', 'created_at'],
  status: ['bogus', '["a","b"]', '{"a":1}'],
  by: ['zzz', 'constructor', 'label:', 'label:\u0000'],
  month: ['2026-13', '0000-00', '99999-01'],
  label: ['=', 'a', 'a=b=c', '='.repeat(500)],
  min_cost: ['NaN', '1e999', '-5', '1,50'],
  q: ['%', '\\', '\u0000', 'x'.repeat(5000)],
  server: ['__proto__', '%00'],
  run: ['\u0000', 'x'.repeat(300)],
};

const ROUNDS = Math.max(...Object.values(RUBBISH).map(({ length }) => length));

let page: Page;
let problems: string[];
const dashboard = shareDashboard({ fill });
beforeAll(async () => {
  ({ page, problems } = await dashboard.open());
});

async function fill(gateway: GatewayProcess): Promise<void> {
  for (const name of NAMES) {
    const { apiKey } = await createTestKey(gateway, { project: { name }, key: { name } });
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'x-customer-id': encodeURIComponent(name).slice(0, 100),
      },
      body: JSON.stringify({ model: 'demo-chat', messages: [{ role: 'user', content: name }] }),
    });
    await answer.text();
  }
  await drained(gateway);
}

/** The gateway says no to some of it, and the page says so: that is no fault of the page. */
const ownFaults = () => problems.filter((problem) => !/\b(?:400|404)\b/.test(problem));

describe('an address that makes no sense', () => {
  test.each(PAGES.map(({ name, path, heading }) => [name, path, heading] as const))(
    '%s stays a page that can be read',
    async (_name, path, heading) => {
      const [place = '/', given = ''] = path.split('?');
      const wrong: string[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        problems.length = 0;
        const query = new URLSearchParams(given);
        for (const [name, values] of Object.entries(RUBBISH)) query.set(name, values[round % values.length] ?? '');
        await visit(page, `${place}?${query}`);
        const shown = page.getByRole('heading', { level: 1, name: heading, includeHidden: true });
        await shown.waitFor({ timeout: 3000 }).catch(() => wrong.push(`round ${round}: no heading`));
        await settled(page);
        // The list repeats what it ignores, as it stands in the address.
        const repeated = await page.getByRole('status').locator('code').allTextContents();
        const all = (await page.locator('body').textContent()) ?? '';
        const text = repeated.reduce((rest, one) => rest.replace(one, ''), all);
        const odd = /.{0,40}(?:\bNaN\b|undefined|\[object |Invalid Date|Something went wrong).{0,40}/.exec(text)?.[0];
        if (odd !== undefined) wrong.push(`round ${round}: ${odd}`);
        wrong.push(...ownFaults().map((problem) => `round ${round}: ${problem}`));
        if (wrong.length > 0) await page.goto(dashboard.gateway.url);
      }
      expect(wrong).toEqual([]);
    },
    60_000,
  );
});

test('names are shown as they are, and nothing in them runs', async () => {
  problems.length = 0;
  for (const path of [
    '/projects',
    '/requests?range=24h',
    '/money?range=24h&by=project',
    '/money?tab=statement',
    '/?range=24h',
    '/customers',
  ]) {
    await visit(page, path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await settled(page);
  }
  await visit(page, '/projects');
  for (const name of NAMES.slice(0, 5)) await page.getByText(name, { exact: true }).first().waitFor();
  expect(await page.evaluate(() => 'hit' in window)).toBe(false);
  expect(problems).toEqual([]);
}, 60_000);
