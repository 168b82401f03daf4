import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { CustomerLimits } from '@llm0/core/limits/hot-store';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { sql } from 'drizzle-orm';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';
import { recoverChanges } from './recover-changes';

describe.each(ON_ONE_DATABASE)('changes whose gateway died on $name', (kind) => {
  let admin: AdminUnderTest;
  beforeAll(async () => {
    admin = await openAdmin(kind);
  }, 60_000);
  afterAll(() => admin.close());

  test('another gateway brings them into force, deletions too', async () => {
    const sinceMs = Date.now() - 1000;
    const project = await admin.createProject();
    const path = `/projects/${project.id}`;
    const kept = (await admin.call('POST', `${path}/keys`, { body: { name: 'kept' } })).body;
    const gone = (await admin.call('POST', `${path}/keys`, { body: { name: 'gone' } })).body;
    await admin.call('DELETE', `${path}/keys/${gone.id}`);
    // The audit names the user, not the key.
    const email = `${crypto.randomUUID()}@example.com`;
    const { id: userId } = (await admin.call('POST', '/users', { body: { name: 'left', email } })).body;
    const theirs = (await admin.call('POST', `${path}/keys`, { body: { name: 'theirs', user_id: userId } })).body;
    await admin.call('PATCH', `/users/${userId}`, { body: { is_active: false } });
    await admin.database.db.execute(sql`delete from admin_audit where resource_id = ${theirs.id}`);
    // It names the team, not the project below.
    const team = (await admin.call('POST', '/teams', { body: { name: email } })).body;
    const below = await admin.createProject({ team_id: team.id });
    await admin.call('PATCH', `/teams/${team.id}`, { body: { monthly_cap_usd: 5 } });
    await admin.database.db.execute(sql`delete from admin_audit where resource_id = ${below.id}`);
    await admin.call('PATCH', path, { body: { name: 'changed' } });
    await admin.call('PUT', `${path}/customers/a%2Fb/limits`, { body: { requests_per_day: 3 } });
    await admin.call('PUT', `${path}/customers/c/limits`, { body: { requests_per_day: 4 } });
    await admin.call('DELETE', `${path}/customers/c/limits`);
    const versions: unknown[] = [];
    const limits: [string, CustomerLimits | null][] = [];
    const hotStore = Object.assign(Object.create(admin.services.hotStore), {
      setVersions: async (...args: unknown[]) => void versions.push(args),
      setCustomerLimits: async (id: string, customer: string, given: CustomerLimits | null) => {
        if (id === project.id) limits.push([customer, given]);
      },
    });
    await recoverChanges({ db: admin.services.db, hotStore }, sinceMs);
    expect(versions).toContainEqual([project.id, 2, []]);
    expect(versions).toContainEqual([below.id, 2, []]);
    expect(versions).toContainEqual([project.id, null, [{ keyId: kept.id, version: 1 }]]);
    expect(versions).toContainEqual([project.id, null, [{ keyId: gone.id, version: 2 }]]);
    // The second version has what the admin set for the user.
    expect(versions).toContainEqual([project.id, null, [{ keyId: theirs.id, version: 3 }]]);
    expect(limits.sort()).toEqual([
      ['a/b', expect.objectContaining({ requestsPerDay: 3 })],
      ['c', null],
    ]);
    versions.length = 0;
    await recoverChanges({ db: admin.services.db, hotStore }, Date.now() + 60_000);
    expect(versions).toEqual([]);
  });
});
