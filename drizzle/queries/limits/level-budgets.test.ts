import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hashSecret } from '@llm0/core/keys/api-key';
import { type Level, periodAt } from '@llm0/core/limits/budgets';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import type { Database, Db } from '../../client';
import { keyRows } from '../access/api-keys';
import { findPrincipalByKeyId } from '../access/find-principal';
import { membersOf, raiseLevel, raiseTeams, raiseUsers } from '../access/levels';
import { projectRows } from '../access/projects';
import { organizationRows, teamRows } from '../access/teams';
import { userRows } from '../access/users';
import { storeLogRecords } from '../logs/log-insert';
import { loadBudgetDays } from './budget-days';
import { listBudgets } from './budgets';
import { sumBudget } from './sum-budget';

const DAY_MS = 86_400_000;
/** A Thursday, the second of a month. */
const NOW_MS = Date.parse('2026-07-02T12:00:00Z');

describe.each(TEST_DATABASES)('budgets of levels on $name', (kind) => {
  let database: Database;
  let db: Db;
  beforeAll(async () => {
    database = await kind.open();
    db = database.db;
  }, 60_000);
  afterAll(() => database.close());

  const named = (what: string) => `${what} ${crypto.randomUUID()}`;
  /** Two teams of an organization with a project each; one user has a key in both. */
  const makeTree = async () => {
    const organization = await organizationRows.create(db, { name: named('org'), monthlyCapNanoUsd: 5000 });
    const user = await userRows.create(db, { name: named('ann'), weeklyBudgetNanoUsd: 700 });
    const makeTeam = async (daily: number | null) => {
      const name = named('team');
      const team = await teamRows.create(db, { organizationId: organization.id, name, dailyBudgetNanoUsd: daily });
      const project = await projectRows.create(db, { name: named('project'), teamId: team.id });
      const secret = { hash: hashSecret(crypto.randomUUID()), prefix: 'llm0_' };
      const key = await keyRows.create(db, { ...secret, projectId: project.id, name: 'k', userId: user.id });
      return { team, project, key };
    };
    return { organization, user, one: await makeTeam(900), two: await makeTeam(null) };
  };
  type Tree = Awaited<ReturnType<typeof makeTree>>;
  const spend = (at: Tree['one'], costNanoUsd: number, daysAgo = 0) => {
    const ids = { projectId: at.project.id, apiKeyId: at.key.id };
    return storeLogRecords(db, [
      JSON.stringify(sampleRecord({ ...ids, costNanoUsd, createdAtMs: NOW_MS - daysAgo * DAY_MS })),
    ]);
  };
  const sum = (scope: Level, levelId: string, span: 'day' | 'week' | 'month') =>
    sumBudget(db, { projectId: crypto.randomUUID(), owner: { scope, levelId }, ...periodAt(span, NOW_MS), except: [] });

  test('spend is that of all members; lists, days and the principal tell of each', async () => {
    const { organization, user, one, two } = await makeTree();
    await spend(one, 100);
    await spend(one, 20, 1);
    await spend(two, 3);
    await spend(two, 4000, 3);
    await spend((await makeTree()).one, 50_000);
    expect(await sum('organization', organization.id, 'month')).toBe(123);
    expect(await sum('team', one.team.id, 'day')).toBe(100);
    expect(await sum('user', user.id, 'week')).toBe(123 + 4000);
    const own = new Set([organization.id, user.id, one.team.id, two.team.id]);
    const listed = (await listBudgets(db, { nowMs: NOW_MS, limit: 1000 })).filter(({ id }) => own.has(id));
    expect(listed.map(({ scope, period, projectId, usedNanoUsd }) => [scope, period, projectId, usedNanoUsd])).toEqual([
      ['user', 'week', null, 4123],
      ['team', 'day', null, 100],
      ['organization', 'month', null, 123],
    ]);
    expect(await listBudgets(db, { nowMs: NOW_MS, limit: 1000, projectId: one.project.id })).toEqual([]);
    const days = await loadBudgetDays(db, { fromMs: NOW_MS, nowMs: NOW_MS });
    const ofTeam = days.find(({ id }) => id === one.team.id);
    expect([...(ofTeam?.days.values() ?? [])].sort()).toEqual([100, 20]);
    const levels = (await findPrincipalByKeyId(db, one.key.id))?.levels;
    const none = {
      ...{ dailyBudgetNanoUsd: null, weeklyBudgetNanoUsd: null, monthlyCapNanoUsd: null, version: 1 },
      ...{ rateLimitPerMinute: null, tokensPerMinute: null },
    };
    expect(levels).toEqual([
      { ...none, level: 'organization', id: organization.id, monthlyCapNanoUsd: 5000 },
      { ...none, level: 'team', id: one.team.id, dailyBudgetNanoUsd: 900 },
      { ...none, level: 'user', id: user.id, weeklyBudgetNanoUsd: 700 },
    ]);
  });

  test('a change raises the level and everything below it', async () => {
    const { organization, user, one, two } = await makeTree();
    const below = await raiseLevel(db, { scope: 'organization', levelId: organization.id }, 1);
    const versions = [one, two].map(({ project }) => [project.id, project.version + 1]);
    expect(below.map(({ projectId, projectVersion }) => [projectId, projectVersion]).sort()).toEqual(versions.sort());
    expect((await organizationRows.get(db, { id: organization.id }))?.version).toBe(2);
    const keys = await raiseLevel(db, { scope: 'user', levelId: user.id }, 1);
    expect(keys.map(({ keys: [key] }) => key?.keyId).sort()).toEqual([one.key.id, two.key.id].sort());
    expect(keys.every(({ projectVersion }) => projectVersion === null)).toBe(true);
  });

  test('a member that moves makes budgets count anew, and only those', async () => {
    const { organization, user, one, two } = await makeTree();
    await projectRows.update(db, { id: two.project.id }, { teamId: one.team.id });
    const raised = await raiseTeams(db, [two.team.id, one.team.id]);
    expect(raised.map(({ projectId }) => projectId).sort()).toEqual([one.project.id, two.project.id].sort());
    expect((await teamRows.get(db, { id: one.team.id }))?.version).toBe(3);
    // It has no budget, and the organization is the same.
    expect((await teamRows.get(db, { id: two.team.id }))?.version).toBe(1);
    expect((await organizationRows.get(db, { id: organization.id }))?.version).toBe(1);
    const members = await membersOf(db, { scope: 'team', levelId: one.team.id });
    expect([...members].sort()).toEqual([one.project.id, two.project.id].sort());
    await keyRows.update(db, { id: two.key.id }, { userId: null });
    expect((await raiseUsers(db, [user.id, null])).map(({ keys: [key] }) => key?.keyId)).toEqual([one.key.id]);
    expect((await userRows.get(db, { id: user.id }))?.version).toBe(3);
  });
});
