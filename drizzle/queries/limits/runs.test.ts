import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sampleCall } from '@llm0/testing/stores/sample-call';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import type { Database, Db } from '../../client';
import { projectRows } from '../access/projects';
import { storeLogRecords } from '../logs/log-insert';
import {
  deleteOldRuns,
  forgottenRun,
  hasRuns,
  listRunItems,
  loadRunUsage,
  openRun,
  pauseRun,
  runRows,
  runsToForget,
} from './runs';
import { sumBudget } from './sum-budget';

const DAY_MS = 86_400_000;

describe.each(TEST_DATABASES)("agents' runs on $name", (kind) => {
  let database: Database;
  let db: Db;
  let projectId: string;
  beforeAll(async () => {
    database = await kind.openOwn();
    db = database.db;
    projectId = (await projectRows.create(db, { name: 'agents' })).id;
  }, 60_000);
  afterAll(() => database.close(), 60_000);

  const open = (runId: string, budgetNanoUsd = 100) =>
    openRun(db, { projectId, runId, apiKeyId: crypto.randomUUID(), budgetNanoUsd });

  test('the first request sets the budget, whoever comes at the same time', async () => {
    const opened = await Promise.all([open('one', 100), open('one', 200), open('one', 300)]);
    expect(new Set(opened.map(({ run }) => `${run.id} ${run.budgetNanoUsd}`)).size).toBe(1);
    expect(opened.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect([await hasRuns(db, projectId), await hasRuns(db, crypto.randomUUID())]).toEqual([true, false]);
    await pauseRun(db, opened[0].run.id, 5);
    await pauseRun(db, opened[0].run.id, 6);
    expect(await runRows.get(db, { projectId, runId: 'one' })).toMatchObject({ pausedAtMs: 5 });
  });

  test('its spend is that of its requests and tool calls, in its own project', async () => {
    const nowMs = Date.now();
    const rows = [
      sampleRecord({ projectId, runId: 'a:b', costNanoUsd: 7, createdAtMs: nowMs - 2 }),
      sampleRecord({ projectId: crypto.randomUUID(), runId: 'a:b', costNanoUsd: 1000, createdAtMs: nowMs }),
      sampleCall({ projectId, runId: 'a:b', costNanoUsd: 20, createdAtMs: nowMs - 1 }),
    ];
    await storeLogRecords(
      db,
      rows.map((row) => JSON.stringify(row)),
    );
    const at = { projectId, runId: 'a:b' };
    expect(await loadRunUsage(db, at)).toMatchObject({ spentNanoUsd: 27, requests: 1, toolCalls: 1 });
    expect((await listRunItems(db, at, 10)).map(({ type, costNanoUsd }) => [type, costNanoUsd])).toEqual([
      ['request', 7],
      ['tool_call', 20],
    ]);
    const owner = { scope: 'run', runId: 'a:b' } as const;
    const sum = { projectId, owner, fromMs: 0, toMs: 8.64e15 };
    expect(await sumBudget(db, { ...sum, except: [] })).toBe(27);
    expect(await sumBudget(db, { ...sum, except: [rows[0]?.id ?? ''] })).toBe(20);
  });

  test('runs of a day ago are forgotten once, and deleted with the log', async () => {
    const {
      run: { id },
    } = await open('old');
    const nowMs = Date.now() + 2 * DAY_MS;
    const due = async () => (await runsToForget(db, nowMs - DAY_MS, 10)).filter((run) => run.id === id).length;
    expect(await due()).toBe(1);
    await forgottenRun(db, id, nowMs);
    expect(await due()).toBe(0);
    expect(await deleteOldRuns(db, nowMs - 3 * DAY_MS)).toBe(0);
    await deleteOldRuns(db, nowMs);
    expect(await runRows.get(db, { id })).toBeNull();
  });
});
