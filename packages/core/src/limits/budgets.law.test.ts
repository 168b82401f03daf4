import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Budget, covers, type LabelBudget, type LevelIds, levelIdsOf, SPANS, type SpentBudget } from './budgets';
import { labelledEnd, labelledRequest, SUNDAY_MS } from './budgets.cases';
import { compileBudgets, type TeamShare } from './compile-budgets';
import type { AdmitRequest } from './hot-store';
import type { StoreClock, StoreUnderTest } from './hot-store.cases';
import { openEmbedded, openRedis } from './open-stores.fixture';
import { rotatingSeed } from './rotating-seed.fixture';
import { StoredRows } from './store-rows.fixture';

const DAY_MS = 86_400_000;
const limitArb = fc.option(fc.integer({ min: 0, max: 900 }), { nil: null });
const VALUES = ['search', 'chat', undefined] as const;

const stepArb = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('admit' as const),
      ...{ key: fc.nat(2), value: fc.nat(2), hold: fc.integer({ min: 1, max: 300 }) },
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      pick: fc.nat(),
      cost: fc.integer({ min: 0, max: 350 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('set' as const),
      ...{ what: fc.constantFrom('project', 'key', 'label', 'team', 'user'), day: limitArb, week: limitArb },
      month: limitArb,
      versions: fc.integer({ min: 1, max: 2 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('share' as const),
      ...{ project: fc.nat(1), share: fc.option(fc.integer({ min: 0, max: 500 }), { nil: null }) },
      ...{ hasOverdraft: fc.boolean(), budget: fc.integer({ min: 300, max: 1500 }) },
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('clock' as const),
      byMs: fc.constantFrom(1_000, 20 * 60_000, DAY_MS, 3 * DAY_MS),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('reap' as const, 'drain' as const, 'recount' as const, 'move' as const),
    }),
  },
);
type Step = typeof stepArb extends fc.Arbitrary<infer T> ? T : never;

interface Made {
  readonly request: AdmitRequest;
  readonly labels: Readonly<Record<string, string>>;
  readonly levels: LevelIds | undefined;
  /** Moves of projects before it. */
  readonly moves: number;
  readonly atMs: number;
  readonly hold: number;
  state: 'open' | 'settled' | 'reaped';
  cost: number;
}

const none = { dailyBudgetNanoUsd: null, weeklyBudgetNanoUsd: null };
const noneOfLevel = { ...none, monthlyCapNanoUsd: null as number | null };

/** Both stores, and the plainest count of what each budget must say. */
class Trial {
  private readonly made: Made[] = [];
  /** The third key is of the second project, which may leave the team; the user has the first key. */
  private readonly projects = [0, 1].map((n) => ({ id: '', n, version: 1, ...none }));
  private readonly keys = [0, 1, 2].map((n) => ({ id: '', n, version: 1, ...none }));
  private readonly team = { level: 'team' as const, id: '', version: 1, ...noneOfLevel };
  private readonly user = { level: 'user' as const, id: '', version: 1, ...noneOfLevel };
  private moves = 0;
  private readonly shares = new Map<string, TeamShare>();
  private readonly labelBudgets = new Map<string, LabelBudget>();

  constructor(
    private readonly stores: readonly StoreUnderTest[],
    private readonly clock: StoreClock,
    private readonly run: string,
    private readonly decided: Map<string, number>,
  ) {
    for (const project of this.projects) project.id = `${run}p${project.n}`;
    for (const key of this.keys) key.id = `${run}k${key.n}`;
    this.team.id = `${run}t`;
    this.user.id = `${run}u`;
    this.tellMembers();
  }

  async take(step: Step, n: number): Promise<void> {
    if (step.do === 'admit') await this.admit(step, n);
    else if (step.do === 'settle') await this.settle(step);
    else if (step.do === 'set') this.set(step);
    else if (step.do === 'share') this.split(step);
    else if (step.do === 'move') this.move();
    else if (step.do === 'clock') this.clock.ms += step.byMs;
    else if (step.do === 'reap') await this.reap();
    else if (step.do === 'drain') for (const { store, rows } of this.stores) await rows.drain(store);
    else for (const { store } of this.stores) await store.recount();
  }

  private set({ what, day, week, month, versions }: Extract<Step, { do: 'set' }>): void {
    const amounts = { dailyBudgetNanoUsd: day, weeklyBudgetNanoUsd: week };
    if (what === 'key') {
      const key = this.keys[versions - 1];
      if (key !== undefined) Object.assign(key, amounts, { version: key.version + versions });
      return;
    }
    if (what === 'team' || what === 'user') {
      Object.assign(this[what], amounts, { monthlyCapNanoUsd: month, version: this[what].version + versions });
      for (const one of [...this.projects, ...this.keys]) one.version += 1;
      return;
    }
    for (const project of this.projects) project.version += versions;
    if (what === 'project') Object.assign(this.projects[0] ?? {}, amounts);
    else {
      const own = { label: 'feature', value: 'search', dailyNanoUsd: day, weeklyNanoUsd: week, monthlyNanoUsd: month };
      this.labelBudgets.set('search', own);
    }
  }

  /** Splits the team's monthly budget anew. */
  private split({ project, share, hasOverdraft, budget }: Extract<Step, { do: 'share' }>): void {
    const { id } = this.projects[project] as (typeof this.projects)[number];
    if (share === null) this.shares.delete(id);
    else this.shares.set(id, { projectId: id, shareNanoUsd: share, hasOverdraft });
    this.team.monthlyCapNanoUsd = budget;
    this.team.version += 1;
    for (const one of [...this.projects, ...this.keys]) one.version += 1;
  }

  private isMember(n: number): boolean {
    return n === 0 || this.moves % 2 === 0;
  }

  private tellMembers(): void {
    const projects = this.projects.filter(({ n }) => this.isMember(n)).map(({ id }) => id);
    for (const { rows } of this.stores) {
      rows.members.set(this.team.id, new Set(projects));
      rows.members.set(this.user.id, new Set([this.keys[0]?.id ?? '']));
    }
  }

  private move(): void {
    this.moves++;
    this.team.version += 2;
    for (const one of this.projects) one.version += 1;
    this.tellMembers();
  }

  private async admit(step: Extract<Step, { do: 'admit' }>, n: number): Promise<void> {
    const key = this.keys[step.key] as (typeof this.keys)[number];
    const project = this.projects[key.n === 2 ? 1 : 0] as (typeof this.projects)[number];
    const value = VALUES[step.value];
    const labels: Made['labels'] = value === undefined ? {} : { feature: value };
    const levels = [...(this.isMember(project.n) ? [this.team] : []), ...(key.n === 0 ? [this.user] : [])];
    const shares = this.isMember(project.n) ? this.sharesOfTeam : [];
    const compiled = compileBudgets({ key, project, labelBudgets: [...this.labelBudgets.values()], levels, shares });
    const budgets = compiled?.of(labels);
    const versions = { projectVersion: project.version, keyVersion: key.version };
    const ids = { requestId: `${this.run}${n}`, projectId: project.id, keyId: key.id };
    const request = labelledRequest({
      ...ids,
      ...versions,
      budgets,
      labels,
      requested: { holdNanoUsd: step.hold },
    });
    const mayExceed = (budget: Budget) => budget.owner.scope === 'share' && this.shares.get(project.id)?.hasOverdraft;
    const full = budgets?.list.find(
      (budget) => !mayExceed(budget) && this.sum(budget, project.id).all + step.hold > budget.limitNanoUsd,
    );
    const refusing: SpentBudget | undefined =
      full === undefined
        ? this.refusingRest(budgets?.list, project.id, step.hold)
        : { ...full, ...this.spend(full, project.id) };
    for (const { store } of this.stores) {
      const decision = await store.admit(request);
      const type = refusing === undefined ? 'admitted' : 'denied';
      expect(decision.type).toBe(type);
      if (decision.type !== 'denied' || refusing === undefined) continue;
      expect(decision.budget).toEqual(refusing);
    }
    const kind = budgets === undefined ? 'free' : budgets.rest === undefined ? 'budgeted' : 'shared';
    const by = refusing?.keptNanoUsd === undefined ? '' : ' by shares';
    const outcome = `${kind} ${refusing === undefined ? 'admitted' : `denied${by}`}`;
    this.decided.set(outcome, (this.decided.get(outcome) ?? 0) + 1);
    if (refusing !== undefined) return;
    const { moves } = this;
    this.made.push({
      request,
      labels,
      levels: levelIdsOf([...(this.isMember(project.n) ? [this.team] : []), ...(key.n === 0 ? [this.user] : [])]),
      moves,
      atMs: this.clock.ms,
      hold: step.hold,
      state: 'open',
      cost: 0,
    });
  }

  private get sharesOfTeam(): readonly TeamShare[] {
    const isMembers = ({ projectId }: TeamShare) =>
      this.projects.some(({ id, n }) => id === projectId && this.isMember(n));
    return [...this.shares.values()].filter(isMembers);
  }

  /** A project takes of the rest what it uses beyond its share; all together take at most what no share claims. */
  private refusingRest(list: readonly Budget[] = [], projectId: string, hold: number): SpentBudget | undefined {
    const shares = this.sharesOfTeam;
    const team = list.find(({ owner, span }) => owner.scope === 'team' && span === 'month');
    const own = this.shares.get(projectId);
    if (team === undefined || shares.length === 0 || own?.hasOverdraft === false) return undefined;
    const projects = this.projects
      .filter(({ n }) => this.isMember(n))
      .map(({ id }) => {
        const owner = { scope: 'share', teamId: this.team.id, projectId: id } as const;
        const used = this.sum({ ...team, owner }, id).all;
        return { id, used, share: this.shares.get(id)?.shareNanoUsd ?? 0 };
      });
    const claimed = shares.reduce((all, { shareNanoUsd }) => all + shareNanoUsd, 0);
    const taken = projects.reduce(
      (all, { id, used, share }) => all + Math.max(0, used + (id === projectId ? hold : 0) - share),
      0,
    );
    const isWithin = projects.some(
      ({ id, used, share }) => own !== undefined && id === projectId && used + hold <= share,
    );
    if (isWithin || taken <= team.limitNanoUsd - claimed) return undefined;
    const others = projects.filter(({ id }) => id !== projectId);
    const keptNanoUsd = others.reduce((all, { used, share }) => all + Math.max(0, share - used), 0);
    const limitNanoUsd = Math.max(0, team.limitNanoUsd - keptNanoUsd);
    return { ...team, ...this.spend(team, projectId), limitNanoUsd, keptNanoUsd };
  }

  private spend(budget: Budget, projectId: string) {
    const { spent, all } = this.sum(budget, projectId);
    return { spentNanoUsd: spent, heldNanoUsd: all - spent };
  }

  /** Settled costs and open holds of the requests that the budget covers in its present period. */
  private sum(budget: Budget, projectId: string): { readonly spent: number; readonly all: number } {
    const { indexOf } = SPANS[budget.span];
    const members = 'levelId' in budget.owner ? this.stores[0]?.rows.members.get(budget.owner.levelId) : undefined;
    const own = this.made.filter(
      ({ request, labels, atMs }) =>
        indexOf(atMs) === indexOf(this.clock.ms) &&
        ('levelId' in budget.owner || budget.owner.scope === 'share' || request.projectId === projectId) &&
        covers(
          { ...budget, members },
          { projectId: request.projectId, keyId: request.keyId, record: JSON.stringify({ labels }) },
        ),
    );
    const spent = own.reduce((all, { cost }) => all + cost, 0);
    return { spent, all: own.reduce((all, { state, hold }) => all + (state === 'open' ? hold : 0), spent) };
  }

  private async settle({ pick, cost }: Extract<Step, { do: 'settle' }>): Promise<void> {
    // The reaper's guess for a project that has moved since is corrected where it was booked.
    const isLate = ({ state, atMs, moves }: Made) =>
      state === 'reaped' && this.clock.ms - atMs < DAY_MS / 2 && moves === this.moves;
    const open = this.made.filter((made) => made.state === 'open' || isLate(made));
    const made = open[pick % Math.max(1, open.length)];
    if (made === undefined) return;
    for (const { store } of this.stores) {
      store.settle(labelledEnd(made.request, made.atMs, { costNanoUsd: cost }, made));
      await store.flush(10_000);
    }
    made.state = 'settled';
    made.cost = cost;
  }

  private async reap(): Promise<void> {
    const over = this.made.filter(({ state, atMs }) => state === 'open' && atMs + 60_000 <= this.clock.ms);
    for (const { store } of this.stores) expect(await store.reap()).toBe(over.length);
    for (const made of over) {
      made.state = 'reaped';
      made.cost = made.request.requested.lostNanoUsd;
    }
  }

  /** What stays open goes with its lease. */
  async close(): Promise<void> {
    this.clock.ms += 10 * DAY_MS;
    for (const { store, rows } of this.stores) {
      await store.reap();
      await rows.drain(store);
    }
  }
}

const RUNS = 60;
const ROUNDS = 5;

test('each budget counts the costs of its period and refuses no request that fits, whatever changes in whatever order', async () => {
  const seed = rotatingSeed('budgets of the hot stores');
  const clock: StoreClock = { ms: SUNDAY_MS };
  const stores = [
    await openEmbedded({ clock, rows: new StoredRows() }),
    await openRedis({ clock, rows: new StoredRows() }),
  ];
  const decided = new Map<string, number>();
  let runs = 0;
  try {
    const law = fc.asyncProperty(fc.array(stepArb, { minLength: 10, maxLength: 60 }), async (steps) => {
      clock.ms = Math.max(clock.ms, SUNDAY_MS);
      const trial = new Trial(stores, clock, `b${runs++}-`, decided);
      for (const [n, step] of steps.entries()) await trial.take(step, n);
      await trial.close();
    });
    const outcomes = [
      'free admitted',
      'budgeted admitted',
      'budgeted denied',
      'shared admitted',
      'shared denied by shares',
    ];
    // Rare outcomes take a few more runs with some seeds.
    for (let round = 0; round < ROUNDS; round += 1) {
      await fc.assert(law, { seed: seed + round, numRuns: RUNS, endOnFailure: true });
      if (outcomes.every((outcome) => decided.has(outcome))) break;
    }
    for (const outcome of outcomes) expect([outcome, decided.has(outcome)]).toEqual([outcome, true]);
  } finally {
    for (const { dispose } of stores) await dispose();
  }
}, 60_000);
