import { afterEach, beforeEach, expect, test } from 'bun:test';
import { toRequestBudgets } from '../budgets';
import { budgetOf } from '../budgets.cases';
import { until } from '../hot-store.cases';
import {
  flushNamespace,
  makeTempDir,
  requestOf,
  StoredRows,
  settlementOf,
  type TempDir,
  testRedisUrl,
} from '../store-rows.fixture';
import type { LostData } from './epoch';
import { RedisHotStore } from './redis-hot-store';

const HOLD_NANO_USD = 100;
const LEASE_MS = 60_000;

let dir: TempDir;
let rows: StoredRows;
let namespace: string;
let nowMs: number;
let lost: LostData[];
const stores: RedisHotStore[] = [];

beforeEach(() => {
  dir = makeTempDir();
  rows = new StoredRows();
  namespace = `llm0-test-${crypto.randomUUID()}`;
  nowMs = Date.now();
  lost = [];
});
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  dir.remove();
});

async function open(): Promise<RedisHotStore> {
  const store = new RedisHotStore({
    ...{ url: testRedisUrl(), namespace, dataDir: dir.path, admitDeadlineMs: 5_000, clock: () => nowMs },
    onDataLost: (data) => lost.push(data),
  });
  stores.push(store);
  await store.start(rows);
  return store;
}

/** Under an absolute cap that lets four of them in. */
const ask = (isAbsolute = true) =>
  requestOf({
    projectCapNanoUsd: 4 * HOLD_NANO_USD,
    requested: { holdNanoUsd: HOLD_NANO_USD, lostNanoUsd: HOLD_NANO_USD, isAbsolute },
  });

async function flush(...seenBy: RedisHotStore[]): Promise<void> {
  await flushNamespace(testRedisUrl(), namespace);
  await until(async () => lost.length > 0, 10_000);
  await until(async () => (await Promise.all(seenBy.map((store) => store.health()))).every(({ ok }) => ok), 10_000);
}

const heldNanoUsd = async (store: RedisHotStore) => (await store.counters())[0]?.heldNanoUsd ?? 0;

test('a flush within the lease of a killed process: its requests stay held, and are booked', async () => {
  const killed = await open();
  const alive = await open();
  for (let i = 0; i < 3; i++) expect((await killed.admit(ask())).type).toBe('admitted');
  // Its connections are gone, and nobody ends what it had open.
  await killed.close();
  await flush(alive);
  expect([lost, await heldNanoUsd(alive)]).toEqual([[{ restored: 3 }], 3 * HOLD_NANO_USD]);
  expect((await alive.admit(ask())).type).toBe('admitted');
  expect(await alive.admit(ask())).toMatchObject({ type: 'denied', reason: 'project_cap' });
  nowMs += LEASE_MS + 1;
  expect(await alive.reap()).toBe(4);
  await rows.drain(alive);
  expect([...rows.rows.values()].map(({ costNanoUsd }) => costNanoUsd)).toEqual(Array(4).fill(HOLD_NANO_USD));
  expect(await alive.admit(ask())).toMatchObject({ type: 'denied', reason: 'project_cap' });
});

test('open requests of live processes stay held and settle once', async () => {
  const one = await open();
  const two = await open();
  const requests = [ask(), ask(), ask()];
  const nows: number[] = [];
  for (const [index, request] of requests.entries()) nows.push((await (index === 0 ? two : one).admit(request)).nowMs);
  const [first, second, third] = requests as [(typeof requests)[0], (typeof requests)[0], (typeof requests)[0]];
  one.settle(settlementOf(third, nows[2] ?? 0, { costNanoUsd: 60 }));
  await one.flush(5_000);
  await flush(one, two);
  await until(async () => (await one.openHolds()) === 2);
  expect([await heldNanoUsd(one), lost]).toEqual([2 * HOLD_NANO_USD, [{ restored: 3 }]]);
  two.settle(settlementOf(first, nows[0] ?? 0, { costNanoUsd: 70 }));
  one.settle(settlementOf(second, nows[1] ?? 0, { costNanoUsd: 80 }));
  await until(async () => (await one.openHolds()) === 0);
  await rows.drain(one);
  expect((await one.counters())[0]).toMatchObject({ spentNanoUsd: 210, heldNanoUsd: 0 });
  expect([rows.costNanoUsd, rows.doubled]).toEqual([210, 0]);
});

test('holds without strict caps stay in the store only, and a new store lost nothing', async () => {
  const store = await open();
  expect(lost).toEqual([]);
  const request = ask(false);
  const { nowMs: atMs } = await store.admit(request);
  store.settle(settlementOf(request, atMs, { costNanoUsd: 60 }));
  await store.flush(5_000);
  await rows.drain(store);
  expect((await store.admit(ask(false))).type).toBe('admitted');
  await flush(store);
  expect([lost, await heldNanoUsd(store)]).toEqual([[{ restored: 0 }], 0]);
});

test('budgets count what was settled, what is handed in again, and what is open', async () => {
  const one = await open();
  const two = await open();
  const budgets = (limit: number) =>
    toRequestBudgets([
      budgetOf('day', { scope: 'project' }, limit),
      budgetOf('week', { scope: 'key', keyId: 'key-1' }, 1e9),
    ]);
  const asked = (limit = 1e9) => ({ ...ask(), ...{ requestId: crypto.randomUUID(), budgets: budgets(limit) } });
  const [drained, queued, left] = [asked(), asked(), asked()];
  for (const request of [drained, queued, left]) expect((await one.admit(request)).type).toBe('admitted');
  one.settle(settlementOf(drained, nowMs, { costNanoUsd: 50 }));
  await one.flush(5_000);
  await rows.drain(one);
  one.settle(settlementOf(queued, nowMs, { costNanoUsd: 60 }));
  await one.flush(5_000);
  await flush(one, two);
  // Refused until it has noticed the flush.
  const decide = (limit: number) => two.admit({ ...asked(limit), projectCapNanoUsd: null }).catch(() => undefined);
  await until(async () => {
    const decision = await decide(209);
    return decision?.type === 'denied' && decision.budget?.spentNanoUsd === 110;
  });
  one.settle(settlementOf(left, nowMs, { costNanoUsd: 30 }));
  await one.flush(5_000);
  await until(async () => (await decide(240))?.type === 'admitted');
  expect(await decide(339)).toMatchObject({ budget: { spentNanoUsd: 140 } });
});

test('a flush is told where nothing was spent, too', async () => {
  const store = await open();
  await flush(store);
  expect(lost).toEqual([{ restored: 0 }]);
});

test('counting anew is no loss', async () => {
  const store = await open();
  await store.admit(ask());
  await store.recount();
  expect([lost, await heldNanoUsd(store)]).toEqual([[], HOLD_NANO_USD]);
});

test('two processes that meet a new budget at once let in what fits', async () => {
  const processes = [await open(), await open()];
  const [one] = processes;
  for (let i = 0; i < 3; i++) {
    const request = { ...ask(false), requestId: crypto.randomUUID() };
    await one?.admit(request);
    one?.settle(settlementOf(request, nowMs, { costNanoUsd: 100 }));
  }
  await one?.flush(5_000);
  const budgets = toRequestBudgets([budgetOf('day', { scope: 'project' }, 300 + 7 * HOLD_NANO_USD, 2)]);
  const asked = () => ({ ...ask(false), requestId: crypto.randomUUID(), projectVersion: 2, budgets });
  const decide = (store: RedisHotStore) => store.admit({ ...asked(), projectCapNanoUsd: null });
  const decisions = await Promise.all(processes.flatMap((store) => Array.from({ length: 50 }, () => decide(store))));
  expect(decisions.filter(({ type }) => type === 'admitted')).toHaveLength(7);
});
