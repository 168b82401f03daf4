import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';

const NONE = {
  daily_spend_limit_usd: null,
  monthly_spend_limit_usd: null,
  per_request_max_usd: null,
  requests_per_minute: null,
  requests_per_hour: null,
  requests_per_day: null,
  model_limits: {},
  on_limit_behavior: 'block',
  downgrade_model: null,
};

describe.each(ON_ONE_DATABASE)('customer limits on $name', (kind) => {
  let admin: AdminUnderTest;
  let projectId: string;
  beforeAll(async () => {
    admin = await openAdmin(kind);
    projectId = (await admin.createProject()).id;
  }, 60_000);
  afterAll(() => admin.close());

  const pathOf = (customerId: string) => `/projects/${projectId}/customers/${encodeURIComponent(customerId)}/limits`;

  test('PUT sets all of them, GET shows them, DELETE removes them', async () => {
    const limits = {
      daily_spend_limit_usd: '0.000000001',
      monthly_spend_limit_usd: '12.5',
      per_request_max_usd: '0.1',
      requests_per_minute: 1,
      requests_per_hour: 2,
      requests_per_day: 3,
      model_limits: { 'gpt-4o': { requests_per_day: 4 }, free: { requests_per_day: 0 } },
      on_limit_behavior: 'downgrade',
      downgrade_model: 'gpt-4o-mini',
    };
    expect((await admin.call('GET', pathOf('ann'))).status).toBe(404);
    const put = await admin.call('PUT', pathOf('ann'), { body: limits });
    expect(put.status).toBe(200);
    expect(put.body).toMatchObject({ project_id: projectId, customer_id: 'ann', ...limits });
    expect((await admin.call('GET', pathOf('ann'))).body).toEqual(put.body);
    const less = await admin.call('PUT', pathOf('ann'), { body: { requests_per_day: 9, daily_spend_limit_usd: null } });
    expect(less.body).toMatchObject({ ...NONE, requests_per_day: 9 });
    expect((await admin.call('DELETE', pathOf('ann'))).status).toBe(204);
    expect((await admin.call('GET', pathOf('ann'))).status).toBe(404);
    expect((await admin.call('DELETE', pathOf('ann'))).status).toBe(404);
  });

  test.each(['a/b', 'a%2Fb', 'q?x=1&y', '#hash', 'ünï 日本 😀', "o'brien; drop", 'dots..', '%', 'a+b c', '"quoted"'])(
    'customer %p is exactly that one',
    async (customerId) => {
      const put = await admin.call('PUT', pathOf(customerId), { body: { requests_per_day: 5 } });
      expect(put.body.customer_id).toBe(customerId);
      expect((await admin.call('GET', pathOf(customerId))).body.customer_id).toBe(customerId);
      expect((await admin.call('DELETE', pathOf(customerId))).status).toBe(204);
    },
  );

  test('the hot store has them before the answer, and what it has is what is saved', async () => {
    const seen: unknown[] = [];
    const { hotStore } = admin.services;
    const setCustomerLimits = hotStore.setCustomerLimits.bind(hotStore);
    hotStore.setCustomerLimits = async (...args) => {
      seen.push(args);
      await setCustomerLimits(...args);
    };
    await admin.call('PUT', pathOf('bob'), {
      body: { daily_spend_limit_usd: 1, model_limits: { m: { requests_per_day: 2 } } },
    });
    await admin.call('DELETE', pathOf('bob'));
    hotStore.setCustomerLimits = setCustomerLimits;
    expect(seen).toEqual([
      [
        projectId,
        'bob',
        {
          dailySpendNanoUsd: 1_000_000_000,
          monthlySpendNanoUsd: null,
          perRequestMaxNanoUsd: null,
          requestsPerMinute: null,
          requestsPerHour: null,
          requestsPerDay: null,
          modelRequestsPerDay: { m: 2 },
          onLimit: 'block',
          downgradeModel: null,
        },
      ],
      [projectId, 'bob', null],
    ]);
  });

  test('concurrent changes leave the store equal to Postgres', async () => {
    let last: unknown;
    const { hotStore } = admin.services;
    const setCustomerLimits = hotStore.setCustomerLimits.bind(hotStore);
    hotStore.setCustomerLimits = async (project, customer, limits) => {
      await Bun.sleep(Math.random() * 5);
      last = limits?.requestsPerDay;
      await setCustomerLimits(project, customer, limits);
    };
    const put = (perDay: number) => admin.call('PUT', pathOf('eve'), { body: { requests_per_day: perDay } });
    await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(put));
    hotStore.setCustomerLimits = setCustomerLimits;
    expect(last).toBe((await admin.call('GET', pathOf('eve'))).body.requests_per_day);
  });

  test.each([
    [{ requests_per_minute: 0 }, 'requests_per_minute'],
    [{ daily_spend_limit_usd: -1 }, 'daily_spend_limit_usd'],
    [{ daily_spend_limit_usd: '0.0000000001' }, 'daily_spend_limit_usd'],
    [{ on_limit_behavior: 'downgrade' }, 'downgrade_model'],
    [{ on_limit_behavior: 'explode' }, 'on_limit_behavior'],
    [{ model_limits: { m: { per_day: 1 } } }, 'model_limits.m.per_day'],
    [{ model_limits: { m: { requests_per_day: -1 } } }, 'model_limits.m.requests_per_day'],
    [{ daily_limit: 1 }, 'daily_limit'],
  ])('%p is refused', async (body, param) => {
    const answer = await admin.call('PUT', pathOf('ann'), { body });
    expect([answer.status, answer.body.error.param]).toEqual([400, param]);
  });

  test('unknown projects are 404, malformed ids and overlong customers 400', async () => {
    const at = (project: string) => `/projects/${project}/customers/c/limits`;
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const body = method === 'PUT' ? {} : undefined;
      expect((await admin.call(method, at(crypto.randomUUID()), { body })).status).toBe(404);
      expect((await admin.call(method, at('x'), { body })).status).toBe(400);
      expect((await admin.call(method, pathOf('c'.repeat(257)), { body })).status).toBe(400);
    }
  });

  test('every change is in the audit', async () => {
    await admin.call('PUT', pathOf('zoe'), { body: { per_request_max_usd: 0.1 } });
    await admin.call('PUT', pathOf('zoe'), { body: {} });
    await admin.call('DELETE', pathOf('zoe'));
    const path = `/audit?resource=customer_limits&resource_id=${projectId}/zoe`;
    const entries = (await admin.call('GET', path)).body.data;
    expect(entries.map((entry: { action: string }) => entry.action)).toEqual(['delete', 'update', 'create']);
    expect(entries[1]).toMatchObject({ before: { per_request_max_usd: '0.1' }, after: NONE });
  });
});
