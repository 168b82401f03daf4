import type { Db } from '@llm0/drizzle/client';
import type { Amount, Estimated } from '@llm0/drizzle/queries/finance/amounts';
import type { CostKey, CurrentHome, ProjectHome } from '@llm0/drizzle/queries/finance/who';
import type { ProjectScope } from '@llm0/drizzle/queries/of-projects';
import { type Books, loadBooks, loadChanges, loadClosed, loadClosedPrevious } from './books';
import { type FactMonth, isWithin, joinFacts, type Placed } from './facts';
import { loadMonths, type MonthQuestion, type Months } from './load-months';
import type { StatementQuestion } from './schema';

export interface Who {
  readonly homes: ReadonlyMap<string, CurrentHome>;
  readonly keys: ReadonlyMap<string, CostKey>;
}

export interface Facts {
  /** The ledger's part of both months. */
  readonly ledger: Months;
  readonly month: FactMonth;
  readonly previous: FactMonth | null;
  readonly books: Books;
  /** Closed projects that the question sees. */
  readonly closed: Books['closed'];
  /** Projects that the ledger was asked for. */
  readonly open: ProjectScope;
}

export type FactQuestion = StatementQuestion & { readonly by: 'project' | 'key' };

/** A month and the one before, from the ledger where they are open, else as they were closed. */
export async function loadFacts(db: Db, question: FactQuestion, who: Who): Promise<Facts> {
  const books = await loadBooks(db, question);
  const isSeen = seenBy(question);
  const seen = (all: Books['closed']): Books['closed'] => new Map([...all].filter(([, home]) => isSeen(home)));
  const closed = seen(books.closed);
  const open = openScope(question, who, books);
  const asked = { ...question, filter: { ...question.filter, projectId: open } };
  const ledger = await loadMonths(db, asked, null);
  const place = placeBy(question.by, who);
  const placed = ({ amounts, estimated, isRounded }: Unplaced): FactMonth => ({
    ...{ amounts: amounts.map(place), estimated: estimated?.map(place) ?? null, isRounded },
  });
  const corrections = await loadCorrections(db, { ...asked, open: scopeSet(open) }, books);
  const parts = [placed(ledger.month), await loadClosed(db, question, closed), placed(corrections)];
  const common = { ledger, month: joinFacts(parts), books, closed, open };
  const before = ledger.previous && placed(ledger.previous);
  if (before === null || !ledger.isFinal) return { ...common, previous: before };
  const stillOpen = before.amounts.filter(({ home }) => !books.before.has(home.id));
  const earlier = [...seen(books.before)].filter(([id]) => closed.get(id)?.hasPrevious !== true);
  const previous = joinFacts([
    { ...before, amounts: stillOpen },
    await loadClosed(db, question, new Map(earlier)),
    await loadClosedPrevious(db, question, closed),
  ]);
  return { ...common, previous };
}

interface Unplaced extends Pick<FactMonth, 'isRounded'> {
  readonly amounts: readonly Amount[];
  readonly estimated: readonly Estimated[] | null;
}

/** By their keys or projects, as these are now. */
export function placeBy(by: MonthQuestion['by'], { homes, keys }: Who) {
  return <T extends Pick<Amount, 'group'>>(one: T): Placed<T> => {
    const key = by === 'key' ? keys.get(one.group) : undefined;
    const id = by === 'key' ? (key?.projectId ?? '') : one.group;
    return { ...one, home: homes.get(id) ?? nowhere(id), keyName: key?.name ?? one.group };
  };
}

const nowhere = (id: string): ProjectHome => ({
  ...{ id, name: id, teamId: null, team: null, organizationId: null, organization: null, costCenter: null },
});

/** Whether the question may and would see a closed project, by its place at the close. */
export function seenBy({ filter, within, visible }: StatementQuestion): (home: ProjectHome) => boolean {
  const asked = scopeSet(filter.projectId);
  const places = visible && new Set<string | null>(visible.places);
  return (home) =>
    isWithin(home, within) &&
    asked?.has(home.id) !== false &&
    (places === null || places.has(home.teamId) || places.has(home.organizationId));
}

const scopeSet = (scope: ProjectScope): ReadonlySet<string> | undefined =>
  scope === undefined ? undefined : new Set([scope].flat());

/** Projects that a question of the ledger is about, by their places now; undefined = all. */
export function ledgerScope({ filter, within, visible }: StatementQuestion, homes: Who['homes']): ProjectScope {
  if (visible === null && Object.keys(within).length === 0) return filter.projectId;
  const asked = scopeSet(filter.projectId);
  const own = visible && new Set(visible.projects);
  const isMeant = (home: ProjectHome) =>
    isWithin(home, within) && asked?.has(home.id) !== false && own?.has(home.id) !== false;
  return [...homes.values()].filter(isMeant).map(({ id }) => id);
}

function openScope(question: StatementQuestion, { homes }: Who, { closed }: Books): ProjectScope {
  const scope = ledgerScope(question, homes);
  if (closed.size === 0) return scope;
  return (scope === undefined ? [...homes.keys()] : [scope].flat()).filter((id) => !closed.has(id));
}

/** Of the closed months right before an open one. */
async function loadCorrections(
  db: Db,
  {
    open,
    ...question
  }: MonthQuestion & { readonly by: FactQuestion['by']; readonly open: ReadonlySet<string> | undefined },
  { corrected }: Books,
): Promise<Unplaced> {
  const amounts: Amount[] = [];
  const estimated: Estimated[] = [];
  let isKnown = true;
  for (const [of, projects] of corrected) {
    const projectId = projects.filter((id) => open?.has(id) !== false);
    if (projectId.length === 0) continue;
    for (const { amount, estimatedNanoUsd } of await loadChanges(db, question, { of, projectId })) {
      amounts.push(amount);
      isKnown &&= estimatedNanoUsd !== null;
      estimated.push({ ...amount, costNanoUsd: estimatedNanoUsd ?? 0 });
    }
  }
  return { amounts, estimated: isKnown ? estimated : null, isRounded: false };
}
