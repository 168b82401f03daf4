import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { toRequestBudgets } from './budgets';
import { budgetOf } from './budgets.cases';
import { DONE_MARKER_MS } from './hold';
import type { AdmitDecision, AdmitRequest, CustomerLimits } from './hot-store';
import { NO_LIMITS, START_MS, type StoreClock, type StoreUnderTest } from './hot-store.cases';
import { compileLevelLimits, type SetLevelLimits } from './level-limits';
import { openEmbedded, openRedis } from './open-stores.fixture';
import { rotatingSeed } from './rotating-seed.fixture';
import { requestOf, StoredRows, settlementOf } from './store-rows.fixture';

const PROJECTS = ['p-a', 'p-b'] as const;
const CUSTOMERS = [undefined, 'c-1', 'c-2', 'c-3'] as const;
const LIMITS: readonly (CustomerLimits | null)[] = [
  null,
  { ...NO_LIMITS, dailySpendNanoUsd: 400, onLimit: 'block' },
  { ...NO_LIMITS, monthlySpendNanoUsd: 500, onLimit: 'warn', requestsPerMinute: 4 },
  {
    ...NO_LIMITS,
    dailySpendNanoUsd: 300,
    onLimit: 'downgrade',
    downgradeModel: 'small',
    modelRequestsPerDay: { small: 3 },
  },
  { ...NO_LIMITS, requestsPerHour: 5, requestsPerDay: 8, perRequestMaxNanoUsd: 150 },
];

/** Of both projects, and changed in between. */
const LEVELS = [
  [],
  [{ level: 'team', rateLimitPerMinute: 20, tokensPerMinute: 200 }],
  [
    { level: 'organization', rateLimitPerMinute: null, tokensPerMinute: 400 },
    { level: 'team', rateLimitPerMinute: 30, tokensPerMinute: null },
    { level: 'user', rateLimitPerMinute: 11, tokensPerMinute: 120 },
  ],
] as const satisfies readonly (readonly Omit<SetLevelLimits, 'id'>[])[];

const stepArb = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('admit' as const),
      project: fc.nat(1),
      customer: fc.nat(3),
      maxCustomers: fc.option(fc.nat(2), { nil: null }),
      hold: fc.integer({ min: 0, max: 200 }),
      tokens: fc.integer({ min: 0, max: 60 }),
      cache: fc.option(fc.nat(3), { nil: undefined }),
      withDowngrade: fc.boolean(),
      capped: fc.boolean(),
      levels: fc.nat(LEVELS.length - 1),
      reloaded: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      pick: fc.nat(),
      cost: fc.integer({ min: 0, max: 250 }),
      twice: fc.boolean(),
      cached: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('renew' as const), pick: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reap' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('limits' as const),
      project: fc.nat(1),
      customer: fc.integer({ min: 1, max: 3 }),
      pick: fc.nat(LIMITS.length - 1),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('clock' as const),
      byMs: fc.oneof(
        fc.integer({ min: -5_000, max: 20_000 }),
        fc.constantFrom(61_000, 3_600_000, 86_400_000, -3_600_000),
      ),
    }),
  },
);
type Step = typeof stepArb extends fc.Arbitrary<infer T> ? T : never;

interface Made {
  readonly request: AdmitRequest;
  readonly nowMs: number;
  readonly hold: number;
  readonly lost: number;
  leaseUntilMs: number;
  state: 'open' | 'settled' | 'reaped';
  settledAtMs: number;
  booked: number;
}

/** Both stores side by side, and the plainest bookkeeping of what they must hold. */
class Trial {
  private readonly made: Made[] = [];
  private latestMs = START_MS;

  constructor(
    private readonly stores: readonly StoreUnderTest[],
    private readonly clock: StoreClock,
    private readonly run: string,
    /** How often the stores decided what. */
    private readonly decided: Map<AdmitDecision['type'], number>,
  ) {}

  async take(step: Step, n: number): Promise<void> {
    if (step.do === 'admit') await this.admit(step, n);
    else if (step.do === 'settle') await this.settle(step);
    else if (step.do === 'clock') await this.moveClock(step.byMs);
    else if (step.do === 'renew') await this.renew(step.pick);
    else if (step.do === 'reap') await this.reap();
    else {
      const [projectId, customerId] = [`${this.run}${PROJECTS[step.project]}`, CUSTOMERS[step.customer] ?? ''];
      for (const { store } of this.stores)
        await store.setCustomerLimits(projectId, customerId, LIMITS[step.pick] ?? null);
    }
    await this.check();
  }

  /** Before it goes back all that has expired leaves: each store forgets it in its own time, and could find it valid again. */
  private async moveClock(byMs: number): Promise<void> {
    if (byMs < 0) {
      const [one, two] = await Promise.all(this.stores.map(({ store }) => store.cacheStats()));
      expect(one?.entries).toBe(two?.entries as number);
    }
    this.clock.ms += byMs;
    this.latestMs = Math.max(this.latestMs, this.clock.ms);
  }

  private async admit(step: Extract<Step, { do: 'admit' }>, n: number): Promise<void> {
    const customerId = CUSTOMERS[step.customer];
    const small = requestOf({
      requestId: `${this.run}${n}`,
      requested: { model: 'small', holdNanoUsd: Math.floor(step.hold / 4), tokens: 1 },
    });
    const request = requestOf({
      requestId: `${this.run}${n}`,
      projectId: `${this.run}${PROJECTS[step.project]}`,
      keyId: `${this.run}key-${step.project}`,
      ...(customerId === undefined ? {} : { customerId }),
      maxCustomers: step.maxCustomers,
      reloaded: step.reloaded || n < 4,
      keyBucket: { ratePerMinute: 37, burst: 9 },
      requested: {
        holdNanoUsd: step.hold,
        tokens: step.tokens,
        ...(step.cache === undefined ? {} : { cacheKey: `${this.run}${step.cache}` }),
        ...(step.hold % 7 === 3 ? { isAnswered: true } : {}),
      },
      ...(step.withDowngrade ? { downgrade: small.requested } : {}),
      projectCapNanoUsd: step.capped ? 900 : null,
      keyBudgetNanoUsd: step.capped ? 2_000 : null,
      keyBudgetPeriod: step.hold % 2 === 0 ? 'total' : 'month',
      budgets: step.project === 0 ? this.budgets(step.capped) : undefined,
      levelLimits: this.levels(step.levels),
      tokensPerMinute: step.capped ? 50 : null,
      maxConcurrency: step.capped ? 5 : null,
    });
    const [one, two] = await Promise.all(this.stores.map(({ store }) => store.admit(request)));
    expect(one).toEqual(two as typeof one);
    if (one !== undefined) this.decided.set(one.type, (this.decided.get(one.type) ?? 0) + 1);
    if (one?.type !== 'admitted') return;
    const plan = one.plan === 'requested' ? request.requested : small.requested;
    const leaseUntilMs = this.clock.ms + 60_000;
    this.made.push({
      request,
      nowMs: one.nowMs,
      hold: plan.holdNanoUsd,
      lost: plan.lostNanoUsd,
      leaseUntilMs,
      state: 'open',
      settledAtMs: 0,
      booked: 0,
    });
  }

  private levels(pick: number) {
    return compileLevelLimits((LEVELS[pick] ?? []).map((one) => ({ ...one, id: `${this.run}${one.level}` })));
  }

  private budgets(isTight: boolean) {
    const key = { scope: 'key', keyId: `${this.run}key-0` } as const;
    const [day, week] = isTight ? [700, 1_500] : [1e12, 1e12];
    return toRequestBudgets([budgetOf('day', { scope: 'project' }, day), budgetOf('week', key, week)]);
  }

  private async settle(step: Extract<Step, { do: 'settle' }>): Promise<void> {
    const made = this.made[step.pick % Math.max(1, this.made.length)];
    if (made === undefined) return;
    const cache = {
      key: `${this.run}${step.pick % 4}`,
      value: `v${step.pick}`,
      ttlMs: 30_000,
      provider: 'p',
      model: 'm',
    };
    const settlement = settlementOf(made.request, made.nowMs, {
      costNanoUsd: step.cost,
      tokens: step.cost,
      ...(step.cached && this.isRemembered(made) ? { cache } : {}),
    });
    for (const { store } of this.stores) {
      store.settle(settlement);
      if (step.twice) store.settle(settlement);
      await store.flush(10_000);
    }
    if (made.state !== 'settled') {
      made.booked = step.cost;
      made.settledAtMs = this.clock.ms;
    }
    made.state = 'settled';
  }

  /** Redis forgets what was settled by its own clock, not by the trial's; who forgot may cache what comes again. */
  private isRemembered(made: Made): boolean {
    return made.state !== 'settled' || this.latestMs < made.settledAtMs + DONE_MARKER_MS;
  }

  private async renew(pick: number): Promise<void> {
    const made = this.made[pick % Math.max(1, this.made.length)];
    if (made === undefined) return;
    for (const { store } of this.stores) await store.renew([made.request]);
    made.leaseUntilMs = this.clock.ms + 60_000;
  }

  private async reap(): Promise<void> {
    const over = this.made.filter((made) => made.state === 'open' && made.leaseUntilMs <= this.clock.ms);
    for (const { store } of this.stores) expect(await store.reap()).toBe(over.length);
    for (const made of over) {
      made.state = 'reaped';
      made.booked = made.lost;
    }
  }

  private async check(): Promise<void> {
    const open = this.made.filter(({ state }) => state === 'open');
    for (const { store } of this.stores) {
      const sums = (await store.counters()).filter(({ projectId }) => projectId.startsWith(this.run));
      const total = (pick: (sum: (typeof sums)[number]) => number) =>
        sums.reduce((sum, counter) => sum + pick(counter), 0);
      expect(total(({ heldNanoUsd }) => heldNanoUsd)).toBe(open.reduce((sum, { hold }) => sum + hold, 0));
      expect(total(({ spentNanoUsd }) => spentNanoUsd)).toBe(this.made.reduce((sum, { booked }) => sum + booked, 0));
    }
  }

  /** The law of the ledger: once drained, rows add up to the counters. */
  async close(): Promise<void> {
    const booked = this.made.reduce((sum, made) => sum + made.booked, 0);
    for (const { store } of this.stores) {
      const drained = new StoredRows();
      await drained.drain(store);
      expect(drained.costNanoUsd).toBe(booked);
      expect(drained.doubled).toBe(0);
      await store.cachePurge({ olderThanMs: -1e12 });
    }
    this.clock.ms += 10 * 86_400_000;
    for (const { store } of this.stores) {
      await store.reap();
      await new StoredRows().drain(store);
    }
  }
}

/** A run takes a tenth of a second: all of them have five times as long. */
const RUNS = 60;
const TEST_MS = 30_000;

test(
  'both stores decide alike and keep the same books, whatever happens in whatever order',
  async () => {
    const seed = rotatingSeed('agreement of the hot stores');
    const clock: StoreClock = { ms: START_MS };
    const stores = [
      await openEmbedded({ clock, rows: new StoredRows() }),
      await openRedis({ clock, rows: new StoredRows() }),
    ];
    const decided = new Map<AdmitDecision['type'], number>();
    let runs = 0;
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(stepArb, { minLength: 10, maxLength: 60 }), async (steps) => {
          clock.ms = START_MS;
          const trial = new Trial(stores, clock, `r${runs++}-`, decided);
          for (const [n, step] of steps.entries()) await trial.take(step, n);
          await trial.close();
        }),
        { seed, numRuns: RUNS, endOnFailure: true },
      );
      expect(runs).toBe(RUNS);
      // Whatever the seed: a law about decisions that were never made would say nothing.
      for (const type of ['admitted', 'cached', 'denied', 'stale'] as const)
        expect([type, decided.has(type)]).toEqual([type, true]);
    } finally {
      for (const { dispose } of stores) await dispose();
    }
  },
  TEST_MS,
);
