import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';

const unknownId = crypto.randomUUID();

describe.each(ON_ONE_DATABASE)('budgets of labels on $name', (kind) => {
  let admin: AdminUnderTest;
  let projectId: string;
  beforeAll(async () => {
    admin = await openAdmin(kind);
    projectId = (await admin.createProject()).id;
  }, 60_000);
  afterAll(() => admin.close());

  const create = (body: object) => admin.call('POST', '/label-budgets', { body: { project_id: projectId, ...body } });

  test('created, shown, listed, changed and deleted; in the audit, and in force when it is answered', async () => {
    const made = await create({ label: 'feature', value: 'search', daily_usd: 20, monthly_usd: '0.000000001' });
    expect(made.status).toBe(201);
    const amounts = { daily_usd: '20', weekly_usd: null, monthly_usd: '0.000000001' };
    expect(made.body).toMatchObject({ project_id: projectId, label: 'feature', value: 'search', ...amounts });
    const path = `/label-budgets/${made.body.id}`;
    expect((await admin.call('GET', path)).body).toEqual(made.body);
    const other = (await admin.createProject()).id;
    await admin.call('POST', '/label-budgets', { body: { project_id: other, label: 'team', value: 'a' } });
    const { body: list } = await admin.call('GET', `/label-budgets?project_id=${projectId}`);
    expect(list).toEqual({ data: [made.body], next_cursor: null });
    expect((await admin.call('GET', '/label-budgets?limit=1')).body.next_cursor).toBeString();
    const seen: unknown[] = [];
    const { hotStore } = admin.services;
    const setVersions = hotStore.setVersions.bind(hotStore);
    hotStore.setVersions = async (...args) => {
      seen.push(args);
      await setVersions(...args);
    };
    const changed = await admin.call('PATCH', path, { body: { daily_usd: null, weekly_usd: 5 } });
    expect(changed.body).toMatchObject({ daily_usd: null, weekly_usd: '5', monthly_usd: '0.000000001' });
    expect((await admin.call('DELETE', path)).status).toBe(204);
    hotStore.setVersions = setVersions;
    expect(seen).toEqual([
      [projectId, 3, []],
      [projectId, 4, []],
    ]);
    expect((await admin.call('GET', path)).status).toBe(404);
    const { data } = (await admin.call('GET', `/audit?resource=label_budget&resource_id=${made.body.id}`)).body;
    expect(data.map((entry: { action: string }) => entry.action)).toEqual(['delete', 'update', 'create']);
  });

  test.each([
    [{ value: 'x' }, 400, 'label'],
    [{ label: 'Feature', value: 'x' }, 400, 'label'],
    [{ label: 'feature', value: '' }, 400, 'value'],
    [{ label: 'feature', value: 'x', daily_usd: -1 }, 400, 'daily_usd'],
    [{ label: 'feature', value: 'x', yearly_usd: 1 }, 400, 'yearly_usd'],
    [{ label: 'feature', value: 'x', project_id: 'x' }, 400, 'project_id'],
    [{ label: 'feature', value: 'x', project_id: unknownId }, 404, null],
  ])('%j is refused', async (body, status, param) => {
    const answer = await create(body);
    expect([answer.status, answer.body.error.param]).toEqual([status, param]);
  });

  test('a label has one budget in a project; an unknown one is 404', async () => {
    expect((await create({ label: 'twice', value: 'x' })).status).toBe(201);
    const again = await create({ label: 'twice', value: 'x' });
    expect([again.status, again.body.error.code]).toEqual([409, 'conflict']);
    expect((await create({ label: 'twice', value: 'y' })).status).toBe(201);
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { daily_usd: 1 } : undefined;
      expect((await admin.call(method, `/label-budgets/${unknownId}`, { body })).status).toBe(404);
    }
    expect((await admin.call('PATCH', `/label-budgets/${unknownId}`, { body: { label: 'x' } })).status).toBe(400);
  });
});
