import { daysLeft, monthOf, wallMs } from '@llm0/core/finance/calendar';
import {
  type Forecast,
  type ForecastDay,
  forecastDays,
  forecastMonth,
  HISTORY_DAYS,
} from '@llm0/core/finance/forecast';
import type { PriceBook } from '@llm0/core/pricing/price-book';
import type { Db } from '@llm0/drizzle/client';
import { type Amount, loadDays } from '@llm0/drizzle/queries/finance/amounts';
import { type CostBearer, loadBearers, loadHomes, type ProjectHome } from '@llm0/drizzle/queries/finance/who';
import type { Budget } from '@llm0/drizzle/queries/limits/budgets';
import { type CapLine, historyBefore, isMonthBudget, loadCaps, loadMonthBudgets } from './load-caps';
import { loadMonths, type MonthQuestion, type Months, type Regrouping, regroupMonths } from './load-months';
import type { StatementQuestion } from './schema';
import { buildRows, type StatementRow, totalOf } from './statement';

const DAY_MS = 86_400_000;
/** The dearest rows with forecasts of their own. */
const ROWS_FORECAST = 200;

export interface Statement extends Omit<Months, 'month' | 'previous' | 'days'> {
  readonly question: StatementQuestion;
  readonly range: Months['month']['range'];
  readonly rows: readonly (StatementRow & { readonly name: string })[];
  readonly total: Omit<StatementRow, 'group'>;
  /** The way to the total's forecast, today first; empty without one. */
  readonly forecastDays: readonly ForecastDay[];
  readonly caps: readonly (CapLine & { readonly projectName: string })[];
  /** Notes for the reader, as sentences. */
  readonly notes: readonly string[];
}

type Bearers = ReadonlyMap<string, CostBearer>;

export async function loadStatement(db: Db, question: StatementQuestion, prices: PriceBook): Promise<Statement> {
  const { by, month, nowMs } = question;
  const [projects, keys, homes] = await Promise.all([
    loadBearers(db, 'project'),
    by === 'key' || by.startsWith('label.') ? loadBearers(db, 'key') : new Map<string, CostBearer>(),
    isOfLevel(question) ? loadHomes(db) : [],
  ]);
  const filter = filterWithin(question, homes);
  const regrouping = regroupingOf(by, keys, homes);
  const { months, forecasts } = await loadAmounts(db, { ...question, filter }, regrouping);
  const utcMonth = months.isFinal ? month : monthOf('UTC', nowMs);
  const budgets = await loadMonthBudgets(db, { month: utcMonth, nowMs, projectId: filter.projectId });
  const rows = buildRows({
    ...{ month: months.month, previous: months.previous, prices },
    forecastOf: forecasts.of,
    capOf: capsOf({ by, filter }, budgets),
  });
  const spentNanoUsd = rows.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);
  const total = totalOf(rows, forecasts.ofAll(spentNanoUsd));
  const caps = await loadCaps(db, { month: utcMonth, nowMs }, budgets.filter(isMonthBudget));
  return {
    ...{ question, compared: months.compared, isFinal: months.isFinal, attribution: months.attribution },
    range: months.month.range,
    rows: rows.map((row) => ({ ...row, name: nameOf(by, row.group, { projects, keys, homes }) })),
    total,
    forecastDays: forecasts.daysOfAll(spentNanoUsd),
    caps: caps.map((cap) => ({ ...cap, projectName: projects.get(cap.projectId)?.name ?? cap.projectId })),
    notes: notesOf({ ...question, filter }, months, { rows, total }),
  };
}

type Level = 'team' | 'organization';
const isLevel = (by: string): by is Level => by === 'team' || by === 'organization';
const isOfLevel = ({ by, within }: Pick<StatementQuestion, 'by' | 'within'>) =>
  isLevel(by) || Object.keys(within).length > 0;

/** Narrows to the projects of the team or organization; none, if it has none of the asked ones. */
function filterWithin(
  { filter, within }: StatementQuestion,
  homes: readonly ProjectHome[],
): StatementQuestion['filter'] {
  const { teamId, organizationId } = within;
  if (teamId === undefined && organizationId === undefined) return filter;
  const asked = filter.projectId === undefined ? undefined : new Set([filter.projectId].flat());
  const isIn = (home: ProjectHome) =>
    (teamId ?? home.teamId) === home.teamId &&
    (organizationId ?? home.organizationId) === home.organizationId &&
    asked?.has(home.id) !== false;
  return { ...filter, projectId: homes.filter(isIn).map(({ id }) => id) };
}

function regroupingOf(by: string, keys: Bearers, homes: readonly ProjectHome[]): Regrouping | null {
  if (isLevel(by)) {
    const ids = new Map(homes.map((home) => [home.id, home[`${by}Id`] ?? '']));
    return { by: 'project', groupOf: (project) => ids.get(project) ?? '' };
  }
  if (!by.startsWith('label.')) return null;
  const label = by.slice('label.'.length);
  return { by: 'key', groupOf: (key) => keys.get(key)?.labels[label] ?? '' };
}

/** Levels are sums of their projects. */
async function loadAmounts(db: Db, question: StatementQuestion, regrouping: Regrouping | null) {
  const level = isLevel(question.by) ? regrouping : null;
  const asked = { ...question, by: level?.by ?? (question.by as MonthQuestion['by']) };
  const found = await loadMonths(db, asked, level === null ? regrouping : null);
  const months = level === null ? found : regroupMonths(found, level.groupOf);
  return { months, forecasts: await loadForecasts(db, asked, months, regrouping) };
}

interface Forecasts {
  readonly of: (group: string, spentNanoUsd: number) => Forecast | null;
  readonly ofAll: (spentNanoUsd: number) => Forecast | null;
  readonly daysOfAll: (spentNanoUsd: number) => readonly ForecastDay[];
}

const NO_FORECASTS: Forecasts = { of: () => null, ofAll: () => null, daysOfAll: () => [] };

/** From daily roll-ups, or from rows if those were read; current labels include their keys' rows. */
async function loadForecasts(
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

interface Names {
  readonly projects: Bearers;
  readonly keys: Bearers;
  readonly homes: readonly ProjectHome[];
}

/** Customers of several projects may share an id: only one project's have a cap in its rows. */
function capsOf({ by, filter }: Pick<StatementQuestion, 'by' | 'filter'>, budgets: readonly Budget[]) {
  const own = by === 'customer' && filter.projectId === undefined ? [] : budgets.filter(({ scope }) => scope === by);
  const caps = new Map(own.map(({ id, limitNanoUsd }) => [id, limitNanoUsd]));
  return (group: string) => caps.get(group) ?? null;
}

const NOBODY: Readonly<Record<string, string>> = {
  ...{ team: 'No team', organization: 'No organization' },
  customer: 'No customer',
  provider: 'No provider',
  model: 'No model',
};

/** Name of a group: projects and keys by name. */
function nameOf(by: string, group: string, { projects, keys, homes }: Names): string {
  if (group === '') return NOBODY[by] ?? 'Not labelled';
  if (by === 'project') return projects.get(group)?.name ?? group;
  if (isLevel(by)) return homes.find((home) => home[`${by}Id`] === group)?.[by] ?? group;
  if (by !== 'key') return group;
  const key = keys.get(group);
  return key === undefined ? group : `${projects.get(key.projectId)?.name ?? key.projectId} / ${key.name}`;
}

interface Sums {
  readonly rows: readonly StatementRow[];
  readonly total: Omit<StatementRow, 'group'>;
}

function notesOf(
  { timeZone, by, within, filter }: StatementQuestion,
  months: Months,
  { rows, total }: Sums,
): readonly string[] {
  const { attribution, isFinal, month, previous, compared } = months;
  const until = `${new Date(wallMs(timeZone, compared.toMs)).toISOString().slice(0, 16).replace('T', ' ')} ${timeZone}`;
  const forecasts = rows.reduce((sum, { forecast }) => sum + (forecast?.expectedNanoUsd ?? 0), 0);
  const notes: readonly (readonly [boolean, string])[] = [
    [
      !isFinal,
      `This month is still in progress. It is compared with the previous month up to the end of the same hour (${until}).`,
    ],
    [
      isOfLevel({ by, within }),
      'Projects count for the team and organization that they are in now. A project that moves takes its past costs along.',
    ],
    [
      Object.keys(within).length > 0 && filter.projectId?.length === 0,
      'There is no project in this team or organization.',
    ],
    [attribution === 'request', 'Grouped by the labels each request had when it was made.'],
    [
      attribution === 'current',
      'Single requests of these months are no longer stored, or are too many. Grouped by the labels that keys and projects have now.',
    ],
    [
      month.isRounded || previous?.isRounded === true,
      `Hourly data of a month's first or last day is no longer stored. That day is counted as a whole UTC day, not a day in ${timeZone}.`,
    ],
    [
      previous === null,
      'Single requests of the previous month are no longer stored, so there is nothing to compare with.',
    ],
    [total.estimatedNanoUsd === null, 'How much of the cost was estimated is no longer known.'],
    [
      (total.estimatedNanoUsd ?? 0) > 0,
      'Estimated amounts are for requests whose usage the vendor did not report. They are part of the cost.',
    ],
    [
      total.savedVendorNanoUsd !== null && total.savedVendorNanoUsd !== 0,
      "Savings from vendors' prompt caches are calculated from their tokens at today's prices, minus the cost of writing to them.",
    ],
    [
      !isFinal && total.forecast !== null,
      'Forecast: the amount spent, plus for each remaining day the mean of the same weekday in the last four weeks. Range: the 10 % to 90 % quantile of the error of such forecasts in the last twelve weeks, or as many as are known.',
    ],
    [
      total.forecast !== null && forecasts !== 0 && forecasts !== total.forecast.expectedNanoUsd,
      'Rows are forecast one by one, so their forecasts may not add up to the total.',
    ],
    [timeZone !== 'UTC', 'Caps apply to UTC months.'],
  ];
  return notes.filter(([applies]) => applies).map(([, text]) => text);
}
