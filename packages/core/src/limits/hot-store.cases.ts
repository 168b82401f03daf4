import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { CustomerLimits, HotStore } from './hot-store';
import { requestOf, StoredRows, settlementOf } from './store-rows.fixture';

export interface StoreUnderTest {
  readonly store: HotStore;
  readonly rows: StoredRows;
  readonly dispose: () => Promise<void>;
}

export interface StoreClock {
  ms: number;
}

export interface StoreOptions {
  readonly clock: StoreClock;
  readonly rows: StoredRows;
  readonly queueMaxEntries?: number;
  readonly cacheMaxBytes?: number;
}

export type OpenStore = (options: StoreOptions) => Promise<StoreUnderTest>;

export const START_MS = Date.UTC(2026, 4, 31, 23, 50);

export const NO_LIMITS: CustomerLimits = {
  dailySpendNanoUsd: null,
  monthlySpendNanoUsd: null,
  perRequestMaxNanoUsd: null,
  requestsPerMinute: null,
  requestsPerHour: null,
  requestsPerDay: null,
  modelRequestsPerDay: {},
  onLimit: 'block',
  downgradeModel: null,
};

/** Suite of every hot store. */
export function describeHotStore(name: string, open: OpenStore): void {
  describe(name, () => {
    const clock: StoreClock = { ms: START_MS };
    let opened: StoreUnderTest;
    let store: HotStore;
    let rows: StoredRows;

    const openWith = async (options: Partial<StoreOptions> = {}) => {
      opened = await open({ clock, rows, ...options });
      store = opened.store;
    };
    const admit = (request: Parameters<typeof requestOf>[0] = {}) => store.admit(requestOf(request));
    const serve = async (
      request: Parameters<typeof requestOf>[0],
      costNanoUsd: number,
      cache?: { key: string; value: string },
    ) => {
      const asked = requestOf(request);
      const decision = await store.admit(asked);
      expect(decision.type).toBe('admitted');
      if (decision.type !== 'admitted') return;
      const entry = cache && { ...cache, ttlMs: 60_000, provider: 'prov', model: 'big' };
      store.settle(settlementOf(asked, decision.nowMs, { costNanoUsd, ...(entry ? { cache: entry } : {}) }));
      await store.flush(1000);
    };
    const project = async () => (await store.counters()).find(({ projectId }) => projectId === 'project-1');

    beforeEach(async () => {
      clock.ms = START_MS;
      rows = new StoredRows();
      await openWith();
    });
    afterEach(() => opened.dispose());

    describe('versions', () => {
      test('unknown, changed and raised versions ask for a reload; a reload never lowers them', async () => {
        expect((await admit({ reloaded: false })).type).toBe('stale');
        expect((await admit({ reloaded: true })).type).toBe('admitted');
        expect((await admit({ reloaded: false })).type).toBe('admitted');
        await store.setVersions('project-1', 1, [{ keyId: 'key-1', version: 2 }]);
        expect((await admit({ reloaded: false })).type).toBe('stale');
        expect((await admit({ reloaded: true, keyVersion: 1 })).type).toBe('stale');
        await store.setVersions('project-1', null, [{ keyId: 'key-1', version: 1 }]);
        expect((await admit({ reloaded: false, keyVersion: 2 })).type).toBe('admitted');
        await store.setVersions('project-1', 5, []);
        expect((await admit({ reloaded: false, keyVersion: 2 })).type).toBe('stale');
        expect((await admit({ reloaded: true, keyVersion: 2, projectVersion: 5 })).type).toBe('admitted');
      });

      test('versions can be checked without an admission', async () => {
        const known = { projectId: 'project-1', keyId: 'key-1', projectVersion: 1, keyVersion: 1 };
        expect(await store.findStale(known)).toEqual(['principal']);
        await admit({ reloaded: true });
        expect(await store.findStale(known)).toEqual([]);
        await store.setVersions('project-1', null, [{ keyId: 'key-1', version: 2 }]);
        expect(await store.findStale(known)).toEqual(['principal']);
        expect(await store.findStale({ ...known, keyVersion: 2 })).toEqual([]);
      });

      test('tables that were read after their change are not out of date', async () => {
        await admit({ reloaded: true });
        await store.tables.raise();
        let reads = 0;
        await store.tables.refresh(async () => {
          reads += 1;
        });
        expect(reads).toBe(1);
        expect((await admit({ reloaded: false })).type).toBe('admitted');
      });
    });

    test('what holds nothing but its place is no reservation', async () => {
      await admit({ requested: { holdNanoUsd: 0 } });
      expect([await store.openHolds(), await store.openHolds('money')]).toEqual([1, 0]);
      await admit({ requested: { holdNanoUsd: 10 } });
      expect([await store.openHolds(), await store.openHolds('money')]).toEqual([2, 1]);
    });

    describe('a recount', () => {
      test('takes in rows that came by another way, beside the queue and open holds', async () => {
        await serve({}, 10);
        await admit({ requested: { holdNanoUsd: 7 } });
        const imported = settlementOf(requestOf({}), clock.ms, { costNanoUsd: 5 });
        await rows.storeRecords([imported.record]);
        await store.recount();
        expect(await project()).toMatchObject({ spentNanoUsd: 15, heldNanoUsd: 7 });
        expect(rows.costNanoUsd).toBe(15);
        expect(await store.openHolds()).toBe(1);
        await serve({}, 1);
        expect(await project()).toMatchObject({ spentNanoUsd: 16 });
      });
    });

    describe('request rate', () => {
      const keyBucket = { ratePerMinute: 60, burst: 3 };

      test('a burst, then one a second, with true waits; a denial charges nothing', async () => {
        for (const remaining of [2, 1, 0]) {
          const decision = await admit({ keyBucket });
          expect(decision).toMatchObject({
            type: 'admitted',
            state: { rate: { limit: 60, remaining, resetMs: (3 - remaining) * 1000 } },
          });
        }
        clock.ms += 400;
        for (let i = 0; i < 3; i++)
          expect(await admit({ keyBucket })).toMatchObject({ type: 'denied', reason: 'key_rate', retryAfterMs: 600 });
        expect(await store.openHolds()).toBe(3);
        clock.ms += 600;
        expect((await admit({ keyBucket })).type).toBe('admitted');
        expect((await admit({ keyBucket })).type).toBe('denied');
      });

      test('a limit that was used up and then raised lets the next request in', async () => {
        const lower = { ratePerMinute: 2, burst: 2 };
        const higher = { ratePerMinute: 4, burst: 4 };
        const types = async (requests: readonly Parameters<typeof requestOf>[0][]) => {
          const all: string[] = [];
          for (const request of requests) all.push((await admit(request)).type);
          return all;
        };
        expect(await types([lower, lower, lower].map((bucket) => ({ keyBucket: bucket })))).toEqual([
          ...['admitted', 'admitted', 'denied'],
        ]);
        expect(await types([higher, higher, higher, lower].map((bucket) => ({ keyBucket: bucket })))).toEqual([
          ...['admitted', 'admitted', 'denied', 'denied'],
        ]);
        const tokens = (tokensPerMinute: number) => ({ tokensPerMinute, requested: { tokens: 10 } });
        expect(await types([20, 20, 20, 40, 40, 40].map(tokens))).toEqual([
          ...['admitted', 'admitted', 'denied', 'admitted', 'admitted', 'denied'],
        ]);
        const customer = { customerId: 'ann' };
        await store.setCustomerLimits('project-1', 'ann', { ...NO_LIMITS, requestsPerMinute: 1 });
        expect(await types([customer, customer])).toEqual(['admitted', 'denied']);
        await store.setCustomerLimits('project-1', 'ann', { ...NO_LIMITS, requestsPerMinute: 2 });
        expect(await types([customer, customer])).toEqual(['admitted', 'denied']);
      });

      test('earlier admissions do not lower a raised limit', async () => {
        const early = requestOf({ tokensPerMinute: 20, requested: { tokens: 20 } });
        const decision = await store.admit(early);
        if (decision.type !== 'admitted') throw new Error(decision.type);
        expect((await admit({ tokensPerMinute: 1000, requested: { tokens: 100 } })).type).toBe('admitted');
        store.settle(settlementOf(early, decision.nowMs, { tokens: 20 }));
        await store.flush(1000);
        expect((await admit({ tokensPerMinute: 1000, requested: { tokens: 800 } })).type).toBe('admitted');
      });

      test('a clock that steps back neither refills nor locks', async () => {
        for (let i = 0; i < 3; i++) await admit({ keyBucket });
        clock.ms -= 3_600_000;
        expect(await admit({ keyBucket })).toMatchObject({ type: 'denied', retryAfterMs: 1000 });
        clock.ms += 1000;
        expect((await admit({ keyBucket })).type).toBe('admitted');
        expect((await admit({ keyBucket })).type).toBe('denied');
      });

      test('a refusal for another reason consumes nothing', async () => {
        expect(await admit({ keyBucket, projectCapNanoUsd: 10 })).toMatchObject({
          type: 'denied',
          reason: 'project_cap',
          state: { rate: { remaining: 3 } },
        });
        expect(await admit({ keyBucket })).toMatchObject({ state: { rate: { remaining: 2 } } });
      });
    });

    describe('tokens per minute and concurrency', () => {
      test('estimates are held and settled to the actual tokens, more or less', async () => {
        const first = requestOf({ tokensPerMinute: 100, requested: { tokens: 60 } });
        const second = requestOf({ tokensPerMinute: 100, requested: { tokens: 40 } });
        await store.admit(first);
        await store.admit(second);
        expect(await admit({ tokensPerMinute: 100, requested: { tokens: 1 } })).toMatchObject({
          reason: 'tokens_rate',
          retryAfterMs: 600,
        });
        store.settle(settlementOf(first, clock.ms, { tokens: 50 }));
        await store.flush(1000);
        expect((await admit({ tokensPerMinute: 100, requested: { tokens: 10 } })).type).toBe('admitted');
        store.settle(settlementOf(second, clock.ms, { tokens: 70 }));
        await store.flush(1000);
        expect(await admit({ tokensPerMinute: 100, requested: { tokens: 1 } })).toMatchObject({
          reason: 'tokens_rate',
          retryAfterMs: 18_600,
        });
      });

      test('more than a whole minute has can never pass', async () => {
        expect(await admit({ tokensPerMinute: 100, requested: { tokens: 101 } })).toMatchObject({
          type: 'denied',
          reason: 'tokens_over_limit',
        });
      });

      test('concurrency counts open requests', async () => {
        const first = requestOf({ maxConcurrency: 2 });
        await store.admit(first);
        expect((await admit({ maxConcurrency: 2 })).type).toBe('admitted');
        expect(await admit({ maxConcurrency: 2 })).toMatchObject({ type: 'denied', reason: 'concurrency' });
        store.settle(settlementOf(first, clock.ms));
        await store.flush(1000);
        expect((await admit({ maxConcurrency: 2 })).type).toBe('admitted');
      });
    });

    describe('budgets', () => {
      test('500 at once against a cap for 100: exactly 100', async () => {
        const decisions = await Promise.all(Array.from({ length: 500 }, () => admit({ projectCapNanoUsd: 10_000 })));
        expect(decisions.filter(({ type }) => type === 'admitted')).toHaveLength(100);
        expect(
          decisions.filter((decision) => decision.type === 'denied' && decision.reason === 'project_cap'),
        ).toHaveLength(400);
        expect(await project()).toMatchObject({ heldNanoUsd: 10_000, spentNanoUsd: 0 });
      });

      test('a key budget over all time or by month; spend counts from before the limit was set', async () => {
        await serve({}, 150);
        expect(await admit({ keyBudgetNanoUsd: 249, keyBudgetPeriod: 'month' })).toMatchObject({
          reason: 'key_budget',
          spend: { limitNanoUsd: 249, spentNanoUsd: 150, heldNanoUsd: 0 },
        });
        expect((await admit({ keyBudgetNanoUsd: 250, keyBudgetPeriod: 'month' })).type).toBe('admitted');
        clock.ms += 20 * 60_000;
        expect(await admit({ keyBudgetNanoUsd: 349, keyBudgetPeriod: 'total' })).toMatchObject({
          reason: 'key_budget',
          spend: { limitNanoUsd: 349, spentNanoUsd: 150, heldNanoUsd: 100 },
        });
        expect((await admit({ keyBudgetNanoUsd: 100, keyBudgetPeriod: 'month' })).type).toBe('admitted');
        expect(await store.keySpend('project-1', 'key-1', 'total')).toBe(150);
        expect(await store.keySpend('project-1', 'key-1', 'month')).toBe(0);
      });

      test('settling twice books once, and releases the hold', async () => {
        const request = requestOf({ customerId: 'ann' });
        await store.admit(request);
        store.settle(settlementOf(request, clock.ms));
        store.settle(settlementOf(request, clock.ms));
        await store.flush(1000);
        store.settle(settlementOf(request, clock.ms));
        await store.flush(1000);
        expect(await project()).toMatchObject({ spentNanoUsd: 70, heldNanoUsd: 0 });
        expect(await store.customerSpend('project-1', 'ann')).toEqual({ dayNanoUsd: 70, monthNanoUsd: 70 });
        expect(await store.depth()).toMatchObject({ entries: 1 });
        expect(await store.openHolds()).toBe(0);
      });

      test('a request over the end of the month is booked where it was admitted', async () => {
        const request = requestOf({ customerId: 'ann' });
        await store.admit(request);
        clock.ms += 20 * 60_000;
        store.settle(settlementOf(request, START_MS));
        await store.flush(1000);
        const counters = await store.counters();
        expect(counters).toEqual([{ projectId: 'project-1', month: '2026-05', spentNanoUsd: 70, heldNanoUsd: 0 }]);
        expect(await store.customerSpend('project-1', 'ann')).toEqual({ dayNanoUsd: 0, monthNanoUsd: 0 });
      });

      test('spend without a hold is booked once; records at no cost are only queued', async () => {
        const open = settlementOf(requestOf({}), clock.ms, { held: false, costNanoUsd: 30 });
        store.settle(open);
        store.settle(open);
        store.settle(settlementOf(requestOf({}), clock.ms, { held: false, costNanoUsd: 0 }));
        await store.flush(1000);
        expect(await project()).toMatchObject({ spentNanoUsd: 30 });
        expect(await rows.drain(store)).toBe(2);
      });

      test('a held settlement the store knows nothing of is booked only when no row has it', async () => {
        const stored = settlementOf(requestOf({}), clock.ms);
        await rows.storeRecords([stored.record]);
        store.settle(stored);
        store.settle(settlementOf(requestOf({}), clock.ms, { costNanoUsd: 33 }));
        await until(async () => (await project())?.spentNanoUsd === 33);
        await Bun.sleep(50);
        expect(await project()).toMatchObject({ spentNanoUsd: 33, heldNanoUsd: 0 });
        expect(await rows.drain(store)).toBe(1);
      });
    });

    describe('customers', () => {
      const customerId = 'ann \n ü\t1';
      const limit = (limits: Partial<CustomerLimits>) =>
        store.setCustomerLimits('project-1', customerId, { ...NO_LIMITS, ...limits });

      test('requests by minute, hour, day and model', async () => {
        await limit({ requestsPerMinute: 2 });
        for (let i = 0; i < 2; i++) expect((await admit({ customerId })).type).toBe('admitted');
        expect(await admit({ customerId })).toMatchObject({ reason: 'customer_rate', retryAfterMs: 30_000 });
        await limit({ requestsPerHour: 3 });
        expect((await admit({ customerId })).type).toBe('admitted');
        expect(await admit({ customerId })).toMatchObject({ reason: 'customer_rate', retryAfterMs: 600_000 });
        clock.ms += 600_000;
        await limit({ requestsPerDay: 1 });
        expect((await admit({ customerId })).type).toBe('admitted');
        expect(await admit({ customerId })).toMatchObject({ reason: 'customer_rate', retryAfterMs: 86_400_000 });
        await limit({ modelRequestsPerDay: { big: 1, small: 9 } });
        expect((await admit({ customerId })).type).toBe('admitted');
        expect(await admit({ customerId })).toMatchObject({ reason: 'customer_model_rate', retryAfterMs: 86_400_000 });
        expect((await admit({ customerId, requested: { model: 'small' } })).type).toBe('admitted');
        await store.setCustomerLimits('project-1', customerId, null);
        expect((await admit({ customerId })).type).toBe('admitted');
      });

      test('block refuses until the day or month is over, and shows where the customer stands', async () => {
        await serve({ customerId }, 150);
        await limit({ dailySpendNanoUsd: 249 });
        expect(await admit({ customerId })).toEqual({
          type: 'denied',
          reason: 'customer_daily_spend',
          retryAfterMs: 600_000,
          nowMs: clock.ms,
          state: {
            projectSpentNanoUsd: 150,
            customer: {
              spentTodayNanoUsd: 150,
              spentMonthNanoUsd: 150,
              dailyLimitNanoUsd: 249,
              monthlyLimitNanoUsd: null,
            },
          },
        });
        await limit({ monthlySpendNanoUsd: 249 });
        expect(await admit({ customerId })).toMatchObject({ reason: 'customer_monthly_spend', retryAfterMs: 600_000 });
        await limit({ perRequestMaxNanoUsd: 99 });
        const refused = await admit({ customerId });
        expect(refused).toMatchObject({ reason: 'per_request_max' });
        expect(refused).not.toHaveProperty('retryAfterMs');
      });

      test('warn serves as asked and counts', async () => {
        await limit({ dailySpendNanoUsd: 50, onLimit: 'warn' });
        expect(await admit({ customerId })).toMatchObject({
          type: 'admitted',
          plan: 'requested',
          spendWarning: 'customer_daily_spend',
        });
        expect(await admit({ customerId, projectCapNanoUsd: 199 })).toMatchObject({ reason: 'project_cap' });
      });

      test('downgrade plans again with the stored model, then serves with it, never on a cap', async () => {
        await limit({ monthlySpendNanoUsd: 50, onLimit: 'downgrade', downgradeModel: 'small' });
        const small = { ...requestOf({}).requested, model: 'small', holdNanoUsd: 20 };
        expect(await admit({ customerId })).toMatchObject({ type: 'replan', downgradeModel: 'small' });
        expect(await admit({ customerId, downgrade: { ...small, model: 'other' } })).toMatchObject({
          type: 'replan',
          downgradeModel: 'small',
        });
        expect(await store.openHolds()).toBe(0);
        expect(await admit({ customerId, downgrade: small })).toMatchObject({
          type: 'admitted',
          plan: 'downgrade',
          spendWarning: 'customer_monthly_spend',
        });
        expect(await project()).toMatchObject({ heldNanoUsd: 20 });
        expect(await admit({ customerId, downgrade: small, projectCapNanoUsd: 39 })).toMatchObject({
          reason: 'project_cap',
        });
        expect(await admit({ customerId, requested: { model: 'small', holdNanoUsd: 31 } })).toMatchObject({
          type: 'admitted',
          plan: 'requested',
          spendWarning: 'customer_monthly_spend',
        });
        await store.setCustomerLimits('project-1', customerId, null);
        expect(await admit({ customerId, downgrade: small })).toMatchObject({ type: 'admitted', plan: 'requested' });
      });

      test('a project has so many a month, hits and all; those with limits and those known pass', async () => {
        const of = (name: string, more: Parameters<typeof requestOf>[0] = {}) => ({
          ...{ customerId: name, maxCustomers: 2, ...more },
        });
        const cached = { requested: { cacheKey: 'shared' } };
        await store.setCustomerLimits('project-1', 'vip', { ...NO_LIMITS, requestsPerMinute: 9 });
        expect((await admit(of('vip'))).type).toBe('admitted');
        await serve(of('ann', cached), 7, { key: 'shared', value: 'answer' });
        expect((await admit(of('bob', cached))).type).toBe('cached');
        for (const more of [{}, cached]) {
          expect(await admit(of('eve', more))).toMatchObject({
            ...{ type: 'denied', reason: 'customer_count', retryAfterMs: 600_000 },
          });
        }
        for (const known of ['ann', 'bob', 'vip']) expect((await admit(of(known))).type).toBe('admitted');
        expect((await admit({ maxCustomers: 2 })).type).toBe('admitted');
        expect((await admit(of('eve', { projectId: 'project-2' }))).type).toBe('admitted');
        expect((await admit(of('eve', { maxCustomers: 3 }))).type).toBe('admitted');
        expect((await admit(of('mallory', { maxCustomers: 3 }))).type).toBe('denied');
        await store.setCustomerLimits('project-1', 'vip', null);
        expect((await admit(of('vip'))).type).toBe('denied');
        clock.ms += 600_000;
        for (const name of ['mallory', 'vip']) expect((await admit(of(name))).type).toBe('admitted');
        expect((await admit(of('ann'))).type).toBe('denied');
        expect((await admit(of('ann', { maxCustomers: null }))).type).toBe('admitted');
      });

      test('1,000 names at once: exactly as many as the project may have', async () => {
        const decisions = await Promise.all(
          Array.from({ length: 1000 }, (_, n) => admit({ customerId: `invented-${n}`, maxCustomers: 40 })),
        );
        expect(decisions.filter(({ type }) => type === 'admitted')).toHaveLength(40);
        expect((await store.counters()).filter(({ projectId }) => projectId === 'project-1')).toHaveLength(1);
      });

      test('a denial counts nobody, and a recount counts those that rows and holds know', async () => {
        const keyBucket = { ratePerMinute: 1, burst: 1 };
        expect((await admit({ customerId: 'held', maxCustomers: 3, keyBucket })).type).toBe('admitted');
        expect((await admit({ customerId: 'x', maxCustomers: 3, keyBucket })).type).toBe('denied');
        for (const name of ['ann', 'bob']) await serve({ customerId: name, maxCustomers: 3 }, 0);
        await rows.drain(store);
        rows.limits = [{ projectId: 'project-1', customerId: 'bob', limits: NO_LIMITS }];
        await store.recount();
        for (const name of ['held', 'ann', 'bob', 'new'])
          expect([name, (await admit({ customerId: name, maxCustomers: 3 })).type]).toEqual([name, 'admitted']);
        expect(await admit({ customerId: 'newer', maxCustomers: 3 })).toMatchObject({ reason: 'customer_count' });
      });

      test('1,000 at once with downgrade: no more on the asked model than the limit fits', async () => {
        await limit({ dailySpendNanoUsd: 5_000, onLimit: 'downgrade', downgradeModel: 'small' });
        const small = { ...requestOf({}).requested, model: 'small', holdNanoUsd: 1 };
        const decisions = await Promise.all(
          Array.from({ length: 1000 }, () => admit({ customerId, downgrade: small })),
        );
        expect(
          decisions.filter((decision) => decision.type === 'admitted' && decision.plan === 'requested'),
        ).toHaveLength(50);
        expect(
          decisions.filter((decision) => decision.type === 'admitted' && decision.plan === 'downgrade'),
        ).toHaveLength(950);
      });
    });

    describe('exact cache', () => {
      const cached = { requested: { cacheKey: 'hash-1' } };

      test('a hit consumes request buckets only, and is served over a cap', async () => {
        await serve({ ...cached, customerId: 'ann' }, 70, { key: 'hash-1', value: 'answer ü' });
        const keyBucket = { ratePerMinute: 60, burst: 2 };
        const tight = {
          ...cached,
          keyBucket,
          projectCapNanoUsd: 0,
          keyBudgetNanoUsd: 0,
          maxConcurrency: 0,
          tokensPerMinute: 1,
        };
        const hit = await admit(tight);
        expect(hit).toMatchObject({
          type: 'cached',
          plan: 'requested',
          value: 'answer ü',
          storedAtMs: START_MS,
          state: { rate: { remaining: 1 } },
        });
        await admit(tight);
        expect(await admit(tight)).toMatchObject({ type: 'denied', reason: 'key_rate' });
        expect(await store.openHolds()).toBe(0);
        clock.ms += 60_000;
        expect((await admit(cached)).type).toBe('admitted');
      });

      test('an answer that the process has itself is a hit, whatever the store has', async () => {
        const keyBucket = { ratePerMinute: 60, burst: 2 };
        const known = { requested: { isAnswered: true, holdNanoUsd: 5000 }, keyBucket, projectCapNanoUsd: 0 } as const;
        const hit = { type: 'cached', plan: 'requested', value: '', storedAtMs: 0, state: { rate: { remaining: 1 } } };
        expect(await admit(known)).toMatchObject(hit);
        await admit({ ...known, requested: { ...known.requested, cacheKey: 'hash-1' } });
        expect(await admit(known)).toMatchObject({ type: 'denied', reason: 'key_rate' });
        expect(await store.openHolds()).toBe(0);
      });

      test('purging by every condition', async () => {
        for (const key of ['a', 'b', 'c', 'd']) {
          store.cacheWrite('project-1', {
            key,
            value: 'x',
            ttlMs: 1e6,
            provider: key === 'a' ? 'p1' : 'p2',
            model: key === 'b' ? 'm1' : 'm2',
          });
        }
        await until(async () => (await store.cacheStats()).entries === 4);
        clock.ms += 1000;
        store.cacheWrite('project-2', { key: 'e', value: 'x', ttlMs: 1e6, provider: 'p2', model: 'm2' });
        await until(async () => (await store.cacheStats()).entries === 5);
        expect(await store.cachePurge({ provider: 'p1' })).toBe(1);
        expect(await store.cachePurge({ model: 'm1', projectId: 'project-2' })).toBe(0);
        expect(await store.cachePurge({ model: 'm1', projectId: 'project-1' })).toBe(1);
        expect(await store.cachePurge({ cacheKey: 'c' })).toBe(1);
        expect(await store.cachePurge({ olderThanMs: 500 })).toBe(1);
        expect(await store.cacheStats()).toMatchObject({ entries: 1 });
        expect(await store.cachePurge({ projectId: 'project-2' })).toBe(1);
        expect(await store.cacheStats()).toEqual({ entries: 0, bytes: 0 });
      });

      test('several entries are read at once: what is missing or expired has no value', async () => {
        const entry = { provider: 'p', model: 'm' };
        store.cacheWrite('project-1', { ...entry, key: 'a', value: 'one\ntwo 3', ttlMs: 60_000 });
        store.cacheWrite('project-1', { ...entry, key: 'b', value: 'short', ttlMs: 1000 });
        await until(async () => (await store.cacheStats()).entries === 2);
        expect(await store.cacheRead('project-1', ['b', 'x', 'a'])).toEqual(['short', undefined, 'one\ntwo 3']);
        clock.ms += 2000;
        expect(await store.cacheRead('project-1', ['b', 'x', 'a'])).toEqual([undefined, undefined, 'one\ntwo 3']);
        expect(await store.cacheRead('project-1', [])).toEqual([]);
      });

      test('evicts the oldest within its bound, and says that the hot tier is incomplete', async () => {
        await opened.dispose();
        rows = new StoredRows();
        await openWith({ cacheMaxBytes: 10_000 });
        const value = 'v'.repeat(1000);
        for (let i = 0; i < 30; i++)
          store.cacheWrite('project-1', { key: `key-${i}`, value, ttlMs: 5000, provider: 'p', model: 'm' });
        await until(
          async () =>
            (await store.cacheStats()).entries > 0 &&
            (await admit({ requested: { cacheKey: 'key-29' } })).type === 'cached',
        );
        const { entries, bytes } = await store.cacheStats();
        expect(bytes).toBeLessThanOrEqual(10_000);
        expect(entries).toBe(7);
        expect(await admit({ requested: { cacheKey: 'key-0' } })).toMatchObject({
          type: 'admitted',
          hotTierIncomplete: true,
        });
        expect((await admit({ requested: { cacheKey: 'key-23' } })).type).toBe('cached');
        clock.ms += 86_400_000;
        expect(await admit({ requested: { cacheKey: 'key-0' } })).toMatchObject({
          type: 'admitted',
          hotTierIncomplete: false,
        });
        expect(await store.cacheStats()).toEqual({ entries: 0, bytes: 0 });
      });
    });

    describe('leases', () => {
      test('a reserve takes no place, is lowered by those it stands for, and outlives leases', async () => {
        const asked = requestOf({ requested: { holdNanoUsd: 100, lostNanoUsd: 0 }, maxConcurrency: 1 });
        const { requestId, projectId, keyId } = asked;
        expect((await store.admit(asked)).type).toBe('admitted');
        const untilMs = clock.ms + 3_600_000;
        const change = (by: Parameters<HotStore['reserve']>[0]['change']) =>
          store.reserve({ requestId, projectId, keyId, change: by, untilMs });
        expect(await change({ by: 0 })).toBe(100);
        expect((await admit({ requested: { holdNanoUsd: 1 }, projectCapNanoUsd: 100 })).type).toBe('denied');
        expect(await change({ by: 30 })).toBe(70);
        expect((await admit({ requested: { holdNanoUsd: 30 }, projectCapNanoUsd: 100, maxConcurrency: 1 })).type).toBe(
          'admitted',
        );
        expect((await admit({ maxConcurrency: 1 })).type).toBe('denied');
        expect(await project()).toMatchObject({ spentNanoUsd: 0, heldNanoUsd: 100 });
        expect(await change({ to: 500 })).toBe(70);
        clock.ms += 120_000;
        expect(await store.reap()).toBe(1);
        expect(await project()).toMatchObject({ heldNanoUsd: 70 });
        expect(await change({ to: 0 })).toBe(0);
        expect(await change({ to: 0 })).toBeUndefined();
        expect(await project()).toMatchObject({ heldNanoUsd: 0 });
        expect((await admit({ maxConcurrency: 1 })).type).toBe('admitted');
      });

      test('a hold nobody renews is booked by the reaper, and corrected once by its late settlement', async () => {
        const lost = requestOf({ customerId: 'ann' });
        const alive = requestOf({});
        await store.admit(lost);
        await store.admit(alive);
        clock.ms += 59_000;
        await store.renew([alive, { projectId: 'project-1', requestId: 'unknown' }]);
        expect(await store.reap()).toBe(0);
        clock.ms += 1_000;
        expect(await store.reap()).toBe(1);
        expect(await store.reap()).toBe(0);
        expect(await project()).toMatchObject({ spentNanoUsd: 40, heldNanoUsd: 100 });
        await rows.drain(store);
        expect(rows.rows.get(lost.requestId)).toMatchObject({
          costNanoUsd: 40,
          createdAtMs: START_MS,
          errorCode: 'gateway_lost',
        });
        // Told another time than the hold's (a refusal's): the correction stands where the reaper's row does.
        for (let i = 0; i < 2; i++) store.settle(settlementOf(lost, START_MS - 7_000, { costNanoUsd: 55 }));
        await store.flush(1000);
        expect(await project()).toMatchObject({ spentNanoUsd: 55, heldNanoUsd: 100 });
        expect(await rows.drain(store)).toBe(1);
        expect(rows.rows.get(lost.requestId)).toMatchObject({
          costNanoUsd: 55,
          corrects: true,
          createdAtMs: START_MS,
        });
        expect(await store.openHolds()).toBe(1);
      });

      test('the row of a request that has one already is not written again', async () => {
        const request = requestOf({});
        await store.admit(request);
        await rows.storeRecords([settlementOf(request, START_MS, { costNanoUsd: 0 }).record]);
        clock.ms += 60_000;
        expect(await store.reap()).toBe(0);
        expect(await store.openHolds()).toBe(0);
        expect(await project()).toMatchObject({ spentNanoUsd: 0, heldNanoUsd: 0 });
      });
    });

    describe('log queue', () => {
      test('in order, waiting for the first, until acknowledged', async () => {
        expect(await store.read(10, 0)).toEqual([]);
        const waiting = store.read(10, 2000);
        await Bun.sleep(20);
        const first = settlementOf(requestOf({}), clock.ms, { held: false, costNanoUsd: 0 });
        store.settle(first);
        const [entry] = await waiting;
        expect(entry?.record).toBe(first.record);
        expect(await store.depth()).toMatchObject({ entries: 1 });
        expect(await store.read(10, 0)).toEqual([]);
        await store.acknowledge([entry?.entryId ?? '']);
        expect(await store.depth()).toEqual({ entries: 0, oldestAgeMs: 0 });
      });

      test('a full queue refuses admissions, and goes on when drained', async () => {
        await opened.dispose();
        await openWith({ queueMaxEntries: 2 });
        for (let i = 0; i < 2; i++)
          store.settle(settlementOf(requestOf({}), clock.ms, { held: false, costNanoUsd: 0 }));
        await store.flush(1000);
        expect(await admit({})).toMatchObject({ type: 'denied', reason: 'queue_full' });
        await rows.drain(store);
        expect((await admit({})).type).toBe('admitted');
      });
    });

    test('notify reaches every listener until it leaves', async () => {
      const heard: string[] = [];
      const stop = store.onNotify((topic) => heard.push(topic));
      await store.notify('prices');
      await until(async () => heard.length === 1);
      stop();
      await store.notify('prices');
      await Bun.sleep(20);
      expect(heard).toEqual(['prices']);
      expect((await store.health()).ok).toBe(true);
    });
  });
}

/** Waits until it holds; fails the test after a while. */
export async function until(holds: () => Promise<boolean>, timeoutMs = 5000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error('it did not come true in time');
    await Bun.sleep(5);
  }
}
