// A key of a person works while the person may have keys there, and permits no more than admins did.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hashSecret } from '@llm0/core/keys/api-key';
import { findPrincipalByHash } from '@llm0/drizzle/queries/access/find-principal';
import { identityProviderRows } from '@llm0/drizzle/queries/access/identity-providers';
import { setGroupRoles } from '@llm0/drizzle/queries/access/users';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { refusalOf } from '../../pipeline/request/authenticate';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';
import { give, type Kit, makeKit, makePerson, type Person } from '../teams/people.fixture';

describe.each(ON_ONE_DATABASE)('keys of people on $name', (kind) => {
  let admin: AdminUnderTest;
  let kit: Kit;
  let boss: Person;
  beforeAll(async () => {
    admin = await openAdmin(kind);
    kit = await makeKit(admin, Date.now());
    boss = await makePerson(admin);
    await give(admin, kit.teamId, boss.id, 'team_admin');
  }, 60_000);
  afterAll(() => admin.close());

  const keys = () => `/projects/${kit.projectId}/keys`;
  const look = async (secret: string) => {
    const found = await findPrincipalByHash(admin.database.db, hashSecret(secret));
    if (found === null) throw new Error('the key is gone');
    const refusal = refusalOf({ key: found.key, project: found.project }, Date.now());
    return { version: found.key.version, why: refusal?.message ?? 'works', kind: refusal?.kind };
  };
  const makeMember = async (): Promise<Person> => {
    const person = await makePerson(admin);
    await give(admin, kit.teamId, person.id, 'member');
    return person;
  };
  const makeKey = async (person: Person, body: object = {}) => {
    const made = await person.call('POST', keys(), { body: { name: crypto.randomUUID(), ...body } });
    expect(made.status).toBe(201);
    return made.body as { id: string; key: string } & Record<string, unknown>;
  };
  const change = (person: Pick<Person, 'call'>, id: string, body: object) =>
    person.call('PATCH', `${keys()}/${id}`, { body });

  describe('and the role of their user', () => {
    test('a key stops with a lost role or membership, says so, and works again with the role', async () => {
      const ann = await makeMember();
      const { key } = await makeKey(ann);
      let { version } = await look(key);
      const outcome = async () => {
        const found = await look(key);
        expect(found.version).toBeGreaterThan(version);
        ({ version } = found);
        return found.kind ?? 'works';
      };
      for (const [role, expected] of [
        ['viewer', 'permission_denied'],
        ['member', 'works'],
        ['billing', 'permission_denied'],
        ['team_admin', 'works'],
      ] as const) {
        await give(admin, kit.teamId, ann.id, role);
        expect(await outcome()).toBe(expected);
      }
      await admin.call('DELETE', `/teams/${kit.teamId}/members/${ann.id}`);
      expect(await outcome()).toBe('permission_denied');
      expect((await look(key)).why).toContain('Ask an admin of the team for the role "member"');
      const elsewhere = (await admin.call('POST', '/teams', { body: { name: crypto.randomUUID() } })).body.id;
      await give(admin, elsewhere, ann.id, 'system_admin');
      expect(await outcome()).toBe('works');
      await admin.call('DELETE', `/teams/${elsewhere}`);
      expect(await outcome()).toBe('permission_denied');
    });

    test('a group that is gone takes the key along', async () => {
      const ann = await makePerson(admin);
      const provider = { name: crypto.randomUUID(), issuer: 'https://keys.test', clientId: 'c', scopes: 'openid' };
      const { db } = admin.database;
      const { id: identityProviderId } = await identityProviderRows.create(db, { ...provider, groupsClaim: 'groups' });
      const roles = [{ group: 'g', team_id: kit.teamId, role: 'member' as const }];
      const signIn = (given: typeof roles) => setGroupRoles(db, ann.id, { identityProviderId, roles: given });
      await signIn(roles);
      const { key, id } = await makeKey(ann);
      expect((await signIn([])).map((one) => one.id)).toEqual([id]);
      expect((await look(key)).kind).toBe('permission_denied');
      expect((await signIn(roles)).map((one) => one.id)).toEqual([id]);
      expect((await look(key)).why).toBe('works');
      await admin.call('DELETE', `/identity-providers/${identityProviderId}`);
      expect((await look(key)).kind).toBe('permission_denied');
    });

    test('an admin may give a key to somebody without a role; it follows the first role', async () => {
      const ann = await makePerson(admin);
      const made = await admin.call('POST', keys(), { body: { name: 'given', user_id: ann.id } });
      expect((await look(made.body.key)).why).toBe('works');
      await give(admin, kit.teamId, ann.id, 'member');
      await give(admin, kit.teamId, ann.id, 'viewer');
      expect((await look(made.body.key)).kind).toBe('permission_denied');
    });
  });

  describe('and what admins set', () => {
    const RULE = { name: 'no-mail', on: 'input', check: { type: 'pii', kinds: ['email'] }, action: 'block' };
    const SETTINGS: readonly (readonly [set: object, looser: object, stricter: object])[] = [
      [{ rate_limit_per_minute: 5 }, { rate_limit_per_minute: 6 }, { rate_limit_per_minute: 4 }],
      [{ rate_limit_per_minute: 5 }, { rate_limit_burst: 1000 }, { rate_limit_burst: 3 }],
      [{ tokens_per_minute: 500 }, { tokens_per_minute: null }, { tokens_per_minute: 500 }],
      [{ max_concurrency: 2 }, { max_concurrency: 3 }, { max_concurrency: 1 }],
      [{ budget_usd: 1 }, { budget_usd: 2 }, { budget_usd: 0.5 }],
      [{ budget_usd: 1 }, { budget_period: 'month' }, { budget_period: 'total' }],
      [{ daily_budget_usd: 1 }, { daily_budget_usd: null }, { daily_budget_usd: 0.1 }],
      [{ max_run_budget_usd: 1 }, { max_run_budget_usd: 1.1 }, { max_run_budget_usd: 0.1 }],
      [{ expires_at: '2030-01-01T00:00:00Z' }, { expires_at: null }, { expires_at: '2029-01-01T00:00:00Z' }],
      [{ allowed_models: ['a', 'b'] }, { allowed_models: ['a', 'c'] }, { allowed_models: ['a'] }],
      [{ allowed_tools: [] }, { allowed_tools: null }, { name: 'tools' }],
      [{ guardrail_rules: [RULE] }, { guardrail_rules: null }, { name: 'rules' }],
      [{ labels: { team: 'x' } }, { labels: { team: 'y' } }, { labels: { team: 'x', app: 'z' } }],
      [{ is_active: false }, { is_active: true }, { name: 'off' }],
    ];
    test.each(SETTINGS)('after %j %j is refused', async (set, looser, stricter) => {
      const ann = await makeMember();
      const { id } = await makeKey(ann);
      expect((await change(boss, id, set)).status).toBe(200);
      const refused = await change(ann, id, looser);
      expect([refused.status, refused.body.error?.code]).toEqual([403, 'permission_denied']);
      expect((await change(ann, id, stricter)).status).toBe(200);
      const rotated = await ann.call('POST', `${keys()}/${id}/rotate`);
      expect([rotated.status, (await change(ann, id, looser)).status]).toEqual([201, 403]);
      expect((await change(boss, id, looser)).status).toBe(200);
    });

    test('a member is free where no admin set anything', async () => {
      const ann = await makeMember();
      const { id } = await makeKey(ann, { budget_usd: 1 });
      const free = { budget_usd: 3, rate_limit_per_minute: null, is_active: false };
      expect((await change(ann, id, free)).status).toBe(200);
      expect((await change(ann, id, { is_active: true })).body.is_active).toBe(true);
    });

    test('another key is no way round', async () => {
      const ann = await makeMember();
      const { id } = await makeKey(ann);
      await change(boss, id, { rate_limit_per_minute: 5, budget_usd: 1, is_active: false });
      expect((await ann.call('POST', keys(), { body: { name: 'more' } })).status).toBe(403);
      expect((await ann.call('DELETE', `${keys()}/${id}`)).status).toBe(403);
      await change(boss, id, { is_active: true });
      expect((await ann.call('DELETE', `${keys()}/${id}`)).status).toBe(204);
      const next = await makeKey(ann, { rate_limit_per_minute: 100, budget_usd: 0.5 });
      expect(next).toMatchObject({ rate_limit_per_minute: 5, budget_usd: '0.5' });
      expect((await change(ann, next.id, { budget_usd: 0.9 })).status).toBe(200);
      expect((await change(ann, next.id, { budget_usd: 2 })).status).toBe(403);
      expect((await boss.call('DELETE', `${keys()}/${next.id}`)).status).toBe(204);
    });

    test('no key replaces a label of its project', async () => {
      const ann = await makeMember();
      const project = `/projects/${kit.projectId}`;
      await boss.call('PATCH', project, { body: { labels: { feature: 'search' } } });
      const labels = { feature: 'other' };
      expect((await ann.call('POST', keys(), { body: { name: 'l', labels } })).status).toBe(403);
      const { id } = await makeKey(ann, { labels: { feature: 'search', app: 'x' } });
      expect([(await change(ann, id, { labels })).status, (await change(boss, id, { labels })).status]).toEqual([
        403, 200,
      ]);
      await boss.call('PATCH', project, { body: { labels: null } });
    });

    test('an approved key stays within its request', async () => {
      await boss.call('PATCH', `/teams/${kit.teamId}`, { body: { key_approval: true } });
      const ann = await makeMember();
      const { id } = await makeKey(ann, { budget_usd: 1 });
      await boss.call('POST', `${keys()}/${id}/approve`);
      await boss.call('PATCH', `/teams/${kit.teamId}`, { body: { key_approval: false } });
      expect((await change(ann, id, { budget_usd: 2 })).status).toBe(403);
      expect((await change(ann, id, { budget_usd: null })).status).toBe(403);
      expect((await change(ann, id, { budget_usd: 0.5 })).status).toBe(200);
      expect((await change(ann, id, { budget_usd: 1 })).status).toBe(200);
    });
  });
});
