import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';

describe.each(ON_ONE_DATABASE)('saved views on $name', (kind) => {
  let admin: AdminUnderTest;
  beforeAll(async () => {
    admin = await openAdmin(kind);
  }, 60_000);
  afterAll(() => admin.close());

  const view = {
    name: 'Errors of the bot',
    filters: { status: ['error', 'aborted'], model_not: ['gpt-4o'], 'label.team': ['bot'], min_latency: ['100'] },
    columns: ['created_at', 'model', 'cost_usd'],
    sort: '-latency_ms',
  };

  test('made, shown, changed and deleted; audited; viewers may use and not change it', async () => {
    const made = await admin.call('POST', '/views', { body: view });
    expect([made.status, made.body]).toEqual([201, expect.objectContaining({ ...view, created_by: 'ADMIN_TOKEN' })]);
    const { id } = made.body;
    const viewer = (await admin.call('POST', '/tokens', { body: { name: 'looks', role: 'viewer' } })).body.token;
    const list = await admin.call('GET', '/views', { token: viewer });
    expect(list.body.data.map(({ name }: { name: string }) => name)).toEqual([view.name]);
    const etag = (await admin.call('GET', `/views/${id}`, { token: viewer })).headers.get('etag') ?? '';
    expect(etag).not.toBe('');
    for (const [method, path] of [
      ['POST', '/views'],
      ['PATCH', `/views/${id}`],
      ['DELETE', `/views/${id}`],
    ] as const) {
      const body = method === 'DELETE' ? undefined : { name: 'x' };
      expect((await admin.call(method, path, { token: viewer, body })).status).toBe(403);
    }
    const changed = await admin.call('PATCH', `/views/${id}`, { body: { sort: 'created_at', columns: [] } });
    expect(changed.body).toMatchObject({ ...view, sort: 'created_at', columns: [] });
    const stale = { body: { name: 'late' }, headers: { 'if-match': etag } };
    expect((await admin.call('PATCH', `/views/${id}`, stale)).status).toBe(412);
    expect((await admin.call('DELETE', `/views/${id}`)).status).toBe(204);
    expect((await admin.call('GET', `/views/${id}`)).status).toBe(404);
    const audit = (await admin.call('GET', '/audit')).body.data.filter(
      ({ resource }: { resource: string }) => resource === 'saved_view',
    );
    expect(audit.map(({ action }: { action: string }) => action)).toEqual(['delete', 'update', 'create']);
  });

  test('a name is there once, whatever its case', async () => {
    expect((await admin.call('POST', '/views', { body: { name: 'Once' } })).body).toMatchObject({
      ...{ filters: {}, columns: [], sort: '-created_at' },
    });
    const again = await admin.call('POST', '/views', { body: { name: 'ONCE' } });
    expect([again.status, again.body.error.param]).toEqual([409, 'name']);
    const other = (await admin.call('POST', '/views', { body: { name: 'Other' } })).body;
    expect((await admin.call('PATCH', `/views/${other.id}`, { body: { name: 'once' } })).status).toBe(409);
  });

  test.each([
    [{ filters: { nonsense: ['x'] } }, 'filters'],
    [{ filters: { limit: ['5'] } }, 'filters'],
    [{ filters: { status: ['bad'] } }, 'filters.status'],
    [{ filters: { status: 'error' } }, 'filters.status'],
    [{ filters: { q: ['a', 'b'] } }, 'filters.q'],
    [{ sort: 'x' }, 'sort'],
    [{ name: '' }, 'name'],
  ])('invalid list entries are refused: %p', async (wrong, param) => {
    const answer = await admin.call('POST', '/views', { body: { ...view, name: 'wrong', ...wrong } });
    expect([answer.status, answer.body.error.param]).toEqual([400, param]);
  });
});
