import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hashSecret } from '@llm0/core/keys/api-key';
import { type BudgetOwner, type BudgetSpan, periodAt } from '@llm0/core/limits/budgets';
import { sampleCall } from '@llm0/testing/stores/sample-call';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import type { Database, Db } from '../../client';
import { keyRows } from '../access/api-keys';
import { findPrincipalByKeyId } from '../access/find-principal';
import { projectRows } from '../access/projects';
import { storeLogRecords } from '../logs/log-insert';
import { listBudgets } from './budgets';
import { changeLabelBudget, createLabelBudget, deleteLabelBudget, listLabelBudgets } from './label-budgets';
import { sumBudget } from './sum-budget';

const DAY_MS = 86_400_000;
/** A Wednesday; its week began in the month before. */
const NOW_MS = Date.parse('2026-07-01T12:00:00Z');
const LABELS = { feature: 'search "x"', team: 'a' };

describe.each(TEST_DATABASES)('budgets of labels on $name', (kind) => {
  let database: Database;
  let db: Db;
  beforeAll(async () => {
    database = await kind.open();
    db = database.db;
  }, 60_000);
  afterAll(() => database.close());

  const create = (projectId: string, value = LABELS.feature) =>
    db.transaction((tx) =>
      createLabelBudget(
        tx,
        { projectId, label: 'feature', value, dailyNanoUsd: 100, monthlyNanoUsd: 1000 },
        { nowMs: NOW_MS },
      ),
    );
  const store = (...records: readonly object[]) =>
    storeLogRecords(
      db,
      records.map((record) => JSON.stringify(record)),
    );

  test('spend is that of the rows since month and week began, and of every row from then on', async () => {
    const project = await projectRows.create(db, { name: 'labels', dailyBudgetNanoUsd: 500 });
    const projectId = project.id;
    const apiKeyId = crypto.randomUUID();
    const row = (costNanoUsd: number, daysAgo: number, more: object = {}) =>
      sampleRecord({
        projectId,
        apiKeyId,
        costNanoUsd,
        createdAtMs: NOW_MS - daysAgo * DAY_MS,
        labels: LABELS,
        ...more,
      });
    const sum = (span: BudgetSpan, owner: BudgetOwner, except: readonly string[] = []) =>
      sumBudget(db, { projectId, owner, ...periodAt(span, NOW_MS), except });
    const search = { scope: 'label', label: 'feature', value: LABELS.feature } as const;
    const lost = row(40, 0, { errorCode: 'gateway_lost' });
    await store(row(1, 0), row(2, 1), row(4, 2), row(8, 3), row(16, 0, { labels: { team: 'a' } }), lost);
    await store(sampleCall({ projectId, apiKeyId, costNanoUsd: 32, createdAtMs: NOW_MS, labels: LABELS }));
    const budget = await create(projectId);
    expect(budget.projectVersion).toBe(project.version + 1);
    expect(await sum('day', search)).toBe(1 + 32 + 40);
    // Monday was two days ago, in June.
    expect(await sum('week', search)).toBe(1 + 2 + 4 + 32 + 40);
    expect(await sum('month', search)).toBe(1 + 32 + 40);
    const late = row(64, 0);
    await store(late, { ...lost, costNanoUsd: 50, corrects: true }, sampleRecord({ labels: LABELS, costNanoUsd: 7 }));
    await store(late);
    expect(await sum('day', search)).toBe(1 + 32 + 50 + 64);
    expect(await sum('day', search, [late.id])).toBe(1 + 32 + 50);
    expect(await sum('week', { scope: 'project' })).toBe(1 + 2 + 4 + 16 + 32 + 50 + 64);
    expect(await sum('day', { scope: 'key', keyId: apiKeyId })).toBe(1 + 16 + 32 + 50 + 64);
    expect(await sum('day', { scope: 'key', keyId: crypto.randomUUID() })).toBe(0);
    const used = await listBudgets(db, { nowMs: NOW_MS, limit: 10, projectId });
    expect(used.map(({ scope, period, name, usedNanoUsd }) => [scope, period, name, usedNanoUsd])).toEqual([
      ['label', 'day', 'feature=search "x"', 147],
      ['project', 'day', 'labels', 163],
      ['label', 'month', 'feature=search "x"', 147],
    ]);
  });

  test('a key has those of its project, and the version says that they changed', async () => {
    const project = await projectRows.create(db, { name: 'owner' });
    const key = { projectId: project.id, name: 'k', hash: hashSecret(project.id), prefix: 'x' };
    const { id } = await keyRows.create(db, key);
    const labelsOf = async () => (await findPrincipalByKeyId(db, id))?.labelBudgets;
    expect(await labelsOf()).toEqual([]);
    const budget = await create(project.id);
    const amounts = { dailyNanoUsd: 100, weeklyNanoUsd: null, monthlyNanoUsd: 1000 };
    expect(await labelsOf()).toEqual([{ label: 'feature', value: LABELS.feature, ...amounts }]);
    expect(await create(project.id).catch((error: { kind: string }) => error.kind)).toBe('conflict');
    const other = await create(project.id, 'chat');
    const changed = await db.transaction((tx) => changeLabelBudget(tx, budget.id, { dailyNanoUsd: null }));
    expect(changed).toMatchObject({ dailyNanoUsd: null, monthlyNanoUsd: 1000, projectVersion: project.version + 3 });
    expect((await listLabelBudgets(db, { limit: 9 }, project.id)).data.map(({ id: one }) => one)).toEqual([
      other.id,
      budget.id,
    ]);
    expect((await db.transaction((tx) => deleteLabelBudget(tx, budget.id)))?.projectVersion).toBe(project.version + 4);
    expect(await labelsOf()).toHaveLength(1);
    expect(await db.transaction((tx) => deleteLabelBudget(tx, budget.id))).toBeNull();
  });
});
