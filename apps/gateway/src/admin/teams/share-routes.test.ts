import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin, storeRecords } from '../admin.fixture';

describe.each(ON_ONE_DATABASE)("shares of a team's budget in the admin API, on $name", (kind) => {
  let admin: AdminUnderTest;
  beforeAll(async () => {
    admin = await openAdmin(kind);
  }, 60_000);
  afterAll(() => admin.close());

  const makeTeam = async (monthlyCapUsd: string | null = '10') => {
    const body = { name: crypto.randomUUID(), monthly_cap_usd: monthlyCapUsd };
    return (await admin.call('POST', '/teams', { body })).body.id as string;
  };
  const spend = async (projectId: string, costNanoUsd: number) => {
    const key = await admin.call('POST', `/projects/${projectId}/keys`, { body: { name: 'k' } });
    await storeRecords(admin, [
      sampleRecord({ projectId, apiKeyId: key.body.id, createdAtMs: admin.services.clock.nowMs(), costNanoUsd }),
    ]);
  };
  const sharesOf = async (teamId: string) => (await admin.call('GET', `/teams/${teamId}/shares`)).body;

  test('what each project has, spent and took of the rest; projects without a share and deleted ones take of the rest', async () => {
    const team = await makeTeam();
    const of = (share: string | null, overdraft = true) =>
      admin.createProject({ team_id: team, team_share_usd: share, team_overdraft: overdraft });
    const [big, small, none, gone] = [await of('4'), await of('1.5', false), await of(null), await of('2')];
    await spend(big.id, 5_000_000_001);
    await spend(small.id, 1_000_000_000);
    await spend(none.id, 200_000_000);
    await spend(gone.id, 30_000_000);
    await admin.call('DELETE', `/projects/${gone.id}`);
    const row = (
      project: { id: string; name: string },
      share: string,
      overdraft: boolean,
      spent: string,
      drawn: string,
    ) => ({
      ...{
        project_id: project.id,
        name: project.name,
        share_usd: share,
        overdraft,
        spent_usd: spent,
        drawn_usd: drawn,
      },
    });
    expect(await sharesOf(team)).toEqual({
      budget_usd: '10',
      spent_usd: '6.230000001',
      rest_usd: '4.5',
      drawn_usd: '1.230000001',
      others_spent_usd: '0.23',
      data: [row(big, '4', true, '5.000000001', '1.000000001'), row(small, '1.5', false, '1', '0')],
    });
  });

  test('a share is a budget in lists and alerts, while the team has one', async () => {
    const team = await makeTeam('10');
    const { id } = await admin.createProject({ team_id: team, team_share_usd: '4' });
    await spend(id, 3_000_000_000);
    const listed = async () => (await admin.call('GET', `/budgets?scope=share&project_id=${id}`)).body.data;
    const row = { scope: 'share', period: 'month', project_id: id, id, limit_usd: '4', used_usd: '3', share: 0.75 };
    expect(await listed()).toMatchObject([row]);
    await admin.call('PATCH', `/teams/${team}`, { body: { monthly_cap_usd: null } });
    expect(await listed()).toEqual([]);
  });

  test('shares beyond the budget leave a rest below 0; without a budget there is none', async () => {
    const [over, without] = [await makeTeam('1'), await makeTeam(null)];
    for (const team of [over, without]) await admin.createProject({ team_id: team, team_share_usd: '3' });
    expect(await sharesOf(over)).toMatchObject({ budget_usd: '1', rest_usd: '-2' });
    expect(await sharesOf(without)).toMatchObject({ budget_usd: null, rest_usd: null });
    expect((await admin.call('GET', `/teams/${crypto.randomUUID()}/shares`)).status).toBe(404);
  });

  test('all projects of the team read shares again when one is made, changed or deleted, and not for another change', async () => {
    const team = await makeTeam();
    const other = await admin.createProject({ team_id: team });
    const heard: string[] = [];
    const { hotStore } = admin.services;
    const setVersions = hotStore.setVersions.bind(hotStore);
    hotStore.setVersions = async (...args) => {
      heard.push(args[0]);
      await setVersions(...args);
    };
    const isTold = async (change: () => Promise<unknown>) => {
      heard.length = 0;
      await change();
      return heard.includes(other.id);
    };
    const { id } = await admin.createProject({ team_id: team });
    const patch = (body: object) => () => admin.call('PATCH', `/projects/${id}`, { body });
    try {
      expect(await isTold(() => admin.createProject({ team_id: team, team_share_usd: '1' }))).toBe(true);
      expect(await isTold(patch({ team_share_usd: '2' }))).toBe(true);
      expect(await isTold(patch({ team_overdraft: false }))).toBe(true);
      expect(await isTold(patch({ name: 'renamed' }))).toBe(false);
      expect(await isTold(() => admin.call('DELETE', `/projects/${id}`))).toBe(true);
    } finally {
      hotStore.setVersions = setVersions;
    }
  });

  test('many changes at once: each is made, and none waits for another forever', async () => {
    const [team, other] = [await makeTeam(), await makeTeam()];
    const made = await Promise.all(Array.from({ length: 8 }, () => admin.createProject({ team_id: team })));
    const calls = made.flatMap(({ id }, n) => [
      admin.call('PATCH', `/projects/${id}`, { body: { team_share_usd: '0.5' } }),
      admin.call('PATCH', `/teams/${team}`, { body: { monthly_cap_usd: String(n + 1) } }),
      ...(n % 4 === 0 ? [admin.call('PATCH', `/projects/${id}`, { body: { team_id: other } })] : []),
      ...(n % 4 === 1 ? [admin.call('DELETE', `/projects/${id}`)] : []),
    ]);
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
    expect((await sharesOf(team)).data).toHaveLength(4);
  }, 60_000);

  test('a team has at most 100 shares', async () => {
    const team = await makeTeam();
    for (let i = 0; i < 100; i++) await admin.createProject({ team_id: team, team_share_usd: '0.01' });
    const body = { name: 'one more', team_id: team, team_share_usd: '0.01' };
    const refused = await admin.call('POST', '/projects', { body });
    expect([refused.status, refused.body.error.param]).toEqual([400, 'team_share_usd']);
  });
});
