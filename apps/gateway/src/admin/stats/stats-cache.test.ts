import { expect, test } from 'bun:test';
import type { StatsQuestion } from './answer-stats';
import { StatsCache } from './stats-cache';

const question = (fromMs: number, nowMs = 1): StatsQuestion => ({
  kind: 'overview',
  query: { fromMs, toMs: fromMs + 10, nowMs },
});

/** A reader that answers with a counter once it is let, and says whether its answers are worth keeping. */
function openCache(isWorthKeeping = true, length = 10) {
  const clock = { ms: 0, monotonicMs: () => clock.ms };
  let asked = 0;
  let failure: Error | undefined;
  const reader = {
    async answer() {
      const json = String(++asked).padStart(length, ' ');
      await Bun.sleep(1);
      if (failure !== undefined) throw failure;
      return { json, isWorthKeeping };
    },
  };
  const cache = new StatsCache(reader, clock);
  const ask = async (fromMs: number, isFresh?: boolean) =>
    Number((await cache.answer(question(fromMs, clock.ms), isFresh)).json);
  const fail = (error?: Error) => {
    failure = error;
  };
  return { clock, cache, ask, fail, asked: () => asked };
}

test('an answer is kept for 20 s, whenever it is asked for, and tells its age', async () => {
  const { clock, cache, ask } = openCache();
  expect(await ask(1)).toBe(1);
  clock.ms = 19_999;
  expect(await ask(1)).toBe(1);
  expect((await cache.answer(question(1))).ageMs).toBe(19_999);
  expect(await ask(2)).toBe(2);
  clock.ms = 20_000;
  expect(await ask(1)).toBe(3);
  expect(await ask(2)).toBe(2);
});

test('unshared questions repeat, one at a time', async () => {
  const { ask } = openCache(false);
  expect(await Promise.all([ask(1), ask(1), ask(2)])).toEqual([1, 1, 2]);
  expect(await ask(1)).toBe(3);
});

test('a refresh gets a new answer, and so does the next request', async () => {
  const { ask } = openCache();
  await ask(1);
  expect(await ask(1, true)).toBe(2);
  expect(await ask(1)).toBe(2);
});

test('a failure is told to all who wait, and not kept', async () => {
  const { ask, fail } = openCache();
  fail(new Error('away'));
  const outcomes = await Promise.allSettled([ask(1), ask(1)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fail();
  expect(await ask(1)).toBe(2);
});

test('the oldest make room: 500 answers, 16 MiB, none of more than a quarter of that', async () => {
  const few = openCache();
  for (let i = 0; i <= 500; i++) await few.ask(i);
  await few.ask(500);
  expect(few.asked()).toBe(501);
  await few.ask(0);
  expect(few.asked()).toBe(502);
  const large = openCache(true, 3 * 2 ** 20);
  for (let i = 0; i < 6; i++) await large.ask(i);
  await large.ask(5);
  expect(large.asked()).toBe(6);
  await large.ask(0);
  expect(large.asked()).toBe(7);
  const huge = openCache(true, 5 * 2 ** 20);
  await huge.ask(1);
  expect(await huge.ask(1)).toBe(2);
});

test('invalidated answers are fetched again, also during a fetch', async () => {
  const { cache, ask } = openCache();
  await ask(1);
  cache.forget('histogram');
  expect(await ask(1)).toBe(1);
  const underWay = ask(2);
  cache.forget('overview');
  expect(await Promise.all([ask(1), ask(2), underWay])).toEqual([3, 4, 2]);
  expect(await ask(2)).toBe(4);
});
