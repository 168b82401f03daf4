import type { OpenedBudget } from '../budget-counts';
import {
  type Budget,
  counterOf,
  coveringBudgets,
  covers,
  homeOf,
  type MemberBudget,
  type RequestBudgets,
  type Rest,
  SHARED_HOME,
  SPANS,
  type SpentBudget,
} from '../budgets';
import type { Settlement } from '../hot-store';
import { monthIndex } from '../periods';
import { type BudgetState, type EmbeddedState, type OpenHold, readSum, type Sum } from './state';

/** A budget as an admission uses it, for the journal. */
export interface UsedBudget extends Pick<Budget, 'id' | 'version'> {
  /** Index of its period. */
  readonly period: number;
}

/** Looks for a budget that does not cover the hold; `uncounted`: one of them has to be counted first. */
export function checkBudgets(state: EmbeddedState, check: BudgetCheck): SpentBudget | 'uncounted' | undefined {
  const { budgets, holdNanoUsd } = check;
  let isWithinShare = false;
  for (const budget of budgets.list) {
    const sum = countedSum(state, check, budget);
    if (sum === undefined) return 'uncounted';
    const isOver = sum.spent + sum.held + holdNanoUsd > budget.limitNanoUsd;
    if (budget === budgets.rest?.share) isWithinShare = !isOver;
    else if (isOver) return { ...budget, spentNanoUsd: sum.spent, heldNanoUsd: sum.held };
  }
  return budgets.rest === undefined || isWithinShare ? undefined : checkRest(state, check, budgets.rest);
}

/** The team's budget without what other projects' shares still claim. */
function checkRest(
  state: EmbeddedState,
  check: BudgetCheck,
  { team, others }: Rest,
): SpentBudget | 'uncounted' | undefined {
  let keptNanoUsd = 0;
  for (const other of others) {
    const sum = countedSum(state, check, other);
    if (sum === undefined) return 'uncounted';
    keptNanoUsd += Math.max(0, other.limitNanoUsd - sum.spent - sum.held);
  }
  const { spent, held } = countedSum(state, check, team) ?? NO_SUM;
  const limitNanoUsd = team.limitNanoUsd - keptNanoUsd;
  if (spent + held + check.holdNanoUsd <= limitNanoUsd) return undefined;
  return { ...team, limitNanoUsd: Math.max(0, limitNanoUsd), spentNanoUsd: spent, heldNanoUsd: held, keptNanoUsd };
}

/** undefined = has to be counted first. */
function countedSum(
  state: EmbeddedState,
  { projectId, keyId, nowMs }: BudgetCheck,
  budget: Budget,
): Readonly<Sum> | undefined {
  const known = counterAt(state, projectId, budget.id);
  const isUsable = known?.isCounted === true && isCounted(known.version, budget.version);
  if (!isUsable && (known !== undefined || !isUnused(state, { projectId, keyId, budget, nowMs }))) return undefined;
  return readSum(known?.periods ?? NONE, SPANS[budget.span].indexOf(nowMs));
}

export interface BudgetCheck {
  readonly projectId: string;
  readonly keyId: string;
  readonly budgets: RequestBudgets;
  readonly holdNanoUsd: number;
  readonly nowMs: number;
}

const counterAt = (state: EmbeddedState, projectId: string, id: string): BudgetState | undefined =>
  state.projects.get(homeOf(id, projectId))?.budgets.get(id);

const NONE: ReadonlyMap<number, Sum> = new Map();
const NO_SUM: Readonly<Sum> = { spent: 0, held: 0 };

/** Requests of the version that was skipped may have had no such budget: then its spend is not known. */
export const isCounted = (version: number, asked: number): boolean => version === asked || version + 1 === asked;

interface UnusedCheck extends Pick<BudgetCheck, 'projectId' | 'keyId' | 'nowMs'> {
  readonly budget: Budget;
}

/** Nothing was spent or is held since the month before this one began: there is nothing to count. */
function isUnused(state: EmbeddedState, { projectId, keyId, budget, nowMs }: UnusedCheck): boolean {
  const isNothing = ({ spent, held }: Readonly<Sum>) => spent === 0 && held === 0;
  const { owner } = budget;
  if (owner.scope === 'run' || owner.scope === 'share' || 'levelId' in owner) return false;
  if (owner.scope === 'key') return isNothing(state.keys.get(keyId)?.total ?? NO_SUM);
  const months = state.projects.get(projectId)?.months ?? NONE;
  const month = monthIndex(nowMs);
  return isNothing(readSum(months, month)) && isNothing(readSum(months, month - 1));
}

export const usedBudgets = ({ list }: RequestBudgets, nowMs: number): readonly UsedBudget[] =>
  list.map(({ id, version, span }) => ({ id, version, period: SPANS[span].indexOf(nowMs) }));

/** Opens the periods that an admission uses; of each budget, two are kept. */
export function openPeriods(state: EmbeddedState, projectId: string, used: readonly UsedBudget[]): void {
  for (const { id, version, period } of used) {
    const { budgets } = state.project(homeOf(id, projectId));
    const known = budgets.get(id);
    if (known === undefined) {
      budgets.set(id, { version, isCounted: true, periods: new Map([[period, { spent: 0, held: 0 }]]) });
      continue;
    }
    known.version = version;
    if (known.periods.has(period)) continue;
    const latest = Math.max(...known.periods.keys());
    for (const old of known.periods.keys()) if (old !== latest) known.periods.delete(old);
    known.periods.set(period, { spent: 0, held: 0 });
  }
}

/** Sums of the counters that a hold names, as far as they are kept. */
export function heldSums(state: EmbeddedState, projectId: string, counters: string): readonly Sum[] {
  return counters.split(' ').flatMap((counter) => {
    const cut = counter.lastIndexOf(':');
    const known = counterAt(state, projectId, counter.slice(0, cut));
    return known?.periods.get(Number(counter.slice(cut + 1))) ?? [];
  });
}

/** Counters of counted budgets that cover a settlement without a hold. */
export function coveringCounters(state: EmbeddedState, settlement: Settlement, admittedAtMs: number): string {
  const { projectId } = settlement;
  const isCounting = (home: string) => (state.projects.get(home)?.budgets.size ?? 0) > 0;
  if (!isCounting(projectId) && !isCounting(SHARED_HOME)) return '';
  const counted = coveringBudgets(settlement).filter(({ id }) => counterAt(state, projectId, id)?.isCounted === true);
  return counted.map((budget) => counterOf(budget, admittedAtMs)).join(' ');
}

/** Open requests that a budget covers in its period. */
export function coveredHolds(
  state: EmbeddedState,
  { projectId, budget, period }: { readonly projectId: string; readonly budget: MemberBudget; readonly period: number },
): readonly string[] {
  const isOne = (hold: OpenHold) =>
    (budget.members !== undefined || hold.projectId === projectId) &&
    SPANS[budget.span].indexOf(hold.admittedAtMs) === period &&
    covers(budget, { projectId: hold.projectId, keyId: hold.keyId, record: hold.lostRecord });
  return [...state.holds].flatMap(([requestId, hold]) => (isOne(hold) ? [requestId] : []));
}

/** Journal line that begins a count: what these open requests hold is held here too. */
export interface OpenedLine extends Pick<OpenedBudget, 'id' | 'period' | 'openRequests'> {
  /** Home of the counter. */
  readonly projectId: string;
}

export function applyOpened(state: EmbeddedState, { projectId, id, period, openRequests }: OpenedLine): void {
  const sum = { spent: 0, held: 0 };
  state.project(projectId).budgets.set(id, { version: 0, isCounted: false, periods: new Map([[period, sum]]) });
  const counter = `${id}:${period}`;
  if (projectId === SHARED_HOME) forgetLeft(state, counter, new Set(openRequests));
  for (const requestId of openRequests) {
    const hold = state.holds.get(requestId);
    if (hold === undefined) continue;
    sum.held += hold.holdNanoUsd;
    const counters = hold.counters?.split(' ') ?? [];
    if (!counters.includes(counter)) hold.counters = [...counters, counter].join(' ');
  }
}

/** Open requests whose project or key has left the level don't count there any more. */
function forgetLeft(state: EmbeddedState, counter: string, covered: ReadonlySet<string>): void {
  for (const [requestId, hold] of state.holds) {
    if (covered.has(requestId) || hold.counters === undefined) continue;
    const kept = hold.counters.split(' ').filter((name) => name !== counter);
    if (kept.length > 0) hold.counters = kept.join(' ');
    else delete hold.counters;
  }
}

/** Journal line that ends a count. */
export interface CountedLine extends Pick<OpenedBudget, 'id' | 'version' | 'period'> {
  /** Home of the counter. */
  readonly projectId: string;
  readonly spentNanoUsd: number;
}

export function applyCounted(
  state: EmbeddedState,
  { projectId, id, version, period, spentNanoUsd }: CountedLine,
): void {
  const known = state.projects.get(projectId)?.budgets.get(id);
  const sum = known?.periods.get(period);
  if (known === undefined || sum === undefined || known.isCounted) return;
  sum.spent += spentNanoUsd;
  known.version = version;
  known.isCounted = true;
}
