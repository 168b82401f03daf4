import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';
import { give, type Kit, makeKit, makePerson } from './people.fixture';

describe.each(ON_ONE_DATABASE)('budgets of levels in the admin API, on $name', (kind) => {
  let admin: AdminUnderTest;
  let kit: Kit;
  beforeAll(async () => {
    admin = await openAdmin(kind);
    kit = await makeKit(admin, Date.now());
  }, 60_000);
  afterAll(() => admin.close());

  /** What the hot store hears of a call. */
  const told = async (call: () => Promise<unknown>) => {
    const { hotStore } = admin.services;
    const setVersions = hotStore.setVersions.bind(hotStore);
    const heard: string[] = [];
    hotStore.setVersions = async (projectId, version, keys) => {
      heard.push(`${projectId} ${version === null ? 'keys' : 'project'} ${keys.map(({ keyId }) => keyId).join(' ')}`);
      await setVersions(projectId, version, keys);
    };
    await call().finally(() => {
      hotStore.setVersions = setVersions;
    });
    return heard;
  };

  test('lists are set and shown; rules that cannot be asked are refused', async () => {
    const rule = { name: 'keys', on: 'input', check: { type: 'secrets' }, action: 'block', on_error: 'block' };
    const lists = { passthrough: [], allowed_tools: ['github__*'], guardrail_rules: [rule] };
    const person = await makePerson(admin);
    const paths = [`/organizations/${kit.organizationId}`, `/teams/${kit.teamId}`, `/users/${person.id}`];
    for (const path of paths) {
      const patch = (body: object) => admin.call('PATCH', path, { body });
      expect((await patch(lists)).body).toMatchObject(lists);
      expect((await admin.call('GET', path)).body).toMatchObject(lists);
      const wrong = { ...rule, check: { type: 'regex', pattern: '(' } };
      const refused = await patch({ guardrail_rules: [wrong] });
      expect([path, refused.status, refused.body.error.param]).toEqual([path, 400, 'guardrail_rules.0.check']);
      const none = { passthrough: null, allowed_tools: null, guardrail_rules: null };
      expect((await patch(none)).body).toMatchObject(none);
    }
    const made = await admin.call('POST', '/teams', { body: { name: crypto.randomUUID(), ...lists } });
    expect(made.body).toMatchObject(lists);
  });

  test('set, shown, listed and taken away; in force when it is answered', async () => {
    const person = await makePerson(admin);
    const key = { name: 'of a person', user_id: person.id };
    const { id: keyId } = (await admin.call('POST', `/projects/${kit.projectId}/keys`, { body: key })).body;
    const amounts = { daily_budget_usd: 1.5, weekly_budget_usd: null, monthly_cap_usd: '20.000000001' };
    const project = `${kit.projectId} project `;
    for (const [path, heard] of [
      [`/organizations/${kit.organizationId}`, project],
      [`/teams/${kit.teamId}`, project],
      [`/users/${person.id}`, `${kit.projectId} keys ${keyId}`],
    ] as const) {
      let body: unknown;
      const patch = async () => {
        body = (await admin.call('PATCH', path, { body: amounts })).body;
      };
      expect([path, await told(patch)]).toEqual([path, [heard]]);
      expect(body).toMatchObject({ daily_budget_usd: '1.5', weekly_budget_usd: null, monthly_cap_usd: '20.000000001' });
      expect((await admin.call('GET', path)).body).toEqual(body);
      expect(await told(() => admin.call('PATCH', path, { body: { name: `named ${path}` } }))).toEqual([]);
    }
    const { data } = (await admin.call('GET', '/budgets?limit=1000')).body;
    const own = data.filter((one: { project_id: string | null }) => one.project_id === null);
    expect(own.map((one: { scope: string; period: string }) => `${one.scope} ${one.period}`).sort()).toEqual(
      ['organization', 'team', 'user'].flatMap((scope) => [`${scope} day`, `${scope} month`]),
    );
    expect((await admin.call('GET', '/budgets?scope=team')).body.data).toHaveLength(2);
    const none = { daily_budget_usd: null, monthly_cap_usd: null };
    for (const path of [`/organizations/${kit.organizationId}`, `/teams/${kit.teamId}`, `/users/${person.id}`])
      expect((await admin.call('PATCH', path, { body: none })).status).toBe(200);
    expect((await admin.call('GET', '/budgets?scope=user')).body.data).toEqual([]);
  });

  test('nobody changes the budget of what they administer', async () => {
    const [teamAdmin, orgAdmin] = [await makePerson(admin), await makePerson(admin)];
    await give(admin, kit.teamId, teamAdmin.id, 'team_admin');
    await give(admin, kit.teamId, orgAdmin.id, 'org_admin');
    const body = { daily_budget_usd: 9 };
    const [team, organization] = [`/teams/${kit.teamId}`, `/organizations/${kit.organizationId}`];
    const statusOf = async (person: typeof teamAdmin, path: string, change: object = body) =>
      (await person.call('PATCH', path, { body: change })).status;
    expect(await statusOf(teamAdmin, team)).toBe(403);
    for (const field of ['allowed_models', 'allowed_providers', 'passthrough', 'allowed_tools', 'guardrail_rules'])
      expect([field, await statusOf(teamAdmin, team, { [field]: null })]).toEqual([field, 403]);
    expect(await statusOf(teamAdmin, team, { name: 'another name' })).toBe(200);
    expect(await statusOf(orgAdmin, team)).toBe(200);
    expect(await statusOf(orgAdmin, organization)).toBe(403);
    expect(await statusOf(orgAdmin, organization, { name: 'its name' })).toBe(200);
    expect((await admin.call('GET', team)).body).toMatchObject({ name: 'another name', daily_budget_usd: '9' });
  });

  test('a project that moves is told of with its neighbours; a cluster refuses budgets of several projects', async () => {
    const other = await makeKit(admin, Date.now());
    await admin.call('PATCH', `/teams/${other.teamId}`, { body: { weekly_budget_usd: 3 } });
    const move = () => admin.call('PATCH', `/projects/${kit.projectId}`, { body: { team_id: other.teamId } });
    const heard = new Set(await told(move));
    expect(heard).toEqual(new Set([`${kit.projectId} project `, `${other.projectId} project `]));
    const { hotStore } = admin.services;
    Object.defineProperty(hotStore, 'holdsLevels', { value: false, configurable: true });
    const refused = await admin.call('PATCH', `/teams/${other.teamId}`, { body: { monthly_cap_usd: 1 } });
    expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringContaining('Redis cluster')]);
    expect((await admin.call('PATCH', `/teams/${other.teamId}`, { body: { weekly_budget_usd: null } })).status).toBe(
      200,
    );
    expect((await admin.call('POST', '/teams', { body: { name: 'x', monthly_cap_usd: 1 } })).status).toBe(400);
    Object.defineProperty(hotStore, 'holdsLevels', { value: true, configurable: true });
  });
});
