import type { Budget } from '../../../api/stats';
import { formatDay } from '../../../format/format-time';
import { formatUsd, formatUsdExact } from '../../../format/format-usd';
import type { Tone } from '../../../ui/badge';
import { outlookOf } from '../../finance/cap-outlook';

/** The end of a budget, as all pages forecast it. */
export interface Outlook {
  readonly text: string;
  /** For a badge: `Nov 28`. */
  readonly short: string;
  readonly tone: Tone;
  /** Day on which it runs out, or could; '' if it is used up, null if it lasts. Sorts by urgency. */
  readonly day: string | null;
}

/** Owner of a budget: `<project> <key or customer>`. */
export const ownerOf = (projectId: string, id: string): string => `${projectId} ${id}`;

const dayName = (day: string) => formatDay(Date.parse(day), 'utc');

/** Periods without a forecast. */
const NOW: Readonly<Partial<Record<Budget['period'], string>>> = { day: ' today', week: ' this week' };
/** Share from which such a budget may end today. */
const NEAR = 0.9;
const utcDay = (ms: number) => new Date(ms).toISOString().slice(0, 10);

function prepareOutlook(budget: Budget): Outlook {
  const { period, used_usd: spent, limit_usd: cap, reached_on: reached, could_reach_on: could, forecast } = budget;
  if (spent >= cap) return { ...wordsOf(budget), short: 'used up', day: '' };
  if (period !== 'month') {
    // It may have no room for a request all the same.
    const amounts = `${formatUsd(spent)} of ${formatUsdExact(cap)}`;
    const when = NOW[period] ?? '';
    const isNear = spent >= NEAR * cap;
    return {
      text: `${amounts} spent${when}`,
      short: amounts + when,
      tone: isNear ? 'warn' : 'neutral',
      day: isNear ? utcDay(Date.now()) : null,
    };
  }
  if (reached !== null) return { ...wordsOf(budget), short: dayName(reached), day: reached };
  if (could !== null) return { ...wordsOf(budget), short: `maybe ${dayName(could)}`, day: could };
  return { ...wordsOf(budget), short: forecast === null ? 'no forecast yet' : 'lasts', day: null };
}

const wordsOf = (budget: Budget) =>
  outlookOf({ ...budget, spent_usd: budget.used_usd, cap_usd: budget.limit_usd }, false);

const NEVER = '~';
/** What is expected comes before what could be. */
const urgencyOf = ({ day, tone }: Outlook) => (day === null ? NEVER : `${day} ${tone === 'bad' ? 0 : 1}`);
const byUrgency = (a: Outlook, b: Outlook) => (urgencyOf(a) < urgencyOf(b) ? -1 : urgencyOf(a) > urgencyOf(b) ? 1 : 0);

/** The most urgent outlook of each owner, by `ownerOf`. */
export function prepareOutlooks(budgets: readonly Budget[]): ReadonlyMap<string, Outlook> {
  const outlooks = new Map<string, Outlook>();
  for (const budget of budgets) {
    const owner = ownerOf(budget.project_id ?? '', budget.id);
    const outlook = prepareOutlook(budget);
    const known = outlooks.get(owner);
    if (known === undefined || byUrgency(outlook, known) < 0) outlooks.set(owner, outlook);
  }
  return outlooks;
}

export interface NextBudget {
  readonly owner: string;
  readonly name: string;
  readonly projectId: string;
  readonly id: string;
  readonly outlook: Outlook;
}

const MOST = 3;

/** Budgets that run out next, each owner once. */
export function prepareNext(budgets: readonly Budget[]): readonly NextBudget[] {
  const names = new Map(budgets.map((budget) => [ownerOf(budget.project_id ?? '', budget.id), budget]));
  return [...prepareOutlooks(budgets)]
    .flatMap(([owner, outlook]): NextBudget[] => {
      const budget = names.get(owner);
      const projectId = budget?.project_id ?? null;
      if (budget === undefined || projectId === null || outlook.day === null) return [];
      return [{ owner, name: budget.name, projectId, id: budget.id, outlook }];
    })
    .sort((a, b) => byUrgency(a.outlook, b.outlook) || (a.name < b.name ? -1 : 1))
    .slice(0, MOST);
}
