import { GatewayError } from '@llm0/core/errors/gateway-error';
import { monthRange, type Stretch, sameShareBefore, shiftMonth } from '@llm0/core/finance/calendar';
import type { Db } from '@llm0/drizzle/client';
import {
  type Amount,
  type AmountFilter,
  loadAmounts,
  loadAmountsOfRows,
  loadCustomerAmounts,
  loadEstimated,
  type StretchAmounts,
} from '@llm0/drizzle/queries/finance/amounts';
import { loadKept } from '@llm0/drizzle/queries/finance/kept';
import { type Kept, splitMonth } from '@llm0/drizzle/queries/finance/month-segments';
import type { GroupBy } from '@llm0/drizzle/queries/stats/read/questions';
import { QuestionTooLargeError } from '@llm0/drizzle/queries/stats/read/time-limit';
import type { MonthAmounts } from './statement';

const DAY_MS = 86_400_000;

export interface MonthQuestion {
  /** `YYYY-MM`, in the zone. */
  readonly month: string;
  readonly timeZone: string;
  readonly by: GroupBy;
  readonly filter: AmountFilter;
  readonly nowMs: number;
  /** Retention of single requests. */
  readonly logRetentionDays: number;
}

export interface Months {
  readonly month: MonthAmounts;
  /** Null if the rows for it are deleted. */
  readonly previous: MonthAmounts | null;
  readonly compared: Stretch;
  readonly isFinal: boolean;
  /** Source of labels: each request's, or the current ones of key and project; null without labels. */
  readonly attribution: 'request' | 'current' | null;
  /** Set for single requests: whole UTC days up to yesterday, nano-USD by group. */
  readonly days: ReadonlyMap<string, readonly number[]> | null;
}

/** A question whose groups are those of another one, as they belong together now. */
export interface Regrouping {
  readonly by: 'key' | 'project';
  readonly groupOf: (id: string) => string;
}

/** A month and the one before it, of which as much as has passed of this one. */
export async function loadMonths(db: Db, question: MonthQuestion, byLabel: Regrouping | null): Promise<Months> {
  const { month, timeZone, nowMs, by, filter } = question;
  const range = monthRange(timeZone, month);
  const isFinal = range.toMs <= nowMs;
  const compared = isFinal ? monthRange(timeZone, shiftMonth(month, -1)) : sameShareBefore(timeZone, month, nowMs);
  const ranges = [range, compared] as const;
  const attribution = by.startsWith('label.') ? ('request' as const) : null;
  const common = { compared, isFinal, attribution, days: null };
  const kept = await Promise.all(ranges.map((one) => keptOf(db, question, one)));
  const [keptNow, keptBefore] = [kept[0] as Kept, kept[1] as Kept];
  if (!needsRows(by, filter)) {
    const read = by === 'customer' ? readCustomers : readRollups;
    return {
      ...common,
      month: await read(db, question, range, keptNow),
      previous: await read(db, question, compared, keptBefore),
    };
  }
  const canFallBack = byLabel !== null && filter.labels === undefined && filter.customerId === undefined;
  const isKept = (one: Stretch, known: Kept) => one.fromMs >= known.rowsFromMs;
  const fallBack = async (): Promise<Months> => {
    const byKey = { ...question, by: 'key' as const };
    const groupOf = byLabel?.groupOf ?? String;
    const read = async (one: Stretch, known: Kept) => regroup(await readRollups(db, byKey, one, known), groupOf);
    const [now, before] = [await read(range, keptNow), await read(compared, keptBefore)];
    return { ...common, attribution: 'current', month: now, previous: before };
  };
  if (!isKept(range, keptNow) || !isKept(compared, keptBefore)) {
    if (canFallBack) return fallBack();
    if (!isKept(range, keptNow)) throw tooOld(question);
  }
  try {
    const readsBoth = isKept(compared, keptBefore);
    return { ...common, ...(await readRows(db, question, { range, compared: readsBoth ? compared : null })) };
  } catch (error) {
    if (error instanceof QuestionTooLargeError && canFallBack) return fallBack();
    throw error;
  }
}

/** Queries without a roll-up: labels, a single customer, and customers by anything but their project. */
export function needsRows(by: GroupBy, filter: AmountFilter): boolean {
  const { labels, customerId, apiKeyId, model, provider, modality } = filter;
  if (by.startsWith('label.') || labels !== undefined || customerId !== undefined) return true;
  return by === 'customer' && [apiKeyId, model, provider, modality].some((one) => one !== undefined);
}

const keptOf = (db: Db, { nowMs, logRetentionDays }: MonthQuestion, range: Stretch) =>
  loadKept(db, range, { nowMs, rowsKeptMs: logRetentionDays * DAY_MS });

function tooOld({ month, logRetentionDays }: MonthQuestion): GatewayError {
  const message = `Single requests of ${month} are no longer stored (${logRetentionDays} days): labels and customers of that month can only be shown without further filters.`;
  return new GatewayError('invalid_request', message, { param: 'month' });
}

/** Amounts of a whole month or a part of it, from the roll-ups. */
export const readStretch = async (db: Db, question: MonthQuestion, range: Stretch): Promise<MonthAmounts> =>
  readRollups(db, question, range, await keptOf(db, question, range));

async function readRollups(db: Db, { by, filter }: MonthQuestion, range: Stretch, kept: Kept): Promise<MonthAmounts> {
  const { segments, isRounded } = splitMonth(range, kept, { source: 'rollup_day', hours: true });
  const amounts = await loadAmounts(db, segments, { by, filter });
  return { range, amounts, isRounded, estimated: await estimatedOf(db, { by, filter }, range, kept) };
}

async function readCustomers(db: Db, { by, filter }: MonthQuestion, range: Stretch, kept: Kept): Promise<MonthAmounts> {
  const { segments, isRounded } = splitMonth(range, kept, { source: 'customer_spend', hours: false });
  const amounts = await loadCustomerAmounts(db, segments, filter.projectId);
  return { range, amounts, isRounded, estimated: await estimatedOf(db, { by, filter }, range, kept) };
}

interface Wanted {
  readonly range: Stretch;
  /** Null if its rows are deleted. */
  readonly compared: Stretch | null;
}

/** Both months from single requests, and of a running one the days that a forecast is made from. */
async function readRows(db: Db, { by, filter, nowMs }: MonthQuestion, { range, compared }: Wanted) {
  const asked = { by, filter };
  const todayMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  const fromMs = compared?.fromMs ?? range.fromMs;
  // Rows carry the store's clock, which may be a little ahead.
  const toMs = Math.min(range.toMs, todayMs + 2 * DAY_MS);
  const bounds = [range.fromMs, ...(compared === null ? [] : [compared.toMs])];
  const stretches = await loadAmountsOfRows(db, { fromMs, toMs, bounds }, asked);
  const within = async (one: Stretch): Promise<MonthAmounts> => {
    const own = stretches.filter((stretch) => stretch.fromMs >= one.fromMs && stretch.toMs <= one.toMs);
    const amounts = own.flatMap((stretch) => stretch.amounts);
    return { range: one, amounts, isRounded: false, estimated: await loadEstimated(db, one, asked) };
  };
  return {
    month: await within(range),
    previous: compared && (await within(compared)),
    days: daysOf(stretches, { fromMs: Math.ceil(fromMs / DAY_MS) * DAY_MS, toMs: todayMs }),
  };
}

function daysOf(stretches: readonly StretchAmounts[], { fromMs, toMs }: Stretch): Map<string, readonly number[]> {
  const days = new Map<string, number[]>();
  for (const stretch of stretches) {
    if (stretch.fromMs < fromMs || stretch.toMs > toMs) continue;
    const index = Math.floor((stretch.fromMs - fromMs) / DAY_MS);
    for (const { group, costNanoUsd } of stretch.amounts) {
      const empty = () => Array.from({ length: Math.round((toMs - fromMs) / DAY_MS) }, () => 0);
      const series = days.getOrInsertComputed(group, empty);
      series[index] = (series[index] ?? 0) + costNanoUsd;
    }
  }
  return days;
}

type Asked = Pick<MonthQuestion, 'by' | 'filter'>;

const estimatedOf = (db: Db, asked: Asked, range: Stretch, { rowsFromMs }: Kept) =>
  range.fromMs < rowsFromMs ? null : loadEstimated(db, range, asked);

/** Daily spend by other groups. */
export function regroupDays(days: Months['days'], groupOf: Regrouping['groupOf']): Months['days'] {
  if (days === null) return null;
  const regrouped = new Map<string, readonly number[]>();
  for (const [id, own] of days) {
    const before = regrouped.get(groupOf(id)) ?? [];
    regrouped.set(
      groupOf(id),
      own.map((nano, index) => nano + (before[index] ?? 0)),
    );
  }
  return regrouped;
}

function regroup(month: MonthAmounts, groupOf: Regrouping['groupOf']): MonthAmounts {
  const grouped = <T extends Pick<Amount, 'group'>>(one: T) => ({ ...one, group: groupOf(one.group) });
  return { ...month, amounts: month.amounts.map(grouped), estimated: month.estimated?.map(grouped) ?? null };
}
