import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { hc } from 'hono/client';
import { type AdminUnderTest, ENV_TOKEN, openAdmin } from './admin.fixture';
import type { AdminClient } from './index';

const [database] = ON_ONE_DATABASE;
if (database === undefined) throw new Error('no database to test on');

describe('the typed client the dashboard uses', () => {
  let admin: AdminUnderTest;
  beforeAll(async () => {
    admin = await openAdmin(database);
  }, 60_000);
  afterAll(() => admin.close());

  test('its types are those of the answers', async () => {
    const client = hc('http://gateway.test/v1', {
      headers: { Authorization: `Bearer ${ENV_TOKEN}` },
      fetch: async (input: string | Request | URL, init?: RequestInit) => {
        const url = new URL(String(input));
        return admin.request(url.pathname + url.search, init);
      },
    }) as unknown as AdminClient;
    const created = await client.projects.$post({ json: { name: 'typed', monthly_cap_usd: '0.1' } });
    expect(created.status).toBe(201);
    const project = await created.json();
    const cap: number | null = project.monthly_cap_usd;
    expect(cap).toBe(0.1);
    const key = await (
      await client.projects[':id'].keys.$post({ param: { id: project.id }, json: { name: 'k', allowed_models: ['m'] } })
    ).json();
    const secret: string = key.key;
    expect(secret).toStartWith('llm0_live_');
    const overview = await (await client.stats.overview.$get({ query: { project_id: project.id } })).json();
    const p95: number | null = overview.latency_ms.p95;
    expect([overview.requests, p95]).toEqual([expect.any(Number), null]);
  });
});
