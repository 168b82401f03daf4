import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test';
import fc from 'fast-check';
import { toRequestBudgets } from './budgets';
import { budgetOf } from './budgets.cases';
import type { AdmitDecision, AdmitRequest, CustomerLimits, Settlement } from './hot-store';
import { NO_LIMITS, START_MS, type StoreClock, type StoreUnderTest } from './hot-store.cases';
import { openEmbedded, openRedis } from './open-stores.fixture';
import { rotatingSeed } from './rotating-seed.fixture';
import { requestOf, StoredRows, settlementOf } from './store-rows.fixture';

const clock: StoreClock = { ms: START_MS };
let grouped: StoreUnderTest;
let single: StoreUnderTest;
beforeAll(async () => {
  grouped = await openRedis({ clock, rows: new StoredRows() });
  single = await openEmbedded({ clock, rows: new StoredRows() });
});
afterAll(async () => {
  await grouped.dispose();
  await single.dispose();
});

const LIMITS: readonly (CustomerLimits | null)[] = [
  null,
  { ...NO_LIMITS, dailySpendNanoUsd: 400, requestsPerMinute: 3 },
  { ...NO_LIMITS, monthlySpendNanoUsd: 300, onLimit: 'warn', requestsPerHour: 6 },
  {
    ...NO_LIMITS,
    dailySpendNanoUsd: 200,
    onLimit: 'downgrade',
    downgradeModel: 'small',
    modelRequestsPerDay: { small: 2 },
  },
];
const memberArb = fc.record({
  project: fc.nat(1),
  key: fc.nat(1),
  customer: fc.option(fc.nat(2), { nil: undefined }),
  hold: fc.integer({ min: 0, max: 200 }),
  tokens: fc.integer({ min: 0, max: 40 }),
  cache: fc.option(fc.nat(2), { nil: undefined }),
  downgrade: fc.boolean(),
  capped: fc.boolean(),
  version: fc.integer({ min: 1, max: 2 }),
  reloaded: fc.boolean(),
  cost: fc.integer({ min: 0, max: 250 }),
  cached: fc.boolean(),
});
type Member = typeof memberArb extends fc.Arbitrary<infer T> ? T : never;
const turnArb = fc.record({
  members: fc.array(memberArb, { minLength: 1, maxLength: 12 }),
  laterMs: fc.constantFrom(0, 0, 500, 20_000, 61_000, -3_000),
});

function requestIn(run: string, n: number, member: Member): AdmitRequest {
  const { hold, tokens, cache, capped } = member;
  const small = requestOf({ requested: { model: 'small', holdNanoUsd: Math.floor(hold / 4), tokens: 1 } });
  return requestOf({
    requestId: `${run}${n}`,
    projectId: `${run}p${member.project}`,
    keyId: `${run}k${member.project}-${member.key}`,
    ...(member.customer === undefined ? {} : { customerId: `c ${member.customer}` }),
    projectVersion: member.version,
    keyVersion: 1,
    reloaded: member.reloaded,
    keyBucket: { ratePerMinute: 37, burst: 9 },
    requested: {
      holdNanoUsd: hold,
      tokens,
      ...(cache === undefined ? {} : { cacheKey: `${run}${cache}` }),
      ...(hold % 7 === 3 ? { isAnswered: true } : {}),
    },
    ...(member.downgrade ? { downgrade: small.requested } : {}),
    maxCustomers: capped ? 1 : null,
    projectCapNanoUsd: capped ? 900 : null,
    keyBudgetNanoUsd: capped ? 700 : null,
    keyBudgetPeriod: hold % 2 === 0 ? 'total' : 'month',
    budgets: member.project === 0 ? budgetsIn(`${run}k0-${member.key}`, capped) : undefined,
    tokensPerMinute: capped ? 50 : null,
    maxConcurrency: capped ? 4 : null,
  });
}

function budgetsIn(keyId: string, isTight: boolean) {
  const [day, week] = isTight ? [600, 900] : [1e12, 1e12];
  return toRequestBudgets([
    budgetOf('day', { scope: 'key', keyId }, day),
    budgetOf('week', { scope: 'project' }, week),
  ]);
}

function settlementIn(
  run: string,
  request: AdmitRequest,
  given: { decision: AdmitDecision; member: Member },
): Settlement {
  const { decision, member } = given;
  const cache = {
    key: `${run}${member.cache ?? 0}`,
    value: `v${member.cost}`,
    ttlMs: 30_000,
    provider: 'p',
    model: 'm',
  };
  return settlementOf(request, decision.nowMs, {
    costNanoUsd: member.cost,
    tokens: member.cost,
    ...(member.cached ? { cache } : {}),
  });
}

async function sums(store: StoreUnderTest, run: string) {
  const all = (await store.store.counters()).filter(({ projectId }) => projectId.startsWith(run));
  const keys = [0, 1].flatMap((project) =>
    [0, 1].map((key) => [`${run}p${project}`, `${run}k${project}-${key}`] as const),
  );
  return {
    projects: all
      .map((one) => ({ ...one }))
      .sort((a, b) => (`${a.projectId}${a.month}` < `${b.projectId}${b.month}` ? -1 : 1)),
    keys: await Promise.all(keys.map(([project, key]) => store.store.keySpend(project, key, 'total'))),
    customers: await Promise.all([0, 1, 2].map((c) => store.store.customerSpend(`${run}p0`, `c ${c}`))),
    holds: await store.store.openHolds(),
  };
}

test('requests of one turn are decided, and their ends booked, as one after another would be', async () => {
  const seed = rotatingSeed('groups of the hot store');
  const decided = new Map<string, number>();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(turnArb, { minLength: 1, maxLength: 6 }), fc.nat(3), async (turns, limits) => {
      const run = `g${runs++}-`;
      clock.ms += 10 * 86_400_000;
      for (const { store } of [grouped, single]) {
        await store.setCustomerLimits(`${run}p0`, 'c 1', LIMITS[limits] ?? null);
        await store.setCustomerLimits(`${run}p0`, 'c 2', LIMITS[(limits + 1) % 4] ?? null);
      }
      let n = 0;
      for (const { members, laterMs } of turns) {
        clock.ms += laterMs;
        const requests = members.map((member) => requestIn(run, n++, member));
        const together = await Promise.all(requests.map((request) => grouped.store.admit(request)));
        const oneByOne: AdmitDecision[] = [];
        for (const request of requests) oneByOne.push(await single.store.admit(request));
        expect(together).toEqual(oneByOne);
        for (const { type } of together) decided.set(type, (decided.get(type) ?? 0) + 1);
        expect(await sums(grouped, run)).toEqual(await sums(single, run));
        const ends = requests.flatMap((request, i) => {
          const decision = together[i] as AdmitDecision;
          return decision.type === 'admitted'
            ? [settlementIn(run, request, { decision, member: members[i] as Member })]
            : [];
        });
        // In one turn as well, and the last of them stays open.
        for (const { store } of [grouped, single]) for (const end of ends.slice(0, -1)) void store.settle(end);
        for (const { store } of [grouped, single]) await store.flush(5_000);
        expect(await sums(grouped, run)).toEqual(await sums(single, run));
      }
      // What stays open goes with its lease, so that the next run begins with none.
      clock.ms += 3_600_000;
      expect(await grouped.store.reap()).toBe(await single.store.reap());
      for (const { store } of [grouped, single]) await store.cachePurge({ olderThanMs: -1e12 });
    }),
    { seed, numRuns: 40, endOnFailure: true },
  );
  for (const type of ['admitted', 'cached', 'denied', 'stale'] as const)
    expect([type, decided.has(type)]).toEqual([type, true]);
}, 30_000);

test('a turn is one script call to decide and one to book, however many requests it has', async () => {
  const { client } = grouped.store as unknown as {
    client: Record<'llm0_admit' | 'llm0_commit', () => Promise<unknown>>;
  };
  const [admits, commits] = [spyOn(client, 'llm0_admit'), spyOn(client, 'llm0_commit')];
  const requests = Array.from({ length: 30 }, (_, n) =>
    requestOf({ requestId: `turn-${n}`, projectId: 'turn', keyId: `key-${n % 3}`, reloaded: true }),
  );
  const decisions = await Promise.all(requests.map((request) => grouped.store.admit(request)));
  const written = requests.map((request, i) =>
    grouped.store.settle(settlementOf(request, decisions[i]?.nowMs ?? 0, { costNanoUsd: 7 })),
  );
  await Promise.all(written);
  await grouped.store.flush(5_000);
  expect([admits.mock.calls.length, commits.mock.calls.length]).toEqual([1, 1]);
  expect((await grouped.store.counters()).find(({ projectId }) => projectId === 'turn')).toMatchObject({
    spentNanoUsd: 210,
    heldNanoUsd: 0,
  });
});
