import type { Stretch } from '@llm0/core/finance/calendar';
import type { Forecast } from '@llm0/core/finance/forecast';
import type { PriceBook } from '@llm0/core/pricing/price-book';
import type { Amount, Estimated } from '@llm0/drizzle/queries/finance/amounts';
import { vendorSavedPico } from './vendor-saved';

/** Sums of one group, nano-USD; null is not known. */
export interface Sums {
  readonly requests: number;
  readonly costNanoUsd: number;
  readonly savedNanoUsd: number;
  readonly savedExactNanoUsd: number | null;
  readonly savedSemanticNanoUsd: number | null;
  readonly savedVendorNanoUsd: number | null;
  /** Corrections of closed months, which are part of the cost. */
  readonly correctionsNanoUsd: number;
}

/** Known amounts of a month. */
export interface MonthAmounts {
  readonly range: Stretch;
  readonly amounts: readonly Amount[];
  /** Null if the rows are deleted. */
  readonly estimated: readonly Estimated[] | null;
  readonly isRounded: boolean;
}

export interface StatementRow extends Sums {
  /** '' for none. */
  readonly group: string;
  readonly estimatedNanoUsd: number | null;
  /** Previous month; null if unknown. */
  readonly previousNanoUsd: number | null;
  readonly changeNanoUsd: number | null;
  /** To a tenth; null without a base. */
  readonly changePercent: number | null;
  /** True without costs in the previous month. */
  readonly isNew: boolean;
  readonly forecast: Forecast | null;
  readonly capNanoUsd: number | null;
}

const NOTHING: Sums = {
  requests: 0,
  costNanoUsd: 0,
  savedNanoUsd: 0,
  savedExactNanoUsd: 0,
  savedSemanticNanoUsd: 0,
  savedVendorNanoUsd: 0,
  correctionsNanoUsd: 0,
};

const PICO_PER_NANO = 1000n;
const PICO_HALF = PICO_PER_NANO / 2n;
/** Half away from zero. */
const toNano = (pico: bigint) => Number((pico < 0n ? pico - PICO_HALF : pico + PICO_HALF) / PICO_PER_NANO);

/** Exact sums of each group; vendor cache savings round once per group. */
export function sumGroups(amounts: readonly Amount[], prices: Pick<PriceBook, 'find'>): ReadonlyMap<string, Sums> {
  const groups = new Map<string, Amount[]>();
  for (const amount of amounts) groups.getOrInsertComputed(amount.group, () => []).push(amount);
  return new Map([...groups].map(([group, own]) => [group, sumUp(own, prices)]));
}

function sumUp(amounts: readonly Amount[], prices: Pick<PriceBook, 'find'>): Sums {
  const sum = (of: (amount: Amount) => number) => amounts.reduce((total, amount) => total + of(amount), 0);
  const isKnown = amounts.every(({ cache }) => cache !== null);
  const savedBy = (by: Amount['cache']) =>
    isKnown ? sum(({ cache, savedNanoUsd }) => (cache === by ? savedNanoUsd : 0)) : null;
  const pico = amounts.reduce((total, amount) => total + vendorSavedPico(amount, prices), 0n);
  return {
    requests: sum(({ requests }) => requests),
    costNanoUsd: sum(({ costNanoUsd }) => costNanoUsd),
    savedNanoUsd: sum(({ savedNanoUsd }) => savedNanoUsd),
    savedExactNanoUsd: savedBy('exact'),
    savedSemanticNanoUsd: savedBy('semantic'),
    savedVendorNanoUsd: isKnown ? toNano(pico) : null,
    correctionsNanoUsd: sum(({ correctionOf, costNanoUsd }) => (correctionOf === undefined ? 0 : costNanoUsd)),
  };
}

function sumEstimated(all: readonly Estimated[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { group, costNanoUsd } of all) sums.set(group, (sums.get(group) ?? 0) + costNanoUsd);
  return sums;
}

const both = (a: number | null, b: number | null) => (a === null || b === null ? null : a + b);

/** Rows add up to this, to the nano-dollar. */
function addRows(a: Sums, b: Sums): Sums {
  return {
    requests: a.requests + b.requests,
    costNanoUsd: a.costNanoUsd + b.costNanoUsd,
    savedNanoUsd: a.savedNanoUsd + b.savedNanoUsd,
    savedExactNanoUsd: both(a.savedExactNanoUsd, b.savedExactNanoUsd),
    savedSemanticNanoUsd: both(a.savedSemanticNanoUsd, b.savedSemanticNanoUsd),
    savedVendorNanoUsd: both(a.savedVendorNanoUsd, b.savedVendorNanoUsd),
    correctionsNanoUsd: a.correctionsNanoUsd + b.correctionsNanoUsd,
  };
}

/** Compares a month with the previous one. */
export function compareMonths(costNanoUsd: number, previousNanoUsd: number | null) {
  if (previousNanoUsd === null) return { changeNanoUsd: null, changePercent: null, isNew: false };
  const changeNanoUsd = costNanoUsd - previousNanoUsd;
  const changePercent = previousNanoUsd === 0 ? null : Math.round((changeNanoUsd / previousNanoUsd) * 1000) / 10;
  return { changeNanoUsd, changePercent, isNew: previousNanoUsd === 0 && costNanoUsd > 0 };
}

export interface StatementInput {
  readonly month: MonthAmounts;
  /** Null if no longer known. */
  readonly previous: MonthAmounts | null;
  readonly prices: Pick<PriceBook, 'find'>;
  readonly forecastOf: (group: string, spentNanoUsd: number) => Forecast | null;
  readonly capOf: (group: string) => number | null;
}

/** A row for each group that cost something or was asked for in either month, the dearest first. */
export function buildRows({ month, previous, prices, forecastOf, capOf }: StatementInput): readonly StatementRow[] {
  const now = sumGroups(month.amounts, prices);
  const before = previous && sumGroups(previous.amounts, prices);
  const estimated = month.estimated && sumEstimated(month.estimated);
  const rows = [...new Set([...now.keys(), ...(before?.keys() ?? [])])].map((group): StatementRow => {
    const sums = now.get(group) ?? NOTHING;
    const previousNanoUsd = before === null ? null : (before.get(group)?.costNanoUsd ?? 0);
    return {
      group,
      ...sums,
      estimatedNanoUsd: estimated && (estimated.get(group) ?? 0),
      previousNanoUsd,
      ...compareMonths(sums.costNanoUsd, previousNanoUsd),
      forecast: forecastOf(group, sums.costNanoUsd),
      capNanoUsd: capOf(group),
    };
  });
  return rows.sort((a, b) => b.costNanoUsd - a.costNanoUsd || (a.group < b.group ? -1 : 1));
}

/** Without the month before: a change against a part of it misleads. */
export const withoutPrevious = <T extends object>(sums: T): T => ({
  ...sums,
  previousNanoUsd: null,
  ...compareMonths(0, null),
});

/** All rows together. */
export function totalOf(rows: readonly StatementRow[], forecast: Forecast | null): Omit<StatementRow, 'group'> {
  const sums = rows.reduce<Sums>(addRows, NOTHING);
  const sumOrNull = (of: (row: StatementRow) => number | null) =>
    rows.reduce<number | null>((total, row) => both(total, of(row)), 0);
  const previousNanoUsd = sumOrNull((row) => row.previousNanoUsd);
  return {
    ...sums,
    estimatedNanoUsd: sumOrNull((row) => row.estimatedNanoUsd),
    previousNanoUsd,
    ...compareMonths(sums.costNanoUsd, previousNanoUsd),
    forecast,
    capNanoUsd: null,
  };
}
