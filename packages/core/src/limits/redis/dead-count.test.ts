import { afterEach, beforeEach, expect, test } from 'bun:test';
import { toRequestBudgets } from '../budgets';
import { budgetOf } from '../budgets.cases';
import { makeTempDir, requestOf, StoredRows, type TempDir, testRedisUrl } from '../store-rows.fixture';
import { RedisHotStore } from './redis-hot-store';

let dir: TempDir;
let namespace: string;
const stores: RedisHotStore[] = [];

beforeEach(() => {
  dir = makeTempDir();
  namespace = `llm0-test-${crypto.randomUUID()}`;
});
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  dir.remove();
});

/** `onSum` runs before the process reads the spend of a budget. */
async function open(onSum: () => Promise<unknown>): Promise<RedisHotStore> {
  const rows = new StoredRows();
  const sumBudget = rows.sumBudget.bind(rows);
  rows.sumBudget = async (asked) => {
    await onSum();
    return sumBudget(asked);
  };
  const store = new RedisHotStore({ url: testRedisUrl(), namespace, dataDir: dir.path, admitDeadlineMs: 15_000 });
  stores.push(store);
  await store.start(rows);
  return store;
}

/** A run's first request with a budget: the spend before it counts. */
const ask = () => requestOf({ budgets: toRequestBudgets([budgetOf('run', { scope: 'run', runId: 'agent' }, 1000)]) });

/** Resolves once a process counts. */
function watchSums(thenWait: Promise<unknown>) {
  const begun = Promise.withResolvers<void>();
  return {
    begun: begun.promise,
    onSum: () => {
      begun.resolve();
      return thenWait;
    },
  };
}

test('a process that dies while it counts a budget keeps others waiting for two seconds', async () => {
  const { begun, onSum } = watchSums(new Promise(() => {}));
  const killed = await open(onSum);
  const alive = await open(async () => {});
  void killed.admit(ask()).catch(() => {});
  await begun;
  await killed.close();
  const decision = await Promise.race([alive.admit(ask()), Bun.sleep(4_000)]);
  expect(decision?.type).toBe('admitted');
});

test('a count that takes long is made once', async () => {
  const slow = watchSums(Bun.sleep(3_500));
  const other = { sums: 0 };
  const one = await open(slow.onSum);
  const two = await open(async () => void other.sums++);
  const first = one.admit(ask());
  await slow.begun;
  const both = await Promise.all([first, two.admit(ask())]);
  expect([...both.map(({ type }) => type), other.sums]).toEqual(['admitted', 'admitted', 0]);
});
