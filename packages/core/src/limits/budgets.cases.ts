import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  type Budget,
  type BudgetOwner,
  type BudgetSpan,
  budgetId,
  type RequestBudgets,
  toRequestBudgets,
} from './budgets';
import type { AdmitRequest, HotStore, Settlement } from './hot-store';
import { type OpenStore, type StoreClock, type StoreUnderTest, until } from './hot-store.cases';
import { planOf, recordText, requestOf, StoredRows, settlementOf } from './store-rows.fixture';

/** A Sunday, the last of a month: day, week and month end together. */
export const SUNDAY_MS = Date.UTC(2026, 4, 31, 23, 50);
const TO_MONDAY_MS = 20 * 60_000;

type Labels = Readonly<Record<string, string>>;
type Asked = Parameters<typeof requestOf>[0] & {
  readonly labels?: Labels;
  readonly runId?: string;
};

const PROJECT: BudgetOwner = { scope: 'project' };
const KEY: BudgetOwner = { scope: 'key', keyId: 'key-1' };
const LABELS = { feature: 'a b:c=d\n%ü' };
const RUN = { scope: 'run', runId: 'agent:1' } as const;
const TEAM = { scope: 'team', levelId: 'team-1' } as const;
const USER = { scope: 'user', levelId: 'user-1' } as const;
const LEVELS = { team: 'team-1', user: 'user-1' };
const SEARCH: BudgetOwner = { scope: 'label', label: 'feature', value: LABELS.feature };

export function budgetOf(span: BudgetSpan, owner: BudgetOwner, limitNanoUsd: number, version = 1): Budget {
  return { id: budgetId(span, owner), span, owner, limitNanoUsd, version };
}

/** A request whose lost record has its labels and run, as the gateway's has. */
export function labelledRequest({ labels, runId, ...asked }: Asked): AdmitRequest {
  const request = requestOf(asked);
  const { requestId, projectId, keyId } = request;
  const facts = { id: requestId, projectId, apiKeyId: keyId, labels, runId };
  const lost = { ...facts, status: 'error', errorCode: 'gateway_lost' };
  const own = { requestId, projectId, keyId, ...asked.requested, lostRecord: JSON.stringify(lost) };
  return { ...request, requested: planOf(own) };
}

/** The end of a request, with its labels in the record. */
export function labelledEnd(
  request: AdmitRequest,
  nowMs: number,
  end: Partial<Settlement> = {},
  { labels, runId, levels }: Pick<Asked, 'labels' | 'runId'> & Pick<Settlement, 'levels'> = {},
) {
  const settlement = settlementOf(request, nowMs, end);
  return { ...settlement, levels, record: recordText(settlement, labels, runId) };
}

/** Suite of every hot store: budgets by day, week, month, key and label. */
export function describeBudgets(name: string, open: OpenStore): void {
  describe(`budgets of the ${name}`, () => {
    const clock: StoreClock = { ms: SUNDAY_MS };
    let opened: StoreUnderTest;
    let store: HotStore;
    let rows: StoredRows;
    beforeEach(async () => {
      clock.ms = SUNDAY_MS;
      rows = new StoredRows();
      opened = await open({ clock, rows });
      store = opened.store;
    });
    afterEach(() => opened.dispose());

    const listed = (...budgets: readonly Budget[]): RequestBudgets => toRequestBudgets(budgets);
    const admit = (asked: Asked = {}) => store.admit(labelledRequest(asked));
    const settle = async (settlement: Settlement) => {
      store.settle(settlement);
      await store.flush(1000);
    };
    const serve = async (asked: Asked, costNanoUsd: number) => {
      const request = labelledRequest(asked);
      const decision = await store.admit(request);
      expect(decision.type).toBe('admitted');
      await settle(labelledEnd(request, decision.nowMs, { costNanoUsd }, asked));
    };
    /** Settled spend of a budget, by what it refuses. */
    const counted = async (span: BudgetSpan, owner: BudgetOwner, version = 1) => {
      const budgets = listed(budgetOf(span, owner, 0, version));
      const decision = await admit({ projectVersion: version, budgets, labels: LABELS, runId: RUN.runId });
      return decision.type === 'denied' ? decision.budget?.spentNanoUsd : decision.type;
    };

    test.each([
      ['day', PROJECT],
      ['week', PROJECT],
      ['day', KEY],
      ['week', KEY],
      ['day', SEARCH],
      ['month', SEARCH],
      ['run', RUN],
    ] as const)('500 at once against a budget of a %s of %o for 100: exactly 100', async (span, owner) => {
      const budgets = listed(budgetOf(span, owner, 10_000), budgetOf('month', PROJECT, 1_000_000));
      const decisions = await Promise.all(
        Array.from({ length: 500 }, () => admit({ budgets, labels: LABELS, runId: RUN.runId })),
      );
      expect(decisions.filter(({ type }) => type === 'admitted')).toHaveLength(100);
      const refused = decisions.flatMap((one) => (one.type === 'denied' ? [one] : []));
      expect(refused).toHaveLength(400);
      expect(refused[0]).toMatchObject({ reason: 'budget', budget: { span, limitNanoUsd: 10_000, spentNanoUsd: 0 } });
    });

    test('500 at once over three projects and five levels, all at their edge: none is overspent, none is refused for nothing', async () => {
      rows.members.set(TEAM.levelId, new Set(['project-1', 'project-2']));
      rows.members.set(USER.levelId, new Set(['key-1', 'key-3']));
      const shared = [
        budgetOf('month', { scope: 'organization', levelId: 'org-1' }, 20_000),
        budgetOf('day', TEAM, 10_000),
      ];
      rows.members.set('org-1', new Set(['project-1', 'project-2', 'project-3']));
      const decisions = await Promise.all(
        Array.from({ length: 500 }, (_, n) => {
          const at = (n % 3) + 1;
          const own = [...(at < 3 ? shared : shared.slice(0, 1)), budgetOf('week', PROJECT, 6000)];
          const user = n % 6 === 0 ? [budgetOf('day', USER, 3000)] : [];
          return admit({ projectId: `project-${at}`, keyId: `key-${at}`, budgets: listed(...own, ...user) });
        }),
      );
      const admitted = (at: number) =>
        decisions.filter(({ type }, n) => (n % 3) + 1 === at && type === 'admitted').length;
      // The team's 100 requests are split by arrival; the third project reaches its own limit first.
      expect([admitted(1) + admitted(2), admitted(3)]).toEqual([100, 60]);
      expect(decisions.filter(({ type }, n) => n % 6 === 0 && type === 'admitted').length).toBeLessThanOrEqual(30);
      const refusals = decisions.flatMap((one) => (one.type === 'denied' ? [one.reason] : []));
      expect(new Set(refusals)).toEqual(new Set(['budget']));
    });

    /** A team with a budget of 10,000: the first project has 4,000, the second 3,000 and overdraft, the third no share. */
    const split = (own?: { readonly project: number; readonly hasOverdraft: boolean }, version = 1): RequestBudgets => {
      const share = (n: number, limit: number) =>
        budgetOf('month', { scope: 'share', teamId: TEAM.levelId, projectId: `project-${n}` }, limit, version);
      const shares = [share(1, 4000), share(2, 3000)];
      const team = budgetOf('month', TEAM, 10_000, version);
      const mine = own && shares[own.project - 1];
      const others = shares.filter((one) => one !== mine);
      const list = mine === undefined ? [team] : [team, mine];
      return toRequestBudgets(list, own?.hasOverdraft === false ? undefined : { team, share: mine, others });
    };
    const ofTeam = (n: number, version = 1, hasOverdraft = n !== 1): Asked => ({
      ...{ projectId: `project-${n}`, keyId: `key-${n}`, projectVersion: version },
      budgets: split(n === 3 ? undefined : { project: n, hasOverdraft }, version),
    });

    test('600 at once over a split budget: all of it is spent, and nothing that is kept for another project', async () => {
      rows.members.set(TEAM.levelId, new Set(['project-1', 'project-2', 'project-3']));
      const count = async (asked: readonly Asked[]) =>
        (await Promise.all(asked.map((one) => admit(one)))).filter(({ type }) => type === 'admitted').length;
      // Half of the first share stays unused: the others get all that it doesn't claim, and no more.
      expect(await count(Array.from({ length: 20 }, () => ofTeam(1)))).toBe(20);
      expect(await count(Array.from({ length: 500 }, (_, n) => ofTeam(n % 2 === 0 ? 3 : 2)))).toBe(60);
      expect(await admit(ofTeam(3))).toMatchObject({
        ...{ reason: 'budget', budget: { owner: TEAM, limitNanoUsd: 8000, keptNanoUsd: 2000, spentNanoUsd: 0 } },
      });
      expect(await count(Array.from({ length: 80 }, () => ofTeam(1)))).toBe(20);
      expect(await admit(ofTeam(1))).toMatchObject({ reason: 'budget', budget: { owner: TEAM, limitNanoUsd: 10_000 } });
      expect(await store.openHolds()).toBe(100);
    });

    test('shares outlast what ends, gets lost, comes late or moves', async () => {
      rows.members.set(TEAM.levelId, new Set(['project-1', 'project-2', 'project-3']));
      await serve({ ...ofTeam(3), budgets: undefined }, 500);
      await serve(ofTeam(2, 2), 3500);
      const open = labelledRequest(ofTeam(1, 2));
      await store.admit(open);
      /** What the third project's next request is refused for: spent by the team, and kept for shares. */
      const kept = async (version = 2, holdNanoUsd = 2500) => {
        const decision = await admit({ ...ofTeam(3, version), requested: { holdNanoUsd } });
        return decision.type === 'denied'
          ? [decision.budget?.spentNanoUsd, decision.budget?.keptNanoUsd]
          : decision.type;
      };
      expect(await kept()).toEqual([4000, 3900]);
      await store.recount();
      expect(await kept()).toEqual([4000, 3900]);
      clock.ms += 61_000;
      expect(await store.reap()).toBe(1);
      expect(await kept()).toEqual([4040, 3960]);
      const levels = { team: TEAM.levelId };
      await settle(labelledEnd(open, SUNDAY_MS, { costNanoUsd: 90 }, { levels }));
      await until(async () => (await kept())[0] === 4090);
      expect(await kept()).toEqual([4090, 3910]);
      await settle(labelledEnd(requestOf(ofTeam(1)), clock.ms, { held: false, costNanoUsd: 10 }, { levels }));
      expect(await kept()).toEqual([4100, 3900]);
      // The second project leaves with what it spent.
      rows.members.set(TEAM.levelId, new Set(['project-1', 'project-3']));
      expect(await kept(4, 6000)).toEqual([600, 3900]);
    });

    test('spend of all members counts for a level: rows, queue, open requests and what comes late', async () => {
      rows.members.set(TEAM.levelId, new Set(['project-1', 'project-2']));
      rows.members.set(USER.levelId, new Set(['key-2']));
      await serve({}, 10);
      await rows.drain(store);
      const two = { projectId: 'project-2', keyId: 'key-2' };
      await serve(two, 20);
      await serve({ projectId: 'project-3', keyId: 'key-3' }, 500);
      const open = labelledRequest(two);
      await store.admit(open);
      const now = { ...two, projectVersion: 2 };
      const budgets = listed(budgetOf('day', TEAM, 1000), budgetOf('month', USER, 1000));
      const level = async (owner: BudgetOwner, version = 1) => {
        const decision = await admit({
          ...now,
          budgets: listed(budgetOf(owner === TEAM ? 'day' : 'month', owner, 0, version)),
        });
        return decision.type === 'denied' ? decision.budget?.spentNanoUsd : decision.type;
      };
      expect([await level(TEAM), await level(USER)]).toEqual([30, 20]);
      await settle(labelledEnd(open, clock.ms, { costNanoUsd: 5 }));
      const lost = labelledRequest({ ...now, budgets });
      await store.admit(lost);
      clock.ms += 61_000;
      expect(await store.reap()).toBe(1);
      expect([await level(TEAM), await level(USER)]).toEqual([75, 65]);
      await settle(labelledEnd(lost, SUNDAY_MS, { costNanoUsd: 43 }, { levels: LEVELS }));
      await until(async () => (await level(TEAM)) === 78 && (await level(USER)) === 68);
      await settle(labelledEnd(requestOf(two), clock.ms, { held: false, costNanoUsd: 2 }, { levels: LEVELS }));
      expect([await level(TEAM), await level(USER)]).toEqual([80, 70]);
      await store.recount();
      expect([await level(TEAM), await level(USER)]).toEqual([80, 70]);
      // A project that moves away takes its spend along: a skipped version counts anew.
      rows.members.set(TEAM.levelId, new Set(['project-2']));
      expect(await level(TEAM, 3)).toBe(70);
    });

    test('what is settled makes room or takes it; a denial charges nothing', async () => {
      const budgets = listed(budgetOf('day', PROJECT, 300));
      const first = labelledRequest({ budgets });
      await store.admit(first);
      await serve({ budgets }, 150);
      // 150 spent, 100 held.
      expect(await admit({ budgets })).toMatchObject({ type: 'denied', budget: { spentNanoUsd: 150 } });
      await settle(labelledEnd(first, clock.ms, { costNanoUsd: 50 }));
      expect((await admit({ budgets })).type).toBe('admitted');
      expect((await admit({ budgets })).type).toBe('denied');
      expect(await store.openHolds()).toBe(1);
    });

    test('day, week and month end together; a request in flight is booked where it was admitted', async () => {
      const all = [budgetOf('day', PROJECT, 250), budgetOf('week', KEY, 250), budgetOf('month', SEARCH, 250)];
      const asked = { budgets: listed(...all), labels: LABELS };
      const early = labelledRequest(asked);
      await store.admit(early);
      await serve(asked, 100);
      expect((await admit(asked)).type).toBe('denied');
      clock.ms += TO_MONDAY_MS;
      for (let i = 0; i < 2; i++) expect((await admit(asked)).type).toBe('admitted');
      await settle(labelledEnd(early, SUNDAY_MS, { costNanoUsd: 100 }, asked));
      expect(await admit(asked)).toMatchObject({ reason: 'budget', budget: { span: 'day', spentNanoUsd: 0 } });
      // A clock that steps back finds the day it left.
      clock.ms -= TO_MONDAY_MS;
      expect(await admit(asked)).toMatchObject({ reason: 'budget', budget: { span: 'day', spentNanoUsd: 200 } });
    });

    test('a day goes on in a week, and a week over a month', async () => {
      clock.ms = Date.UTC(2026, 6, 31, 12);
      const budgets = listed(budgetOf('day', KEY, 200), budgetOf('week', PROJECT, 300));
      await serve({ budgets }, 200);
      expect(await admit({ budgets })).toMatchObject({ budget: { span: 'day' } });
      clock.ms += 86_400_000;
      await serve({ budgets }, 100);
      expect(await admit({ budgets, requested: { holdNanoUsd: 1 } })).toMatchObject({
        budget: { span: 'week', spentNanoUsd: 300 },
      });
      clock.ms += 2 * 86_400_000;
      expect((await admit({ budgets })).type).toBe('admitted');
    });

    test('spend from before a budget was set counts: rows, queue and what is open', async () => {
      const labels = { ...LABELS, team: 'x' };
      await serve({ labels }, 10);
      await rows.drain(store);
      await serve({ labels }, 20);
      await serve({ keyId: 'key-2' }, 5);
      await rows.storeRecords([
        recordText(settlementOf(requestOf({}), clock.ms - 86_400_000, { costNanoUsd: 7 }), labels),
      ]);
      const open = labelledRequest({ labels });
      await store.admit(open);
      const now = { labels, projectVersion: 2, keyVersion: 2 };
      const full = (span: BudgetSpan, owner: BudgetOwner, limit: number) =>
        admit({ ...now, budgets: listed(budgetOf(span, owner, limit, 2)) });
      // 100 are held by the open request, and 100 asked for.
      expect(await full('day', PROJECT, 234)).toMatchObject({ reason: 'budget', budget: { spentNanoUsd: 35 } });
      expect(await full('week', PROJECT, 241)).toMatchObject({ reason: 'budget', budget: { spentNanoUsd: 42 } });
      expect(await full('day', KEY, 229)).toMatchObject({ reason: 'budget', budget: { spentNanoUsd: 30 } });
      expect(await full('month', SEARCH, 236)).toMatchObject({ reason: 'budget', budget: { spentNanoUsd: 37 } });
      await settle(labelledEnd(open, clock.ms, { costNanoUsd: 1 }, { labels }));
      expect(await full('day', PROJECT, 135)).toMatchObject({ reason: 'budget', budget: { spentNanoUsd: 36 } });
      expect((await full('day', PROJECT, 136)).type).toBe('admitted');
    });

    test('what is spent between two times of a budget counts as well', async () => {
      const budgets = (version: number) => listed(budgetOf('day', PROJECT, 1000, version));
      await serve({ budgets: budgets(1) }, 10);
      await serve({ projectVersion: 2 }, 20);
      await serve({ projectVersion: 3, budgets: budgets(3) }, 30);
      expect(await counted('day', PROJECT, 3)).toBe(60);
      // Another limit in the next version is the same counter.
      await serve({ projectVersion: 4, budgets: listed(budgetOf('day', PROJECT, 5000, 4)) }, 1);
      expect(await counted('day', PROJECT, 4)).toBe(61);
    });

    test('counters that were lost are counted again, with holds that were not', async () => {
      const budgets = listed(budgetOf('week', KEY, 400), budgetOf('day', PROJECT, 400));
      await serve({ budgets }, 90);
      const open = labelledRequest({ budgets });
      await store.admit(open);
      await store.recount();
      expect(await admit({ budgets, requested: { holdNanoUsd: 211 } })).toMatchObject({
        budget: { span: 'week', spentNanoUsd: 90 },
      });
      await settle(labelledEnd(open, clock.ms, { costNanoUsd: 60 }));
      expect([await counted('week', KEY), await counted('day', PROJECT)]).toEqual([150, 150]);
    });

    test('a dead process costs its input part, and its late settlement the difference', async () => {
      const budgets = listed(budgetOf('day', SEARCH, 1000));
      const request = labelledRequest({ budgets, labels: LABELS });
      await store.admit(request);
      clock.ms += 61_000;
      expect(await store.reap()).toBe(1);
      expect(await counted('day', SEARCH)).toBe(40);
      await settle(labelledEnd(request, SUNDAY_MS, { costNanoUsd: 75 }, { labels: LABELS }));
      await until(async () => (await counted('day', SEARCH)) === 75);
    });

    test('spend without a hold is booked in the budgets that are counted', async () => {
      const budgets = listed(budgetOf('day', SEARCH, 1000), budgetOf('week', PROJECT, 1000));
      await serve({ budgets, labels: LABELS }, 1);
      await settle(labelledEnd(requestOf({}), clock.ms, { held: false, costNanoUsd: 30 }, { labels: LABELS }));
      await settle(labelledEnd(requestOf({}), clock.ms, { held: false, costNanoUsd: 4 }));
      expect([await counted('day', SEARCH), await counted('week', PROJECT)]).toEqual([31, 35]);
    });

    test('a run has one budget at all times; its spend from before, of a dead process and after lost data counts', async () => {
      const { runId } = RUN;
      await serve({ runId }, 10);
      await serve({ runId: 'another' }, 5);
      const budgets = listed(budgetOf('run', RUN, 1000));
      await serve({ runId, keyId: 'key-2', budgets }, 20);
      const lost = labelledRequest({ runId, budgets });
      await store.admit(lost);
      clock.ms += TO_MONDAY_MS;
      expect(await store.reap()).toBe(1);
      expect(await counted('run', RUN)).toBe(70);
      await settle(labelledEnd(lost, SUNDAY_MS, { costNanoUsd: 75 }, { runId }));
      await until(async () => (await counted('run', RUN)) === 105);
      await settle(labelledEnd(requestOf({}), clock.ms, { held: false, costNanoUsd: 1 }, { runId }));
      const open = labelledRequest({ runId, budgets });
      await store.admit(open);
      await store.recount();
      expect(await counted('run', RUN)).toBe(106);
      await store.forgetBudget(open.projectId, budgetId('run', RUN));
      expect(await admit({ runId, budgets: listed(budgetOf('run', RUN, 305)) })).toMatchObject({ type: 'denied' });
      await settle(labelledEnd(open, clock.ms, { costNanoUsd: 2 }, { runId }));
      expect(await counted('run', RUN)).toBe(108);
    });

    test('rows that cannot be read refuse the request, and the next one counts', async () => {
      await serve({}, 10);
      const sumBudget = rows.sumBudget.bind(rows);
      rows.sumBudget = () => Promise.reject(new Error('no rows'));
      const asked = { projectVersion: 2, budgets: listed(budgetOf('day', PROJECT, 1000, 2)) };
      const failures = await Promise.allSettled([admit(asked), admit(asked)]);
      expect(failures.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      rows.sumBudget = sumBudget;
      expect((await admit(asked)).type).toBe('admitted');
      expect(await counted('day', PROJECT, 2)).toBe(10);
    });
  });
}
