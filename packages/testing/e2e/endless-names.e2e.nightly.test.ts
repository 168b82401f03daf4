import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { allLogs, ask, logRow, postChat, STORE_KINDS, shareEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;

interface Refusal {
  readonly error: { readonly code: string; readonly param: string | null; readonly retry_after?: number };
}

for (const kind of STORE_KINDS) {
  describe(`names without end on ${kind} stores`, () => {
    let world: TestEnvironment;
    beforeAll(async () => {
      world = await shareEnvironment({ kind, apart: true });
    }, SETUP_MS);
    afterAll(() => world.close(), SETUP_MS);

    const metrics = async () => (await fetch(`${world.gateway.url}/metrics`)).text();

    test('invented models are one series', async () => {
      const { apiKey } = await createTestKey(world.gateway);
      const before = (await metrics()).match(/^llm0_requests_total\{/gm)?.length ?? 0;
      for (let n = 0; n < 20; n++) {
        const answer = await postChat(world.gateway, apiKey, ask('Hi', { model: `openai/invented-${n}` }));
        expect(answer.status).toBe(200);
      }
      const text = await metrics();
      expect(text).not.toContain('invented-');
      expect(text).toContain('model="other"');
      expect(text.match(/^llm0_requests_total\{/gm)?.length).toBe(before + 1);
    });

    test(
      'a project accepts max_customers a month; customers with limits always pass',
      async () => {
        const { apiKey, projectId } = await createTestKey(world.gateway, { project: { max_customers: 2 } });
        const as = (customer: string, text = 'the same') =>
          postChat(world.gateway, apiKey, ask(text), { headers: { 'x-customer-id': customer } });
        expect((await as('ann')).status).toBe(200);
        const hit = await as('bob');
        expect([hit.status, hit.headers.get('x-cache-hit')]).toEqual([200, 'exact']);
        const refused = await as('eve');
        expect(refused.status).toBe(429);
        const { error } = (await refused.json()) as Refusal;
        expect(error).toMatchObject({ code: 'rate_limit_exceeded', param: 'customer' });
        expect(Number(refused.headers.get('retry-after'))).toBe(error.retry_after ?? 0);
        expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(31 * 86_400);
        expect((await as('ann', 'again')).status).toBe(200);
        const limits = { requests_per_day: 1000 };
        const path = `/projects/${projectId}/customers/eve/limits`;
        await callAdmin(world.gateway, path, { method: 'PUT', body: limits });
        expect((await as('eve')).status).toBe(200);
        await world.restart('kill');
        expect((await as('mallory')).status).toBe(429);
        await callAdmin(world.gateway, `/projects/${projectId}`, { method: 'PATCH', body: { max_customers: 3 } });
        expect((await as('mallory')).status).toBe(200);
        expect((await as('trent')).status).toBe(429);
        await callAdmin(world.gateway, `/projects/${projectId}`, { method: 'PATCH', body: { max_customers: null } });
        expect((await as('trent')).status).toBe(200);
        await logRow(world.gateway, refused.headers.get('x-request-id') ?? '');
      },
      SETUP_MS,
    );

    test(
      'a flood of refusals gets ten rows a second and one for the rest; counts stay right',
      async () => {
        const key = { rate_limit_per_minute: 1, rate_limit_burst: 1 };
        const { apiKey, projectId } = await createTestKey(world.gateway, { key });
        const startedMs = performance.now();
        const answers = await Promise.all(
          Array.from({ length: 300 }, (_, n) => postChat(world.gateway, apiKey, ask(`${n}`))),
        );
        const seconds = Math.ceil((performance.now() - startedMs) / 1000) + 1;
        const refused = answers.filter(({ status }) => status === 429).length;
        expect([refused, answers.length]).toEqual([299, 300]);
        const overview = async () =>
          callAdmin<{ requests: number; success: number }>(world.gateway, `/stats/overview?project_id=${projectId}`);
        const endMs = performance.now() + 5000;
        while ((await overview()).requests < 300 && performance.now() < endMs) await Bun.sleep(100);
        expect(await overview()).toMatchObject({ requests: 300, success: 1 });
        const rows = (await allLogs(
          world.gateway,
          `project_id=${projectId}&status=rate_limited`,
        )) as unknown as readonly {
          refused_count: number;
          error_code: string;
        }[];
        expect(rows.length).toBeLessThanOrEqual(11 * seconds);
        expect(rows.reduce((sum, row) => sum + row.refused_count, 0)).toBe(299);
        expect(Math.max(...rows.map((row) => row.refused_count))).toBeGreaterThan(200);
        const csv = await fetch(`${world.gateway.url}/admin/v1/logs?project_id=${projectId}&format=csv`, {
          headers: { authorization: `Bearer ${world.gateway.adminToken}` },
        });
        expect((await csv.text()).split('\r\n')[0]?.split(',')).toContain('refused_count');
      },
      SETUP_MS,
    );

    test(
      'a flood of wrong requests gets 429 and shares rows',
      async () => {
        const key = { rate_limit_per_minute: 1, rate_limit_burst: 1 };
        const { apiKey, projectId } = await createTestKey(world.gateway, { key });
        const statuses = new Map<number, number>();
        for (let round = 0; round < 12; round++) {
          const asked = Array.from({ length: 50 }, (_, n) =>
            postChat(world.gateway, apiKey, { model: `none-${round}-${n}`, messages: 1 }),
          );
          for (const { status } of await Promise.all(asked)) statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
        expect(statuses.get(400) ?? 0).toBeWithin(300, 450);
        expect((statuses.get(400) ?? 0) + (statuses.get(429) ?? 0)).toBe(600);
        await world.restart('stop');
        const rows = (await allLogs(world.gateway, `project_id=${projectId}`)) as unknown as readonly {
          refused_count: number | null;
        }[];
        expect(rows.reduce((sum, row) => sum + (row.refused_count ?? 1), 0)).toBe(600);
        expect(rows.length).toBeLessThan(500);
      },
      SETUP_MS,
    );

    test(
      'what is folded when the gateway is told to go is not lost',
      async () => {
        const key = { rate_limit_per_minute: 1, rate_limit_burst: 1 };
        const { apiKey, projectId } = await createTestKey(world.gateway, { key });
        await Promise.all(Array.from({ length: 60 }, (_, n) => postChat(world.gateway, apiKey, ask(`${n}`))));
        await world.restart('stop');
        const rows = (await allLogs(world.gateway, `project_id=${projectId}`)) as unknown as readonly {
          refused_count: number | null;
        }[];
        expect(rows.reduce((sum, row) => sum + (row.refused_count ?? 1), 0)).toBe(60);
      },
      SETUP_MS,
    );
  });
}
