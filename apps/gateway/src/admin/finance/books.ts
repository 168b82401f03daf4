// Months that finance closed. A closed project's month is what was kept at its close. What the ledger shows otherwise since
// then is a correction of the first open month after it.
import { monthRange, shiftMonth } from '@llm0/core/finance/calendar';
import type { Db } from '@llm0/drizzle/client';
import type { Amount, Estimated } from '@llm0/drizzle/queries/finance/amounts';
import {
  type ClosedAmount,
  type ClosedProject,
  type ClosedQuery,
  listClosedProjects,
  loadClosedAmounts,
} from '@llm0/drizzle/queries/finance/closings';
import type { FactMonth, Placed } from './facts';
import { type MonthQuestion, readStretch } from './load-months';

/** Settlements arrive within days; each month costs a question. */
const MONTHS_CORRECTED = 3;

type ClosedById = ReadonlyMap<string, ClosedProject>;

export interface Books {
  /** Projects that closed the month, by id. */
  readonly closed: ClosedById;
  /** Those that closed the month before. */
  readonly before: ClosedById;
  /** Closed months that corrections of this one are for, with their projects. */
  readonly corrected: ReadonlyMap<string, readonly string[]>;
  /** The month is closed in other zones. */
  readonly otherZones: readonly string[];
}

type BookQuestion = Pick<MonthQuestion, 'month' | 'timeZone'>;

export async function loadBooks(db: Db, { month, timeZone }: BookQuestion): Promise<Books> {
  const earlier = Array.from({ length: MONTHS_CORRECTED }, (_, index) => shiftMonth(month, -1 - index));
  const all = await listClosedProjects(db, [month, ...earlier]);
  const own = all.filter(({ closing }) => closing.timeZone === timeZone);
  const closedIn = (of: string): ClosedById =>
    new Map(own.filter((one) => one.month === of).map((one) => [one.id, one]));
  const closed = closedIn(month);
  const corrected = new Map<string, readonly string[]>();
  let run: readonly string[] | undefined;
  for (const of of earlier) {
    const there = closedIn(of);
    // Only an unbroken row of closed months leads here: the first open month has the corrections.
    run = (run ?? [...there.keys()].filter((id) => !closed.has(id))).filter((id) => there.has(id));
    if (run.length > 0) corrected.set(of, run);
  }
  const others = all.filter((one) => one.month === month && one.closing.timeZone !== timeZone);
  const otherZones = [...new Set(others.map(({ closing }) => closing.timeZone))];
  return { closed, before: closedIn(earlier[0] ?? ''), corrected, otherZones };
}

const factsOf = (amounts: readonly ClosedAmount[], homes: ClosedById): FactMonth => {
  const placed = amounts.flatMap((amount): Placed<ClosedAmount>[] => {
    const home = homes.get(amount.projectId);
    return home === undefined ? [] : [{ ...amount, home }];
  });
  return {
    amounts: placed,
    estimated: placed.some(({ estimatedNanoUsd }) => estimatedNanoUsd === null) ? null : placed.map(toEstimated),
    isRounded: [...homes.values()].some(({ isRounded }) => isRounded),
  };
};

const toEstimated = (amount: Placed<ClosedAmount>): Placed<Estimated> => ({
  ...amount,
  costNanoUsd: amount.estimatedNanoUsd ?? 0,
});

type Asked = Pick<ClosedQuery, 'by' | 'filter'>;

/** Amounts that these projects closed a month with, corrections of earlier months included. */
export async function loadClosed(db: Db, asked: Asked, homes: ClosedById): Promise<FactMonth> {
  const [month] = [...homes.values()].map((home) => home.month);
  if (month === undefined) return NO_FACTS;
  const query = { ...asked, month, projectId: [...homes.keys()], kinds: ['own', 'correction'] as const };
  return factsOf(await loadClosedAmounts(db, query), homes);
}

/** Amounts of the month before, as they were at the close of this one. */
export async function loadClosedPrevious(db: Db, asked: Asked, homes: ClosedById): Promise<FactMonth> {
  const own = new Map([...homes].filter(([, { hasPrevious }]) => hasPrevious));
  const [month] = [...own.values()].map((home) => home.month);
  if (month === undefined) return NO_FACTS;
  const query = { ...asked, month, projectId: [...own.keys()], kinds: ['previous'] as const };
  return factsOf(await loadClosedAmounts(db, query), own);
}

export const NO_FACTS: FactMonth = { amounts: [], estimated: [], isRounded: false };

/** An amount before it has a place. */
interface Change {
  readonly amount: Amount;
  readonly estimatedNanoUsd: number | null;
}

/** What the ledger has of a closed month beyond all that was closed of it; negative where it has less. */
export async function loadChanges(
  db: Db,
  question: MonthQuestion & Asked,
  { of, projectId }: { readonly of: string; readonly projectId: readonly string[] },
): Promise<readonly Change[]> {
  const { filter, timeZone } = question;
  const asked = { ...question, month: of, filter: { ...filter, projectId } };
  const ledger = await readStretch(db, asked, monthRange(timeZone, of));
  // Hours or rows of the month's edges expired: the two are no longer of the same days.
  if (ledger.isRounded) return [];
  const kinds = ['own', 'correction'] as const;
  const kept = await loadClosedAmounts(db, { by: question.by, filter, projectId, ofMonth: of, kinds });
  return differ(of, ledger, kept);
}

type Named = Pick<Amount, 'group' | 'model' | 'modality' | 'cache' | 'correctionOf'>;

const idOf = ({ group, model, modality, cache, correctionOf }: Named) =>
  JSON.stringify([group, model?.provider, model?.name, modality, cache, correctionOf]);

const SUMS = ['requests', 'costNanoUsd', 'savedNanoUsd', 'tokensCacheRead', 'tokensCacheWrite'] as const;

interface Ledger {
  readonly amounts: readonly Amount[];
  readonly estimated: readonly Estimated[] | null;
}

function differ(of: string, ledger: Ledger, kept: readonly ClosedAmount[]): readonly Change[] {
  const changes = new Map<string, { amount: Amount; estimatedNanoUsd: number | null }>();
  // A month that was closed without modalities is compared without them.
  const isSplit = kept.every(({ modality }) => modality !== null);
  const add = (amount: Amount, sign: 1 | -1, estimatedNanoUsd: number | null) => {
    const { savedVendorPico: _, correctionOf: __, ...rest } = amount;
    const empty = () => ({
      amount: { ...rest, correctionOf: of, ...Object.fromEntries(SUMS.map((name) => [name, 0])) } as Amount,
      estimatedNanoUsd: 0,
    });
    const change = changes.getOrInsertComputed(idOf(isSplit ? rest : { ...rest, modality: null }), empty);
    const sums = Object.fromEntries(SUMS.map((name) => [name, change.amount[name] + sign * amount[name]]));
    change.amount = { ...change.amount, ...sums };
    const before = change.estimatedNanoUsd;
    change.estimatedNanoUsd = before === null || estimatedNanoUsd === null ? null : before + sign * estimatedNanoUsd;
  };
  const estimates = estimatesOf(ledger);
  for (const amount of ledger.amounts) add(amount, 1, estimates(amount));
  for (const amount of kept) add(amount, -1, amount.estimatedNanoUsd);
  return [...changes.values()].filter(({ amount }) => SUMS.some((name) => amount[name] !== 0));
}

/** The estimated part of each amount: estimates know no cache, and only misses cost. */
export function estimatesOf({ estimated }: Pick<Ledger, 'estimated'>): (amount: Amount) => number | null {
  if (estimated === null) return () => null;
  const byId = new Map<string, number>();
  for (const one of estimated) {
    const id = idOf({ ...one, cache: 'miss' });
    byId.set(id, (byId.get(id) ?? 0) + one.costNanoUsd);
  }
  return (amount) => byId.get(idOf(amount)) ?? 0;
}
