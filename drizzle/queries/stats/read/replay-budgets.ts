import { isMet, shareUsed } from '@llm0/core/alerts/condition';
import { type Firing, joinFirings } from '@llm0/core/alerts/firings';
import type { Replay, ReplayQuery } from '@llm0/core/alerts/replay';
import { periodAt } from '@llm0/core/limits/budgets';
import { DAY_MS } from '@llm0/core/limits/periods';
import type { Db } from '../../../client';
import { type BudgetDays, loadBudgetDays } from '../../limits/budget-days';
import { loadMinutes } from './minutes';
import type { StatsFilter } from './questions';

const MINUTE_MS = 60_000;

/** A day with a threshold crossing; its minutes give the time. */
interface Crossing {
  readonly budget: BudgetDays;
  readonly dayMs: number;
  readonly usedBefore: number;
  /** Its period is over. */
  readonly endMs: number;
}

/**
 * Usage of a budget only grows within a period. So days identify a crossing, and minutes are read for that day only,
 * unless another budget fires anyway.
 */
export async function replayBudgets(db: Db, query: ReplayQuery): Promise<Replay> {
  const { fromMs, toMs, nowMs, projectId } = query;
  const budgets = await loadBudgetDays(db, { fromMs, nowMs, projectId });
  let firings: readonly Firing[] = [];
  const crossings: Crossing[] = [];
  let highest: number | null = null;
  for (const budget of budgets) {
    const found = walkDays(budget, query);
    firings = [...firings, ...found.firings];
    crossings.push(...found.crossings);
    if (highest === null || found.highest > highest) highest = found.highest;
  }
  firings = joinFirings(firings);
  for (const crossing of crossings.toSorted((a, b) => a.dayMs - b.dayMs)) {
    const { dayMs, endMs } = crossing;
    if (firings.some((one) => one.fromMs <= dayMs && (one.toMs ?? Number.POSITIVE_INFINITY) >= endMs)) continue;
    const atMs = await findMoment(db, crossing, query);
    if (atMs < endMs) firings = joinFirings([...firings, { fromMs: atMs, toMs: endMs }]);
  }
  return { fromMs, firings: firings.flatMap((one) => within(one, fromMs, toMs)), highest };
}

/** Observed part of a firing. */
function within({ fromMs, toMs }: Firing, firstMs: number, lastMs: number): readonly Firing[] {
  if (fromMs > lastMs || (toMs !== null && toMs <= firstMs)) return [];
  return [{ fromMs: Math.max(fromMs, firstMs), toMs: toMs === null || toMs > lastMs ? null : toMs }];
}

function walkDays(budget: BudgetDays, query: ReplayQuery) {
  const { limitNanoUsd, days, period, usedNanoUsd } = budget;
  const firstDayMs = startOfDay(query.fromMs);
  const since = (ms: number) => [...days].reduce((sum, [day, spent]) => (day >= ms ? sum + spent : sum), 0);
  const firings: Firing[] = [];
  const crossings: Crossing[] = [];
  let highest = 0;
  // Spend before the first day, derived from current usage.
  let used = (period === 'total' ? usedNanoUsd : since(periodAt(period, firstDayMs).fromMs)) - since(firstDayMs);
  for (let dayMs = firstDayMs; dayMs <= query.toMs; dayMs += DAY_MS) {
    const { fromMs, toMs: endMs } = period === 'total' ? FOREVER : periodAt(period, dayMs);
    if (dayMs === fromMs) used = 0;
    const after = used + (days.get(dayMs) ?? 0);
    const isMetAt = (nanoUsd: number) => isMet(query, shareUsed(nanoUsd, limitNanoUsd));
    if (isMetAt(used)) firings.push({ fromMs: dayMs, toMs: endMs });
    else if (isMetAt(after)) crossings.push({ budget, dayMs, usedBefore: used, endMs });
    highest = Math.max(highest, shareUsed(after, limitNanoUsd));
    used = after;
  }
  return { firings, crossings, highest };
}

/** The first check of that day which finds the budget used so far. */
async function findMoment(db: Db, { budget, dayMs, usedBefore }: Crossing, query: ReplayQuery): Promise<number> {
  const { scope, projectId, id, limitNanoUsd } = budget;
  const of = FILTERS[scope]?.(id);
  // Only the day is known.
  if (of === undefined || projectId === null) return dayMs + DAY_MS;
  const range = { fromMs: dayMs, toMs: dayMs + DAY_MS, nowMs: query.nowMs, projectId, ...of };
  const { minutes } = await loadMinutes(db, range);
  let used = usedBefore;
  for (const { startMs, costNanoUsd } of minutes) {
    used += costNanoUsd;
    if (isMet(query, shareUsed(used, limitNanoUsd))) return startMs + MINUTE_MS;
  }
  // Old rows may be deleted, so only the day is known.
  return dayMs + DAY_MS;
}

/** Minutes have no labels, and levels have many projects. */
const FILTERS: { readonly [S in BudgetDays['scope']]?: (id: string) => StatsFilter } = {
  project: () => ({}),
  key: (apiKeyId) => ({ apiKeyId }),
  customer: (customerId) => ({ customerId }),
};

const startOfDay = (ms: number) => ms - (ms % DAY_MS);

const FOREVER = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };
