import type { Stretch } from '@llm0/core/finance/calendar';
import type { Db } from '@llm0/drizzle/client';
import { loadHomes, loadKeys } from '@llm0/drizzle/queries/finance/who';
import type { ProjectScope } from '@llm0/drizzle/queries/of-projects';
import { type Books, loadBooks } from './books';
import { type FactGroup, groupFacts, isFactGroup, isLevelGroup, levelOf } from './facts';
import { type Facts, ledgerScope, loadFacts, placeBy, seenBy, type Who } from './load-facts';
import { loadMonths, type MonthQuestion, type Months, needsRows, type Regrouping, regroupDays } from './load-months';
import type { StatementQuestion } from './schema';

/** Both months by the question's groups. */
export interface Found {
  readonly months: Months;
  readonly names: ReadonlyMap<string, string>;
  /** Projects that the ledger was asked for. */
  readonly scope: ProjectScope;
  /** How the ledger's days form groups; null = they have them. */
  readonly regrouping: Regrouping | null;
  /** Projects whose closed amounts are in it. */
  readonly closed: Books['closed'];
  /** Projects that closed the month, though these figures are the ledger's. */
  readonly closedElsewhere: readonly string[];
  /** Nothing in it can change. */
  readonly isClosed: boolean;
  readonly otherZones: Books['otherZones'];
}

export async function loadWho(db: Db, by: string): Promise<Who> {
  const [homes, keys] = await Promise.all([
    loadHomes(db),
    by === 'key' || by.startsWith('label.') ? loadKeys(db) : new Map(),
  ]);
  return { homes, keys };
}

/** Closed months as they were closed; all others, and those by customer or label, from the ledger. */
export async function findMonths(db: Db, question: StatementQuestion, who: Who): Promise<Found> {
  const { by } = question;
  if (isFactGroup(by) && !needsRows(grainOf(by), question.filter)) return findByFacts(db, { ...question, by }, who);
  const scope = ledgerScope(question, who.homes);
  const grain = isFactGroup(by) ? grainOf(by) : (by as MonthQuestion['by']);
  const regrouping = regroupingOf(by, who);
  const isLabel = by.startsWith('label.');
  const asked = { ...question, by: grain, filter: { ...question.filter, projectId: scope } };
  const found = await loadMonths(db, asked, isLabel ? regrouping : null);
  const names = new Map<string, string>();
  const { closed, otherZones } = await loadBooks(db, question);
  const isSeen = seenBy(question);
  const closedElsewhere = [...closed.values()].filter(isSeen).map(({ id }) => id);
  const common = { scope, regrouping, closed: new Map(), closedElsewhere, isClosed: false, otherZones };
  if (!isFactGroup(by)) return { ...common, months: found, names };
  const place = placeBy(grain, who);
  const grouped = (month: Months['month']) => ({
    range: month.range,
    ...groupFacts(
      { ...month, amounts: month.amounts.map(place), estimated: month.estimated?.map(place) ?? null },
      by,
      names,
    ),
  });
  const previous = found.previous && grouped(found.previous);
  const days = regrouping === null ? found.days : regroupDays(found.days, regrouping.groupOf);
  return { ...common, months: { ...found, month: grouped(found.month), previous, days }, names };
}

async function findByFacts(db: Db, question: StatementQuestion & { readonly by: FactGroup }, who: Who): Promise<Found> {
  const { by } = question;
  const facts = await loadFacts(db, { ...question, by: by === 'key' ? 'key' : 'project' }, who);
  const { ledger, closed, books, open } = facts;
  const names = new Map<string, string>();
  const grouped = (month: typeof facts.month, range: Stretch) => ({ range, ...groupFacts(month, by, names) });
  const previous = facts.previous && grouped(facts.previous, ledger.compared);
  const month = grouped(facts.month, ledger.month.range);
  return {
    ...{ months: { ...ledger, month, previous }, names, scope: open, regrouping: regroupingOf(by, who) },
    ...{ closed, closedElsewhere: [], isClosed: isClosed(facts, who), otherZones: books.otherZones },
  };
}

/** Every project that could still have costs in the month has closed it. */
function isClosed({ closed, open, ledger }: Facts, { homes }: Who): boolean {
  if (closed.size === 0 || ledger.month.amounts.length > 0) return false;
  const ids = open === undefined ? [...homes.keys()] : [open].flat();
  return ids.every((id) => (homes.get(id)?.createdAtMs ?? 0) >= ledger.month.range.toMs);
}

/** Groups that the ledger is asked for. */
function grainOf(by: FactGroup): MonthQuestion['by'] {
  return isLevelGroup(by) ? 'project' : by;
}

function regroupingOf(by: string, { homes, keys }: Who): Regrouping | null {
  if (isLevelGroup(by)) return { by: 'project', groupOf: (id) => levelOf(by, homes.get(id)) };
  if (!by.startsWith('label.')) return null;
  const label = by.slice('label.'.length);
  return { by: 'key', groupOf: (key) => keys.get(key)?.labels[label] ?? '' };
}
