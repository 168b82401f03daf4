// Members stop and raise the runs of their own keys; admins those of their teams.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { openRun } from '@llm0/drizzle/queries/limits/runs';
import { insertLogRecords } from '@llm0/drizzle/queries/logs/log-insert';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { ON_ONE_DATABASE } from '@llm0/testing/stores/test-databases';
import { type AdminUnderTest, openAdmin } from '../admin.fixture';
import { give, type Kit, makeKit, makePerson, type Person } from '../teams/people.fixture';

describe.each(ON_ONE_DATABASE)('runs of own keys on $name', (kind) => {
  let admin: AdminUnderTest;
  let kit: Kit;
  let [ann, bob, boss, viewer, stranger] = [] as Person[] as [Person, Person, Person, Person, Person];
  beforeAll(async () => {
    admin = await openAdmin(kind);
    kit = await makeKit(admin, Date.now());
    const other = await makeKit(admin, Date.now());
    [ann, bob, boss] = [await makePerson(admin), await makePerson(admin), await makePerson(admin)];
    [viewer, stranger] = [await makePerson(admin), await makePerson(admin)];
    await give(admin, kit.teamId, ann.id, 'member');
    await give(admin, kit.teamId, bob.id, 'member');
    await give(admin, kit.teamId, viewer.id, 'viewer');
    await give(admin, other.teamId, stranger.id, 'team_admin');
    // A role elsewhere takes nothing away here.
    await give(admin, kit.teamId, boss.id, 'team_admin');
    await give(admin, other.teamId, boss.id, 'member');
  }, 60_000);
  afterAll(() => admin.close());

  const begin = async (key: object) => {
    const body = { name: crypto.randomUUID(), ...key };
    const made = await ann.call('POST', `/projects/${kit.projectId}/keys`, { body });
    const run = { projectId: kit.projectId, runId: crypto.randomUUID(), budgetNanoUsd: 1_000_000_000 };
    await openRun(admin.database.db, { ...run, apiKeyId: made.body.id });
    return run.runId;
  };
  const raise = async (person: Person, runId: string, usd: number) =>
    (await person.call('POST', `/runs/${runId}/raise`, { body: { budget_usd: usd } })).status;
  const stop = async (person: Person, runId: string) => (await person.call('POST', `/runs/${runId}/stop`)).status;

  test('up to what the key permits; beyond it, an admin', async () => {
    const runId = await begin({ max_run_budget_usd: 2 });
    expect([await raise(ann, runId, 2), await raise(ann, runId, 2.1)]).toEqual([200, 403]);
    expect(await raise(boss, runId, 5)).toBe(200);
    expect(await raise(ann, await begin({}), 50)).toBe(200);
  });

  test('only above what is spent, so that the run goes on', async () => {
    const runId = await begin({});
    const spent = sampleRecord({ projectId: kit.projectId, runId, costNanoUsd: 3_000_000_000 });
    await insertLogRecords(admin.database.db, [spent]);
    const { body } = await boss.call('POST', `/runs/${runId}/raise`, { body: { budget_usd: 3 } });
    expect(body.error).toMatchObject({ param: 'budget_usd', message: expect.stringContaining('above $3.00') });
    expect(await raise(boss, runId, 3.01)).toBe(200);
  });

  test("nobody else's, and none without a role that permits own keys", async () => {
    const runId = await begin({});
    for (const [person, status] of [
      [bob, 403],
      [viewer, 403],
      [stranger, 404],
    ] as const)
      expect([await raise(person, runId, 2), await stop(person, runId)]).toEqual([status, status]);
    const shown = async (person: Person) => (await person.call('GET', `/runs/${runId}`)).body.may_change;
    const may = [await shown(ann), await shown(boss), await shown(bob), await shown(viewer)];
    expect(may).toEqual([true, true, false, false]);
    expect((await admin.call('GET', `/runs/${runId}`)).body.may_change).toBe(true);
    expect(await stop(ann, runId)).toBe(200);
    expect(await raise(ann, runId, 3)).toBe(409);
    expect(await stop(boss, await begin({}))).toBe(200);
  });
});
