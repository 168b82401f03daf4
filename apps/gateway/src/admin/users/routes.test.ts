// Admins of a team or organization see its people, and find others only by their whole address.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';
import { give, type Kit, makeKit, makePerson, type Person } from '../teams/people.fixture';

describe.each(ON_ONE_DATABASE)('users that admins of teams see on $name', (kind) => {
  let admin: AdminUnderTest;
  let [own, other] = [] as Kit[] as [Kit, Kit];
  let [teamAdmin, orgAdmin, member, sibling, stranger] = [] as Person[] as [Person, Person, Person, Person, Person];
  beforeAll(async () => {
    admin = await openAdmin(kind);
    [own, other] = [await makeKit(admin, Date.now()), await makeKit(admin, Date.now())];
    const body = { name: crypto.randomUUID(), organization_id: own.organizationId };
    const { id: second } = (await admin.call('POST', '/teams', { body })).body;
    [teamAdmin, orgAdmin, member] = [await makePerson(admin), await makePerson(admin), await makePerson(admin)];
    [sibling, stranger] = [await makePerson(admin), await makePerson(admin)];
    await give(admin, own.teamId, teamAdmin.id, 'team_admin');
    await give(admin, own.teamId, orgAdmin.id, 'org_admin');
    await give(admin, own.teamId, member.id, 'member');
    await give(admin, second, sibling.id, 'member');
    await give(admin, other.teamId, stranger.id, 'member');
  }, 60_000);
  afterAll(() => admin.close());

  const ids = async (person: Person, query = '') => {
    const { data } = (await person.call('GET', `/users?limit=1000${query}`)).body;
    return new Set(data.map(({ id }: { id: string }) => id));
  };

  test('of the own team, or of the own organization', async () => {
    expect(await ids(teamAdmin)).toEqual(new Set([teamAdmin, orgAdmin, member].map(({ id }) => id)));
    expect(await ids(orgAdmin)).toEqual(new Set([teamAdmin, orgAdmin, member, sibling].map(({ id }) => id)));
    expect((await member.call('GET', '/users')).status).toBe(403);
    for (const [person, status] of [
      [member, 200],
      [sibling, 404],
      [stranger, 404],
    ] as const)
      expect((await teamAdmin.call('GET', `/users/${person.id}`)).status).toBe(status);
    expect((await orgAdmin.call('GET', `/users/${sibling.id}`)).status).toBe(200);
  });

  test('others by their whole address only, to make them members', async () => {
    const { email, name } = (await admin.call('GET', `/users/${stranger.id}`)).body;
    const search = (q: string) => ids(teamAdmin, `&q=${encodeURIComponent(q)}`);
    expect(await search(email.toUpperCase())).toEqual(new Set([stranger.id]));
    for (const part of [email.slice(1), '@example.com', name])
      expect((await search(part)).has(stranger.id)).toBe(false);
    const body = { user_id: stranger.id, role: 'member' };
    expect((await teamAdmin.call('POST', `/teams/${own.teamId}/members`, { body })).status).toBe(201);
    expect((await ids(teamAdmin)).has(stranger.id)).toBe(true);
  });
});
