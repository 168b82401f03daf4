import { monthOf } from '@llm0/core/finance/calendar';
import type { ForecastDay } from '@llm0/core/finance/forecast';
import type { PriceBook } from '@llm0/core/pricing/price-book';
import type { Db } from '@llm0/drizzle/client';
import { loadClosedCaps } from '@llm0/drizzle/queries/finance/closings';
import { findFirstDay } from '@llm0/drizzle/queries/finance/kept';
import type { Budget } from '@llm0/drizzle/queries/limits/budgets';
import { type Found, findMonths, loadWho } from './find-months';
import { type CapLine, isMonthBudget, loadCaps, loadMonthBudgets, MOST_CAPS } from './load-caps';
import { ledgerScope } from './load-facts';
import { loadForecasts } from './load-forecasts';
import type { MonthQuestion, Months } from './load-months';
import type { StatementQuestion } from './schema';
import { buildRows, type StatementRow, totalOf, withoutPrevious } from './statement';
import { lastClosing, notesOf } from './statement-notes';

export interface Statement extends Omit<Months, 'month' | 'previous' | 'days'> {
  readonly question: StatementQuestion;
  readonly range: Months['month']['range'];
  readonly rows: readonly (StatementRow & { readonly name: string })[];
  readonly total: Omit<StatementRow, 'group'>;
  /** Day of the first request, if it is after the first day of the compared time: that has data in part, or none. */
  readonly dataFromMs: number | null;
  /** The way to the total's forecast, today first; empty without one. */
  readonly forecastDays: readonly ForecastDay[];
  readonly caps: readonly (CapLine & { readonly projectName: string })[];
  /** Set if nothing in it can change. */
  readonly closing: ReturnType<typeof lastClosing>;
  /** Notes for the reader, as sentences. */
  readonly notes: readonly string[];
}

export async function loadStatement(db: Db, question: StatementQuestion, prices: PriceBook): Promise<Statement> {
  const { by, month, nowMs } = question;
  const who = await loadWho(db, by);
  const found = await findMonths(db, question, who);
  const { months, scope, regrouping, closed } = found;
  const asked = { ...question, by: by as MonthQuestion['by'], filter: { ...question.filter, projectId: scope } };
  const forecasts = await loadForecasts(db, asked, months, regrouping);
  const utcMonth = months.isFinal ? month : monthOf('UTC', nowMs);
  const budgets = await loadMonthBudgets(db, { month: utcMonth, nowMs, projectId: scope });
  const closedCaps = closed.size === 0 ? [] : await loadClosedCaps(db, month, [...closed.keys()]);
  const firstDayMs = await findFirstDay(db, ledgerScope(question, who.homes));
  const isPart = firstDayMs !== null && firstDayMs > months.compared.fromMs + DAY_MS;
  const dataFromMs = isPart ? firstDayMs : null;
  const built = buildRows({
    ...{ month: months.month, previous: months.previous, prices },
    forecastOf: forecasts.of,
    capOf: capsOf(asked, [
      ...budgets,
      ...closedCaps.map(({ capNanoUsd, ...cap }) => ({ ...cap, limitNanoUsd: capNanoUsd })),
    ]),
  });
  const rows = isPart ? built.map(withoutPrevious) : built;
  const spentNanoUsd = rows.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);
  const sums = totalOf(rows, forecasts.ofAll(spentNanoUsd));
  const total = isPart ? withoutPrevious(sums) : sums;
  const caps = await loadCaps(db, { month: utcMonth, nowMs }, budgets.filter(isMonthBudget).slice(0, MOST_CAPS));
  const allCaps = [...caps, ...closedCaps.map((cap) => ({ ...cap, forecast: null, couldReachOn: null }))];
  const projectName = (id: string) => closed.get(id)?.name ?? who.homes.get(id)?.name ?? id;
  return {
    ...{ question, compared: months.compared, isFinal: months.isFinal, attribution: months.attribution },
    range: months.month.range,
    rows: rows.map((row) => ({ ...row, name: nameOf(by, row.group, found) })),
    ...{ total, dataFromMs },
    forecastDays: forecasts.daysOfAll(spentNanoUsd),
    caps: allCaps
      .sort((a, b) => shareOf(b) - shareOf(a))
      .slice(0, MOST_CAPS)
      .map((cap) => ({ ...cap, projectName: projectName(cap.projectId) })),
    closing: found.isClosed ? lastClosing(closed) : undefined,
    notes: notesOf(question, found, { rows, total, dataFromMs }),
  };
}

const DAY_MS = 86_400_000;

const shareOf = ({ spentNanoUsd, capNanoUsd }: Pick<CapLine, 'spentNanoUsd' | 'capNanoUsd'>) =>
  capNanoUsd === 0 ? Number.POSITIVE_INFINITY : spentNanoUsd / capNanoUsd;

/** Customers of several projects may share an id: only one project's have a cap in its rows. */
function capsOf(
  { by, filter }: Pick<MonthQuestion, 'by' | 'filter'>,
  budgets: readonly Pick<Budget, 'scope' | 'id' | 'limitNanoUsd'>[],
) {
  const own = by === 'customer' && filter.projectId === undefined ? [] : budgets.filter(({ scope }) => scope === by);
  const caps = new Map(own.map(({ id, limitNanoUsd }) => [id, limitNanoUsd]));
  return (group: string) => caps.get(group) ?? null;
}

const NOBODY: Readonly<Record<string, string>> = {
  ...{ team: 'No team', organization: 'No organization', cost_center: 'No cost center' },
  customer: 'No customer',
  provider: 'No provider',
  model: 'No model',
  modality: 'Not recorded',
};

const nameOf = (by: string, group: string, { names }: Pick<Found, 'names'>): string =>
  group === '' ? (NOBODY[by] ?? 'Not labelled') : (names.get(group) ?? group);
