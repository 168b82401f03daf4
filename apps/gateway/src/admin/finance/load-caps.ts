import { daysLeft, monthOf } from '@llm0/core/finance/calendar';
import { capReachedOn, type DayHistory, type Forecast, forecastMonth, HISTORY_DAYS } from '@llm0/core/finance/forecast';
import { eachInSlices } from '@llm0/core/logs/in-slices';
import type { Db } from '@llm0/drizzle/client';
import { loadDays } from '@llm0/drizzle/queries/finance/amounts';
import { type Budget, listBudgets } from '@llm0/drizzle/queries/limits/budgets';
import type { ProjectScope } from '@llm0/drizzle/queries/of-projects';

const DAY_MS = 86_400_000;
/** With a day of exhaustion, the tightest. */
export const MOST_CAPS = 200;
const MOST_BUDGETS = 20_000;

/** Labels and levels have no series of days, so their budgets have no forecast. */
const FORECAST = ['project', 'key', 'customer'] as const;
export type MonthBudget = Budget & { readonly scope: (typeof FORECAST)[number]; readonly projectId: string };
export const isMonthBudget = (budget: Budget): budget is MonthBudget =>
  budget.period === 'month' && budget.projectId !== null && FORECAST.some((one) => one === budget.scope);

/** A cap of a UTC month, as requests are held to it. */
export interface CapLine extends Pick<MonthBudget, 'scope' | 'projectId' | 'id' | 'name'> {
  readonly capNanoUsd: number;
  readonly spentNanoUsd: number;
  readonly forecast: Forecast | null;
  /** The first day on which it is used up, in the past or as expected. */
  readonly reachedOn: string | null;
  /** Earliest date, at the upper end of the band. */
  readonly couldReachOn: string | null;
}

interface CapQuestion {
  /** `YYYY-MM`, UTC. */
  readonly month: string;
  readonly nowMs: number;
  readonly projectId?: ProjectScope;
}

/** Monthly caps, of levels too unless it is past, and limits of customers, the tightest first; a past month's as of its end. */
export async function loadMonthBudgets(db: Db, question: CapQuestion): Promise<readonly Budget[]> {
  const { month, nowMs, projectId } = question;
  const isPast = monthOf('UTC', nowMs) !== month;
  const atMs = isPast ? Date.parse(`${month}-01T00:00:00Z`) : nowMs;
  return listBudgets(db, { nowMs: atMs, limit: MOST_BUDGETS, projectId, period: 'month', isPast });
}

/** Budgets of a month with the day on which each is used up. Each costs some of the processor's time. */
export async function loadCaps(
  db: Db,
  { month, nowMs }: Omit<CapQuestion, 'projectId'>,
  budgets: readonly MonthBudget[],
): Promise<readonly CapLine[]> {
  const isRunning = monthOf('UTC', nowMs) === month;
  const startMs = Date.parse(`${month}-01T00:00:00Z`);
  const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const fromMs = isRunning ? Math.min(startMs, todayMs - HISTORY_DAYS * DAY_MS) : startMs;
  const toMs = isRunning ? todayMs + DAY_MS : startMs + 31 * DAY_MS;
  const daysOf = await loadSeries(db, budgets, { fromMs, toMs });
  const left = isRunning ? daysLeft('UTC', month, nowMs) : [];
  const skipped = (startMs - fromMs) / DAY_MS;
  const lineOf = (budget: MonthBudget): CapLine => {
    const { scope, id, name, limitNanoUsd: capNanoUsd, usedNanoUsd: spentNanoUsd } = budget;
    const line = { scope, projectId: budget.projectId, id, name, capNanoUsd, spentNanoUsd };
    const days = daysOf(budget);
    const history = historyBefore(todayMs, isRunning ? days.slice(0, -1) : []);
    const input = { spentNanoUsd, left, history };
    const forecast = forecastMonth(input);
    if (spentNanoUsd >= capNanoUsd) {
      return { ...line, forecast, reachedOn: firstDayOf(days.slice(skipped), startMs, capNanoUsd), couldReachOn: null };
    }
    const reachedAt = (monthNanoUsd: number | null = null) =>
      monthNanoUsd === null ? null : capReachedOn({ ...input, capNanoUsd, monthNanoUsd });
    const { expectedNanoUsd, highNanoUsd } = forecast ?? {};
    return { ...line, forecast, reachedOn: reachedAt(expectedNanoUsd), couldReachOn: reachedAt(highNanoUsd) };
  };
  const lines: CapLine[] = [];
  // Hundreds of forecasts take tens of milliseconds.
  await eachInSlices(budgets, (budget) => lines.push(lineOf(budget)));
  return lines;
}

/** Whole days up to yesterday. */
export function historyBefore(todayMs: number, days: readonly number[]): DayHistory {
  const nanoUsd = days.slice(-HISTORY_DAYS);
  return { firstWeekday: new Date(todayMs - nanoUsd.length * DAY_MS).getUTCDay(), nanoUsd };
}

/** Null where the days do not add up to it: single requests were counted later. */
function firstDayOf(days: readonly number[], startMs: number, capNanoUsd: number): string | null {
  let sum = 0;
  for (const [index, nano] of days.entries()) {
    sum += nano;
    if (sum >= capNanoUsd) return new Date(startMs + index * DAY_MS).toISOString().slice(0, 10);
  }
  return null;
}

interface Days {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Days of spend of each budget: one question for all projects, one for all keys, one for the customers of each project. */
async function loadSeries(db: Db, budgets: readonly MonthBudget[], { fromMs, toMs }: Days) {
  const found = new Map<string, ReadonlyMap<string, readonly number[]>>();
  const placeOf = ({ scope, projectId }: MonthBudget) => (scope === 'customer' ? `customer ${projectId}` : scope);
  for (const [place, some] of Map.groupBy(budgets, placeOf)) {
    const [first] = some;
    if (first === undefined) continue;
    const filter = first.scope === 'customer' ? { projectId: first.projectId } : {};
    const groups = some.map(({ id }) => id);
    found.set(place, await loadDays(db, { fromMs, toMs, by: first.scope, filter, groups }));
  }
  const none = Array.from({ length: Math.round((toMs - fromMs) / DAY_MS) }, () => 0);
  return (budget: MonthBudget) => found.get(placeOf(budget))?.get(budget.id) ?? none;
}
