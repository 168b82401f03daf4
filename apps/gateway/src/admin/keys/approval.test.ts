// A key that waits for an admin works nowhere, and nobody but an admin of its team lets it work.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hashSecret } from '@llm0/core/keys/api-key';
import { findPrincipalByHash } from '@llm0/drizzle/queries/access/find-principal';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { refusalOf } from '../../pipeline/request/authenticate';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';
import { give, type Kit, makeKit, makePerson, type Person } from '../teams/people.fixture';

describe.each(ON_ONE_DATABASE)('keys that wait for approval on $name', (kind) => {
  let admin: AdminUnderTest;
  let kit: Kit;
  let [member, boss, stranger] = [] as Person[] as [Person, Person, Person];
  beforeAll(async () => {
    admin = await openAdmin(kind);
    kit = await makeKit(admin, Date.now());
    const other = await makeKit(admin, Date.now());
    [member, boss, stranger] = [await makePerson(admin), await makePerson(admin), await makePerson(admin)];
    await give(admin, kit.teamId, member.id, 'member');
    await give(admin, kit.teamId, boss.id, 'team_admin');
    await give(admin, other.teamId, stranger.id, 'team_admin');
  }, 60_000);
  afterAll(() => admin.close());

  const approval = (isNeeded: boolean) =>
    boss.call('PATCH', `/teams/${kit.teamId}`, { body: { key_approval: isNeeded } });
  const keys = () => `/projects/${kit.projectId}/keys`;
  const make = (one: Person) => one.call('POST', keys(), { body: { name: crypto.randomUUID() } });
  /** Why a request with the secret is refused. */
  const refusal = async (secret: string) => {
    const found = await findPrincipalByHash(admin.database.db, hashSecret(secret));
    if (found === null) return 'unknown';
    return refusalOf({ key: found.key, project: found.project }, Date.now())?.kind;
  };
  const waiting = async (one: Person) =>
    (await one.call('GET', '/keys?state=requested')).body.data.map((key: { id: string }) => key.id);

  test('only of members, and only where the team wants it', async () => {
    expect((await make(member)).body).toMatchObject({ state: 'active', is_active: true });
    expect((await approval(true)).body).toMatchObject({ key_approval: true });
    expect((await make(boss)).body).toMatchObject({ state: 'active', is_active: true });
    expect((await make(member)).body).toMatchObject({ state: 'requested', is_active: false, user_id: member.id });
    expect((await admin.call('POST', keys(), { body: { name: 'k' } })).body.state).toBe('active');
    await approval(false);
    expect((await make(member)).body.state).toBe('active');
  });

  test('refused until an admin of the team approves it; told, listed and audited', async () => {
    await approval(true);
    const { id, key: secret } = (await make(member)).body;
    expect(await refusal(secret)).toBe('permission_denied');
    const shown = (await member.call('GET', '/me/keys')).body.data.find((one: { id: string }) => one.id === id);
    expect(shown.state).toBe('requested');
    expect([await waiting(boss), await waiting(stranger)]).toEqual([expect.arrayContaining([id]), []]);
    const activation = { body: { is_active: true } };
    expect((await member.call('PATCH', `${keys()}/${id}`, activation)).status).toBe(409);
    expect((await boss.call('PATCH', `${keys()}/${id}`, activation)).status).toBe(409);
    expect((await member.call('POST', `${keys()}/${id}/approve`)).status).toBe(403);
    expect((await stranger.call('POST', `${keys()}/${id}/approve`)).status).toBe(404);
    // A new secret doesn't help, and the request can change.
    const rotated = await member.call('POST', `${keys()}/${id}/rotate`);
    expect([await refusal(rotated.body.key), rotated.body.state]).toEqual(['permission_denied', 'requested']);
    expect((await member.call('PATCH', `${keys()}/${id}`, { body: { name: 'mine' } })).body.state).toBe('requested');
    expect(await refusal(rotated.body.key)).toBe('permission_denied');
    const approved = await boss.call('POST', `${keys()}/${id}/approve`);
    expect([approved.status, approved.body.state]).toEqual([200, 'active']);
    expect(await refusal(rotated.body.key)).toBeUndefined();
    expect((await boss.call('POST', `${keys()}/${id}/approve`)).status).toBe(409);
    const { data } = (await admin.call('GET', `/audit?resource=key&resource_id=${id}&action=approve`)).body;
    expect(data).toHaveLength(1);
    expect([data[0].before.state, data[0].after.state]).toEqual(['requested', 'active']);
  });

  test('a refused one is gone, and was never let in', async () => {
    await approval(true);
    const { id, key: secret } = (await make(member)).body;
    expect((await member.call('POST', `${keys()}/${id}/refuse`)).status).toBe(403);
    expect((await boss.call('POST', `${keys()}/${id}/refuse`)).status).toBe(204);
    expect((await member.call('GET', `${keys()}/${id}`)).status).toBe(404);
    expect(await waiting(boss)).not.toContain(id);
    expect(await refusal(secret)).toBeDefined();
    const { data } = (await admin.call('GET', `/audit?resource=key&resource_id=${id}&action=refuse`)).body;
    expect(data).toHaveLength(1);
    // Keys that work aren't requests.
    expect((await boss.call('POST', `${keys()}/${kit.keyId}/refuse`)).status).toBe(409);
  });
});
