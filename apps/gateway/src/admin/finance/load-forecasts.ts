import { daysLeft } from '@llm0/core/finance/calendar';
import {
  type Forecast,
  type ForecastDay,
  forecastDays,
  forecastMonth,
  HISTORY_DAYS,
} from '@llm0/core/finance/forecast';
import type { Db } from '@llm0/drizzle/client';
import { type Amount, loadDays } from '@llm0/drizzle/queries/finance/amounts';
import { historyBefore } from './load-caps';
import type { MonthQuestion, Months, Regrouping } from './load-months';

const DAY_MS = 86_400_000;
/** The dearest rows with forecasts of their own. */
const ROWS_FORECAST = 200;

export interface Forecasts {
  readonly of: (group: string, spentNanoUsd: number) => Forecast | null;
  readonly ofAll: (spentNanoUsd: number) => Forecast | null;
  readonly daysOfAll: (spentNanoUsd: number) => readonly ForecastDay[];
}

const NO_FORECASTS: Forecasts = { of: () => null, ofAll: () => null, daysOfAll: () => [] };

/** From daily roll-ups, or from rows if those were read; current labels include their keys' rows. */
export async function loadForecasts(
  db: Db,
  { by, filter, nowMs, month, timeZone }: MonthQuestion,
  { isFinal, days, month: { amounts } }: Months,
  regrouping: Regrouping | null,
): Promise<Forecasts> {
  if (isFinal) return NO_FORECASTS;
  const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const left = daysLeft(timeZone, month, nowMs);
  const inputOf = (nanoUsd: readonly number[], spentNanoUsd: number) => ({
    ...{ spentNanoUsd, left, history: historyBefore(todayMs, nanoUsd) },
  });
  const forecast = (...given: Parameters<typeof inputOf>) => forecastMonth(inputOf(...given));
  const ofTotal = (all: readonly number[]) => ({
    ofAll: (spent: number) => forecast(all, spent),
    daysOfAll: (spent: number) => forecastDays(inputOf(all, spent)),
  });
  if (days !== null) {
    const all = addUp([...days.values()]);
    return { ...ofTotal(all), of: (group, spent) => forecast(days.get(group) ?? [], spent) };
  }
  const question = { fromMs: todayMs - HISTORY_DAYS * DAY_MS, toMs: todayMs, filter };
  const all = addUp([...(await loadDays(db, { ...question, by: 'project' })).values()]);
  const groups = regrouping === null ? dearestOf(amounts) : undefined;
  const found = await loadDays(db, { ...question, by: regrouping?.by ?? by, groups });
  const series = Map.groupBy(found, ([group]) => regrouping?.groupOf(group) ?? group);
  const known = new Set(groups ?? series.keys());
  return {
    ...ofTotal(all),
    of: (group, spent) => {
      const own = series.get(group);
      return own === undefined || !known.has(group) ? null : forecast(addUp(own.map(([, one]) => one)), spent);
    },
  };
}

function dearestOf(amounts: readonly Amount[]): readonly string[] {
  return [...Map.groupBy(amounts, ({ group }) => group)]
    .map(([group, own]) => ({ group, cost: own.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0) }))
    .sort((a, b) => b.cost - a.cost)
    .slice(0, ROWS_FORECAST)
    .map(({ group }) => group);
}

const addUp = (series: readonly (readonly number[])[]): readonly number[] =>
  series.length < 2
    ? (series[0] ?? [])
    : (series[0] ?? []).map((_, index) => series.reduce((sum, days) => sum + (days[index] ?? 0), 0));
