import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { listMemberships, setGroupRoles, signInUser } from '@llm0/drizzle/queries/access/users';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, ENV_TOKEN, openAdmin } from '../admin.fixture';
import { makePerson } from '../teams/people.fixture';
import { openScim, USER } from './scim.fixture';

const unique = () => crypto.randomUUID();
const login = () => `${unique()}@example.com`;
/** As Okta sends a new user. */
const fromOkta = (userName = login()) => ({
  schemas: [USER],
  ...{ userName, externalId: unique(), displayName: 'Ann Lee', active: true, locale: 'en-US', password: 'x' },
  name: { givenName: 'Ann', familyName: 'Lee' },
  emails: [{ primary: true, value: userName, type: 'work' }],
  groups: [],
});

describe.each(ON_ONE_DATABASE)('SCIM on $name', (kind) => {
  let admin: AdminUnderTest;
  let scim: Awaited<ReturnType<typeof openScim>>;
  let teamId: string;
  let providerId: string;
  const group = `engineers ${unique()}`;
  const issuer = `https://${unique()}.test`;

  beforeAll(async () => {
    admin = await openAdmin(kind);
    scim = await openScim(admin);
    teamId = (await admin.call('POST', '/teams', { body: { name: `scim ${unique()}` } })).body.id;
    const roles = { group_roles: [{ group, team_id: teamId, role: 'member' }] };
    const provider = { name: issuer, issuer: 'http://127.0.0.1:9', client_id: 'x', ...roles };
    providerId = (await admin.call('POST', '/identity-providers', { body: provider })).body.id;
  }, 60_000);
  afterAll(async () => {
    await admin.call('DELETE', `/identity-providers/${providerId}`);
    await admin.close();
  });

  const signIn = (subject: string, more: object = {}) =>
    signInUser(admin.database.db, {
      ...{ issuer, subject, directoryId: null, email: null, isEmailVerified: false, name: null, atMs: Date.now() },
      ...more,
    });
  const rolesOf = async (userId: string) =>
    (await listMemberships(admin.database.db, userId)).map((one) => [one.teamId, one.role]);
  const claim = (userId: string, roles: readonly { group: string; team_id: string; role: 'viewer' }[]) =>
    setGroupRoles(admin.database.db, userId, { identityProviderId: providerId, roles });

  describe('the token', () => {
    test('is one of the role scim; others and sessions are refused in the form of SCIM', async () => {
      const { body: viewer } = await admin.call('POST', '/tokens', { body: { name: 'v', role: 'viewer' } });
      const answers = await Promise.all([
        scim.call('GET', '/Users', { token: null }),
        scim.call('GET', '/Users', { token: null, headers: { cookie: 'llm0_session=x' } }),
        scim.call('GET', '/Users', { token: ENV_TOKEN }),
        scim.call('GET', '/Users', { token: `llm0_admin_${'0'.repeat(48)}` }),
        scim.call('GET', '/Users', { token: viewer.token }),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 403]);
      for (const { headers, body, status } of answers) {
        expect(headers.get('content-type')).toBe('application/scim+json');
        expect(body).toMatchObject({
          schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
          status: String(status),
        });
      }
    });

    test('opens nothing of the admin API, not even a session', async () => {
      for (const path of ['/me', '/me/keys', '/session', '/users', '/tokens', '/projects']) {
        expect([path, (await admin.call('GET', path, { token: scim.token })).status]).toEqual([path, 401]);
      }
      const headers = { 'sec-fetch-site': 'same-origin' };
      const signIn = { token: null, headers, body: { token: scim.token } };
      expect((await admin.call('POST', '/session', signIn)).status).toBe(401);
    });

    test('ends with its revocation', async () => {
      const other = await openScim(admin);
      const { data } = (await admin.call('GET', '/tokens?limit=1')).body;
      await admin.call('DELETE', `/tokens/${data[0].id}`);
      expect((await other.call('GET', '/Users')).status).toBe(401);
    });
  });

  describe('users', () => {
    test('come back as they were sent, without what the gateway does not keep', async () => {
      const sent = fromOkta();
      const { locale: _, password: __, groups: ___, ...kept } = sent;
      const answer = await scim.call('POST', '/Users', { body: sent });
      expect(answer.status).toBe(201);
      const { id, meta, ...shown } = answer.body;
      expect(shown).toEqual(kept);
      expect(meta).toMatchObject({ resourceType: 'User', location: `http://gateway.test/scim/v2/Users/${id}` });
      expect(answer.headers.get('location')).toBe(meta.location);
      expect((await scim.call('GET', `/Users/${id}`)).body).toEqual(answer.body);
      const user = (await admin.call('GET', `/users/${id}`)).body;
      expect(user).toMatchObject({ name: 'Ann Lee', email: sent.userName, user_name: sent.userName, is_active: true });
      const { data } = (await admin.call('GET', '/audit?resource=user&action=create&limit=1')).body;
      expect(data[0]).toMatchObject({ actor: scim.name, resource_id: id, after: { user_name: sent.userName } });
    });

    test('have a unique name, whatever its case', async () => {
      const sent = fromOkta();
      await scim.make('Users', sent);
      const again = { ...fromOkta(), userName: sent.userName.toUpperCase() };
      const at = await scim.make('Users', fromOkta());
      expect(await scim.call('POST', '/Users', { body: again })).toMatchObject({
        ...{ status: 409, body: { scimType: 'uniqueness', status: '409' } },
      });
      expect((await scim.call('PUT', `/Users/${at.id}`, { body: again })).status).toBe(409);
      const body = fromOkta();
      const both = await Promise.all([1, 2].map(() => scim.call('POST', '/Users', { body })));
      expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    });

    test('are replaced by PUT, and deleted', async () => {
      const { id, userName } = await scim.make('Users', fromOkta());
      const put = await scim.call('PUT', `/Users/${id}`, { body: { userName, active: 'True', displayName: 'Bea' } });
      expect(put.body).toMatchObject({ userName, active: true, displayName: 'Bea' });
      expect(put.body).not.toHaveProperty('emails');
      expect((await scim.call('DELETE', `/Users/${id}`)).status).toBe(204);
      for (const method of ['GET', 'DELETE']) expect((await scim.call(method, `/Users/${id}`)).status).toBe(404);
    });

    test('that a person added or an issuer made are not shown, until SCIM sends them', async () => {
      const email = login();
      const { body: byHand } = await admin.call('POST', '/users', { body: { name: 'By hand', email } });
      expect((await scim.call('GET', `/Users/${byHand.id}`)).status).toBe(404);
      expect((await scim.call('DELETE', `/Users/${byHand.id}`)).status).toBe(404);
      expect((await scim.make('Users', fromOkta(email))).id).toBe(byHand.id);
      const sure = await signIn(unique(), { email: login(), isEmailVerified: true });
      expect((await scim.make('Users', fromOkta(sure.user.email ?? ''))).id).toBe(sure.user.id);
      const named = await signIn(unique());
      expect((await scim.make('Users', { ...fromOkta(), externalId: named.user.subject })).id).toBe(named.user.id);
    });

    test('are not joined to an address that nobody vouches for', async () => {
      const email = login();
      await signIn(unique(), { email });
      const answer = await scim.call('POST', '/Users', { body: fromOkta(email) });
      expect(answer).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
    });

    test('are met at the sign-in by subject, id of the directory or verified address', async () => {
      const met = async (subject: string, more: object = {}) => (await signIn(subject, more)).user.id;
      const [a, b, c, d] = [fromOkta(), fromOkta(), fromOkta(), fromOkta()];
      const ids = [];
      for (const one of [a, b, c, d]) ids.push((await scim.make('Users', one)).id);
      expect(await met(a.externalId)).toBe(ids[0]);
      expect(await met(b.userName)).toBe(ids[1]);
      expect(await met(unique(), { directoryId: c.externalId })).toBe(ids[2]);
      expect(await met(unique(), { email: d.userName })).not.toBe(ids[3]);
      expect(await met(unique(), { email: d.userName, isEmailVerified: true })).toBe(ids[3]);
      // Whoever is taken stays with that identity.
      expect(await met(unique(), { directoryId: a.externalId })).not.toBe(ids[0]);
    });

    test('lose their sessions at once with active: false, in each form of Entra and Okta, and by DELETE', async () => {
      const forms = [
        { op: 'Replace', path: 'active', value: 'False' },
        { op: 'replace', value: { active: false } },
        { op: 'Replace', path: `${USER}:active`, value: 'False' },
        { op: 'Add', value: { ACTIVE: 'false' } },
      ];
      for (const form of forms) {
        const person = await makePerson(admin);
        const { email } = (await admin.call('GET', `/users/${person.id}`)).body;
        expect((await scim.make('Users', fromOkta(email))).id).toBe(person.id);
        expect((await person.call('GET', '/me')).status).toBe(200);
        expect((await scim.patch(`/Users/${person.id}`, form)).body).toMatchObject({ active: false });
        expect([form, (await person.call('GET', '/me')).status]).toEqual([form, 401]);
        expect((await admin.call('GET', `/users/${person.id}`)).body.is_active).toBe(false);
      }
      const person = await makePerson(admin);
      const { email } = (await admin.call('GET', `/users/${person.id}`)).body;
      await scim.make('Users', fromOkta(email));
      await scim.call('DELETE', `/Users/${person.id}`);
      expect((await person.call('GET', '/me')).status).toBe(401);
    });

    test('stay deactivated until active: true is said', async () => {
      const { id, userName } = await scim.make('Users', { ...fromOkta(), active: 'False' });
      const isActive = async () => (await admin.call('GET', `/users/${id}`)).body.is_active;
      await scim.call('PUT', `/Users/${id}`, { body: { userName } });
      await scim.patch(`/Users/${id}`, { op: 'remove', path: 'active' });
      expect(await isActive()).toBe(false);
      await scim.patch(`/Users/${id}`, { op: 'Replace', path: 'active', value: 'True' });
      expect(await isActive()).toBe(true);
    });
  });

  describe('PATCH', () => {
    const work = { type: 'work', value: 'ann@work.test', primary: true };
    const home = { type: 'home', value: 'ann@home.test' };
    test.each<[string, object[], object]>([
      ['of a part', [{ op: 'Replace', path: 'name.familyName', value: 'Poe' }], { name: { familyName: 'Poe' } }],
      [
        'of a value that a filter selects',
        [{ op: 'replace', path: 'emails[type eq "work"].value', value: 'a@b.test' }],
        { emails: [{ ...work, value: 'a@b.test' }, home] },
      ],
      [
        'that adds a value by its filter',
        [{ op: 'Add', path: 'emails[type eq "other"].value', value: 'o@b.test' }],
        { emails: [work, home, { type: 'other', value: 'o@b.test' }] },
      ],
      ['that removes by a filter', [{ op: 'Remove', path: 'emails[type eq "home"]' }], { emails: [work] }],
      [
        'that removes by a value, as Entra does',
        [{ op: 'Remove', path: 'emails', value: [{ value: home.value }] }],
        { emails: [work] },
      ],
      [
        'without a path, with names of any case',
        [
          {
            op: 'ADD',
            value: { DisplayName: 'Q', 'name.givenName': 'Zoe', 'urn:x:enterprise:2.0:User:department': 'x' },
          },
        ],
        { displayName: 'Q', name: { givenName: 'Zoe', familyName: 'Lee' } },
      ],
      [
        'of what the gateway does not keep',
        [
          { op: 'replace', path: 'phoneNumbers[type eq "work"].value', value: '1' },
          { op: 'add', path: 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager', value: 'x' },
        ],
        { displayName: 'Ann Lee' },
      ],
      [
        'with another primary value',
        [{ op: 'add', path: 'emails', value: [{ value: 'n@b.test', primary: 'True' }] }],
        { emails: [{ ...work, primary: false }, home, { value: 'n@b.test', primary: true }] },
      ],
      ['with an id, as Okta sends it', [{ op: 'replace', value: { id: 'x', displayName: 'R' } }], { displayName: 'R' }],
    ])('%s', async (_name, operations, expected) => {
      const { id } = await scim.make('Users', { ...fromOkta(), emails: [work, home] });
      const answer = await scim.patch(`/Users/${id}`, ...operations);
      expect(answer.body).toMatchObject({ id, ...expected });
      expect((await scim.call('GET', `/Users/${id}`)).body).toEqual(answer.body);
    });

    test.each<[string, unknown, string]>([
      ['no operations', { Operations: [] }, 'invalidSyntax'],
      ['operations that are no list', { Operations: 'x' }, 'invalidSyntax'],
      ['another op', { Operations: [{ op: 'move', path: 'active', value: true }] }, 'invalidSyntax'],
      ['too many operations', { Operations: Array(1001).fill({ op: 'remove', path: 'name' }) }, 'invalidSyntax'],
      ['a wrong type', { Operations: [{ op: 'replace', path: 'active', value: 'maybe' }] }, 'invalidValue'],
      ['an object for a name', { Operations: [{ op: 'replace', path: 'userName', value: { a: 1 } }] }, 'invalidValue'],
      ['no name at all', { Operations: [{ op: 'remove', path: 'userName' }] }, 'invalidValue'],
      ['a removal without a path', { Operations: [{ op: 'remove' }] }, 'noTarget'],
      [
        'a value that nothing selects',
        {
          Operations: [{ op: 'replace', path: 'emails[type eq "x" or type eq "y"].value', value: 'x' }],
        },
        'noTarget',
      ],
      ['an id', { Operations: [{ op: 'replace', path: 'id', value: 'x' }] }, 'mutability'],
      ['an open filter', { Operations: [{ op: 'remove', path: 'emails[type eq "x"' }] }, 'invalidPath'],
      ['a long path', { Operations: [{ op: 'remove', path: `emails[${'x'.repeat(10_000)}]` }] }, 'invalidPath'],
    ])('refuses %s, and changes nothing', async (_name, body, scimType) => {
      const { id } = await scim.make('Users', fromOkta());
      const before = (await scim.call('GET', `/Users/${id}`)).body;
      expect(await scim.call('PATCH', `/Users/${id}`, { body })).toMatchObject({ status: 400, body: { scimType } });
      expect((await scim.call('GET', `/Users/${id}`)).body).toEqual(before);
    });

    test('reaches no prototype', async () => {
      const { id } = await scim.make('Users', fromOkta());
      const value = JSON.parse('{"__proto__": {"isEvil": true}, "constructor.prototype.isEvil": true}');
      await scim.patch(
        `/Users/${id}`,
        { op: 'add', path: '__proto__.isEvil', value: true },
        { op: 'add', path: 'constructor.prototype.isEvil', value: true },
        { op: 'add', path: 'name.__proto__.isEvil', value: true },
        { op: 'add', value },
        { op: 'add', path: 'name', value },
        {
          op: 'add',
          value: JSON.parse('{"name": {"__proto__.isEvil": true}, "emails": [{"__proto__": {"isEvil": true}}]}'),
        },
      );
      expect(Object.keys(Object.prototype)).toEqual([]);
      expect(({} as { isEvil?: boolean }).isEvil).toBeUndefined();
    });
  });

  describe('lists', () => {
    const mark = unique().slice(0, 8);
    const made: { id: string; userName: string; externalId: string }[] = [];
    beforeAll(async () => {
      for (const n of [1, 2, 3, 4, 5]) {
        const extra = { displayName: `Person ${n}%`, active: n !== 5, name: { familyName: `Fam${n}_${mark}` } };
        made.push(await scim.make('Users', { ...fromOkta(`${mark}-${n}@example.com`), ...extra }));
      }
    });
    const found = async (filter: string) => {
      const { status, body } = await scim.list('Users', { filter: `userName sw "${mark}" and (${filter})` });
      if (status !== 200) throw new Error(JSON.stringify(body));
      return body.Resources.map(({ userName }: { userName: string }) => Number(userName.at(mark.length + 1)));
    };

    test.each<[string, number[]]>([
      ['userName eq "MARK-2@EXAMPLE.com"', [2]],
      ['urn:ietf:params:scim:schemas:core:2.0:User:username eq "MARK-2@example.com"', [2]],
      ['active eq false', [5]],
      ['active eq "True" and displayName co "2%"', [2]],
      ['not (active eq true) or userName co "-1@"', [1, 5]],
      ['userName ew "-3@example.com"', [3]],
      ['displayName ne "person 1%"', [2, 3, 4, 5]],
      ['name.familyName sw "fam4_"', [4]],
      ['name.givenName pr', []],
      ['not (name.givenName eq "x") and name.givenName ne "x"', [1, 2, 3, 4, 5]],
      ['emails.value eq "MARK-3@example.com"', [3]],
      ['emails eq "MARK-3@example.com"', [3]],
      ['emails[type eq "work" and value sw "MARK-4"]', [4]],
      ['emails[type eq "home"]', []],
      ['groups pr', []],
      ['meta.created gt "2020-01-01T00:00:00Z" and displayName gt "Person 4"', [4, 5]],
      ['meta.lastModified lt "2020-01-01T00:00:00.000+02:00"', []],
      ['externalId eq null', []],
      ['displayName eq "\\" or 1=1 --"', []],
    ])('by %s', async (filter, expected) => {
      expect((await found(filter.replaceAll('MARK', mark))).sort()).toEqual(expected);
    });

    test('by id and externalId, which have a case', async () => {
      expect(await found(`id eq "${made[0]?.id}"`)).toEqual([1]);
      expect(await found(`externalId eq "${made[1]?.externalId}"`)).toEqual([2]);
      expect(await found(`externalId eq "${made[1]?.externalId.toUpperCase()}"`)).toEqual([]);
    });

    test.each([
      'title eq "x"',
      'userName',
      'userName eq',
      'userName eq "x',
      'userName like "x"',
      'userName eq 1',
      'active gt true',
      'active eq "maybe"',
      'meta.created gt "yesterday"',
      'emails[x eq "y"]',
      'name eq "x"',
      '__proto__ eq "x"',
      `${'('.repeat(400)}userName pr`,
      `userName eq "${'x'.repeat(10_000)}"`,
      `userName eq "${'\n'.repeat(40)}`,
      'userName eq "a\0b"',
    ])('refuse the filter %p', async (filter) => {
      const beginMs = performance.now();
      expect(await scim.list('Users', { filter })).toMatchObject({ status: 400, body: { scimType: 'invalidFilter' } });
      expect(performance.now() - beginMs).toBeLessThan(1000);
    });

    test('come in pages that meet each other', async () => {
      const filter = `userName sw "${mark}"`;
      const page = async (startIndex: string, count: string) => {
        const { body } = await scim.list('Users', { filter, startIndex, count });
        const names = body.Resources.map(({ userName }: { userName: string }) => userName);
        return [body.totalResults, body.startIndex, body.itemsPerPage, names];
      };
      const names = made.map(({ userName }) => userName);
      expect(await page('1', '2')).toEqual([5, 1, 2, names.slice(0, 2)]);
      expect(await page('3', '2')).toEqual([5, 3, 2, names.slice(2, 4)]);
      expect(await page('5', '1000000')).toEqual([5, 5, 1, names.slice(4)]);
      expect(await page('6', '2')).toEqual([5, 6, 0, []]);
      expect(await page('-7', '0')).toEqual([5, 1, 0, []]);
      expect(await page('1', '-3')).toEqual([5, 1, 0, []]);
      expect((await scim.list('Users', { count: 'all' })).status).toBe(400);
    });

    test('have the attributes that are asked for', async () => {
      const shown = async (query: Record<string, string>) =>
        (await scim.list('Users', { filter: `id eq "${made[0]?.id}"`, ...query })).body.Resources[0];
      const { id, userName } = made[0] ?? {};
      expect(await shown({ attributes: 'username, emails.VALUE,nonsense' })).toEqual({
        ...{ schemas: [USER], id, userName, emails: [{ value: userName }] },
      });
      const { name, emails, meta: _, ...rest } = await shown({});
      expect(await shown({ excludedAttributes: 'meta,name,emails.type,id' })).toEqual({
        ...{ ...rest, emails: [{ primary: true, value: emails[0].value }] },
      });
      expect(name).toBeDefined();
    });
  });

  describe('groups', () => {
    const member = ({ id }: { id: string }) => ({ value: id });

    test('give the roles of group_roles at once, and take them with the membership, the name and the group', async () => {
      const [ann, bob] = [await scim.make('Users', fromOkta()), await scim.make('Users', fromOkta())];
      const made = await scim.make('Groups', { displayName: group, members: [member(ann)] });
      expect(made.members).toEqual([
        { value: ann.id, $ref: `http://gateway.test/scim/v2/Users/${ann.id}`, type: 'User' },
      ]);
      const has = [[teamId, 'member']];
      expect(await rolesOf(ann.id)).toEqual(has);
      const at = `/Groups/${made.id}`;
      await scim.patch(at, { op: 'Add', path: 'members', value: [member(bob)] });
      expect(await rolesOf(bob.id)).toEqual(has);
      expect((await scim.call('GET', `/Users/${bob.id}`)).body.groups).toEqual([
        { value: made.id, $ref: `http://gateway.test/scim/v2${at}`, display: group },
      ]);
      await scim.patch(at, { op: 'Remove', path: 'members', value: [member(bob)] });
      await scim.patch(at, { op: 'remove', path: `members[value eq "${ann.id}"]` });
      expect([await rolesOf(ann.id), await rolesOf(bob.id)]).toEqual([[], []]);
      await scim.call('PUT', at, { body: { displayName: group, members: [member(ann), member(ann), member(bob)] } });
      expect(await rolesOf(bob.id)).toEqual(has);
      await scim.patch(at, { op: 'replace', value: { id: made.id, displayName: `not ${group}` } });
      expect(await rolesOf(bob.id)).toEqual([]);
      await scim.patch(at, { op: 'replace', path: 'displayName', value: group });
      expect(await rolesOf(bob.id)).toEqual(has);
      const { data } = (await admin.call('GET', '/audit?resource=scim_group&limit=1')).body;
      expect(data[0]).toMatchObject({ actor: scim.name, resource_id: made.id, action: 'update' });
      await scim.call('DELETE', at);
      expect([await rolesOf(ann.id), await rolesOf(bob.id)]).toEqual([[], []]);
    });

    test('follow a change of group_roles', async () => {
      const ann = await scim.make('Users', fromOkta());
      const displayName = `later ${unique()}`;
      await scim.make('Groups', { displayName, members: [member(ann)] });
      const kept = { group, team_id: teamId, role: 'member' };
      const put = (more: object[]) =>
        admin.call('PATCH', `/identity-providers/${providerId}`, { body: { group_roles: [kept, ...more] } });
      await put([{ group: displayName, team_id: teamId, role: 'auditor' }]);
      expect(await rolesOf(ann.id)).toEqual([[teamId, 'auditor']]);
      await put([]);
      expect(await rolesOf(ann.id)).toEqual([]);
    });

    test('and claims add up: each takes away only what it gave; a role by hand holds', async () => {
      const sent = fromOkta();
      const ann = await scim.make('Users', sent);
      const at = `/Groups/${(await scim.make('Groups', { displayName: group, members: [member(ann)] })).id}`;
      const { body: other } = await admin.call('POST', '/teams', { body: { name: `scim ${unique()}` } });
      const viewer = (team: string) => ({ group: 'x', team_id: team, role: 'viewer' as const });
      const bySort = (one: readonly unknown[][]) => [...one].sort();
      await claim(ann.id, [viewer(other.id)]);
      expect(bySort(await rolesOf(ann.id))).toEqual(
        bySort([
          [teamId, 'member'],
          [other.id, 'viewer'],
        ]),
      );
      await claim(ann.id, []);
      expect(await rolesOf(ann.id)).toEqual([[teamId, 'member']]);
      // In one team, the claim holds while it is there.
      await claim(ann.id, [viewer(teamId)]);
      expect(await rolesOf(ann.id)).toEqual([[teamId, 'viewer']]);
      await scim.patch(at, { op: 'remove', path: 'members' });
      expect(await rolesOf(ann.id)).toEqual([[teamId, 'viewer']]);
      await scim.patch(at, { op: 'add', path: 'members', value: [member(ann)] });
      await claim(ann.id, []);
      expect(await rolesOf(ann.id)).toEqual([[teamId, 'member']]);
      await admin.call('POST', `/teams/${teamId}/members`, { body: { user_id: ann.id, role: 'auditor' } });
      await scim.call('DELETE', at);
      expect(await rolesOf(ann.id)).toEqual([[teamId, 'auditor']]);
    });

    test('that lose somebody at the same time leave no role behind', async () => {
      const displayName = `twin ${unique()}`;
      const roles = [group, displayName].map((name) => ({ group: name, team_id: teamId, role: 'member' }));
      await admin.call('PATCH', `/identity-providers/${providerId}`, { body: { group_roles: roles } });
      const ann = await scim.make('Users', fromOkta());
      const both: { id: string }[] = [];
      for (const name of [group, displayName]) both.push(await scim.make('Groups', { displayName: name }));
      const all = (op: string) =>
        Promise.all(both.map(({ id }) => scim.patch(`/Groups/${id}`, { op, path: 'members', value: [member(ann)] })));
      for (let n = 0; n < 10; n++) {
        expect((await all('add')).map(({ status }) => status)).toEqual([200, 200]);
        expect(await rolesOf(ann.id)).toEqual([[teamId, 'member']]);
        expect((await all('remove')).map(({ status }) => status)).toEqual([200, 200]);
        expect(await rolesOf(ann.id)).toEqual([]);
      }
      for (const { id } of both) await scim.call('DELETE', `/Groups/${id}`);
    });

    test('have one name each, and members that SCIM sent', async () => {
      const displayName = `one ${unique()}`;
      const { id } = await scim.make('Groups', { displayName });
      expect((await scim.call('POST', '/Groups', { body: { displayName } })).body).toMatchObject({
        ...{ status: '409', scimType: 'uniqueness' },
      });
      const { body: byHand } = await admin.call('POST', '/users', { body: { name: 'x', email: login() } });
      for (const value of [unique(), byHand.id, id, 'x', "'; drop table users; --"]) {
        const answer = await scim.patch(`/Groups/${id}`, { op: 'add', path: 'members', value: [{ value }] });
        expect(answer).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
      }
    });

    test('are found by name and member, and shown without members', async () => {
      const ann = await scim.make('Users', fromOkta());
      const { id, displayName } = await scim.make('Groups', { displayName: `f ${unique()}`, members: [member(ann)] });
      for (const filter of [
        `displayName eq "${displayName}"`,
        `members.value eq "${ann.id}"`,
        `members[value eq "${ann.id}"]`,
      ]) {
        const { body } = await scim.list('Groups', { filter, excludedAttributes: 'members' });
        expect(body).toMatchObject({ totalResults: 1, Resources: [{ id, displayName }] });
        expect(body.Resources[0]).not.toHaveProperty('members');
      }
    });
  });

  test.each<[string, string, string | undefined, number]>([
    ['GET', '/Users/x', undefined, 404],
    ['GET', `/Users/${unique()}`, undefined, 404],
    ['PUT', `/Groups/${unique()}`, '{"displayName":"x"}', 404],
    ['PATCH', `/Users/${unique()}`, '{"Operations":[{"op":"remove","path":"name"}]}', 404],
    ['DELETE', `/Groups/${unique()}`, undefined, 404],
    ['GET', '/Nothing', undefined, 404],
    ['POST', '/Users', '{', 400],
    ['POST', '/Users', '[]', 400],
    ['POST', '/Users', 'null', 400],
    ['POST', '/Users', '{}', 400],
    ['POST', '/Users', '{"userName": ["x"]}', 400],
    ['POST', '/Users', '{"userName": ""}', 400],
    ['POST', '/Users', '{"userName": "a\\u0000b"}', 400],
    ['POST', '/Users', '{"userName": "x", "emails": [[["x"]]]}', 400],
    ['POST', '/Users', '{"userName": "x", "name": "y"}', 400],
    ['POST', '/Users', `{"userName": "${'x'.repeat(2000)}"}`, 400],
    ['POST', '/Groups', `{"displayName": "${'x'.repeat(2 * 1024 * 1024)}"}`, 413],
    ['PUT', '/Users', '{}', 405],
    ['POST', '/Schemas', '{}', 405],
    ['POST', '/Bulk', '{}', 501],
    ['POST', '/.search', '{}', 501],
    ['POST', '/Users/.search', '{}', 501],
    ['GET', '/Me', undefined, 501],
  ])('%s %s %s: an error of SCIM', async (method, path, rawBody, status) => {
    const answer = await scim.call(method, path, { rawBody });
    expect([answer.status, answer.body.status]).toEqual([status, String(status)]);
    expect(answer.body.detail.length).toBeGreaterThan(5);
  });

  test('says what it supports', async () => {
    const read = async (path: string) => (await scim.call('GET', path)).body;
    expect(await read('/ServiceProviderConfig')).toMatchObject({
      patch: { supported: true },
      etag: { supported: false },
    });
    expect((await read('/ResourceTypes')).Resources.map(({ id }: { id: string }) => id)).toEqual(['User', 'Group']);
    expect(await read('/ResourceTypes/User')).toMatchObject({ endpoint: '/Users', schema: USER });
    expect(await read(`/Schemas/${USER}`)).toMatchObject({ id: USER, name: 'User' });
    expect((await scim.call('GET', '/Schemas?filter=id%20pr')).status).toBe(403);
  });
});
