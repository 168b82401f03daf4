import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Principal } from '@llm0/core/keys/api-key';
import type { Database, Db } from '@llm0/drizzle/client';
import { projectRows } from '@llm0/drizzle/queries/access/projects';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { RunBudgets } from './run-budgets';

// Postgres decides nothing here.
const kind = TEST_DATABASES.at(-1) as (typeof TEST_DATABASES)[number];
let database: Database;
beforeAll(async () => {
  database = await kind.open();
}, 60_000);
afterAll(() => database.close());

function open(monotonicMs: () => number) {
  let asked = 0;
  const listeners: ((topic: string) => void)[] = [];
  const db = new Proxy(database.db, {
    get: (target, name, receiver) => {
      if (name === 'select') asked += 1;
      return Reflect.get(target, name, receiver);
    },
  }) as Db;
  const hotStore = {
    notify: async (topic: string) => {
      for (const listener of listeners) listener(topic);
    },
    onNotify: (listener: (topic: string) => void) => {
      listeners.push(listener);
      return () => {};
    },
  };
  const runs = new RunBudgets({ db, hotStore, clock: { nowMs: Date.now, monotonicMs } });
  return { runs, asked: () => asked };
}

const principalOf = (projectId: string, given: object = {}) =>
  ({
    project: { id: projectId },
    key: { id: crypto.randomUUID(), maxRunBudgetNanoUsd: null, defaultRunBudgetNanoUsd: null, ...given },
  }) as unknown as Principal;

test('whoever only names runs asks Postgres once a second, until the project has one with a budget', async () => {
  let nowMs = 0;
  const { runs, asked } = open(() => nowMs);
  const { id } = await projectRows.create(database.db, { name: 'runs' });
  const principal = principalOf(id);
  const find = (runId: string, wantedNanoUsd?: number) => runs.find({ principal, runId, wantedNanoUsd });
  for (let n = 0; n < 100; n++) expect(await find(`run-${n}`)).toBeNull();
  expect(asked()).toBe(1);
  nowMs = 1001;
  expect(await find('run-0')).toBeNull();
  expect(asked()).toBe(2);
  expect(await find('dear', 500)).toMatchObject({ budgetNanoUsd: 500 });
  expect(await find('dear')).toMatchObject({ budgetNanoUsd: 500 });
  expect(runs.has(id, 'dear')).toBe(true);
  expect(await find('run-0')).toBeNull();
});

test('the smaller of the wanted budget and the most that the key permits counts; without a wish, its default', async () => {
  const { runs } = open(() => 0);
  const { id } = await projectRows.create(database.db, { name: 'bounded' });
  const budgetOf = async (given: object, wantedNanoUsd?: number) =>
    (await runs.find({ principal: principalOf(id, given), runId: crypto.randomUUID(), wantedNanoUsd }))?.budgetNanoUsd;
  expect(await budgetOf({ maxRunBudgetNanoUsd: 5 }, 9)).toBe(5);
  expect(await budgetOf({ maxRunBudgetNanoUsd: 5 }, 3)).toBe(3);
  expect(await budgetOf({ maxRunBudgetNanoUsd: 5 })).toBe(5);
  expect(await budgetOf({ maxRunBudgetNanoUsd: 5, defaultRunBudgetNanoUsd: 2 })).toBe(2);
  expect(await budgetOf({ defaultRunBudgetNanoUsd: 2 })).toBe(2);
  expect(await budgetOf({})).toBeUndefined();
});
