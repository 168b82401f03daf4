import { budgetLevelsAbove, shareUsed } from '@llm0/core/alerts/condition';
import { periodAt } from '@llm0/core/limits/budgets';
import type { Budget } from '@llm0/drizzle/queries/limits/budgets';

const MOST_NAMES = 3;
/** Longest list beside the text. */
const MOST_DETAILS = 200;

export interface LevelQuestion {
  readonly threshold: number;
  readonly nowMs: number;
  /** Subjects that earlier messages named. */
  readonly told: ReadonlySet<string>;
}

export interface PassedLevels {
  /** Share of the tightest budget. */
  readonly value: number;
  readonly text: string;
  /** A sentence for each budget, where the text doesn't name all of them. */
  readonly details?: readonly string[];
  readonly subjects: readonly string[];
  /** No message named one of them. */
  readonly fresh: boolean;
}

/** Levels that budgets have passed in their periods; each is told once. null without a budget. `budgets`: tightest first. */
export function budgetLevels(budgets: readonly Budget[], question: LevelQuestion): PassedLevels | null {
  const [tightest] = budgets;
  if (tightest === undefined) return null;
  const passed = budgets.flatMap((budget) => passedBy(budget, question));
  const fresh = passed.filter(({ subject }) => !question.told.has(subject));
  const news = [...Map.groupBy(fresh, ({ budget }) => budget)].map(([budget, levels]) => describe(budget, levels));
  const more = news.length > MOST_NAMES ? ` and ${news.length - MOST_NAMES} more budgets` : '';
  const text = news.length === 0 ? describe(tightest, []) : `${news.slice(0, MOST_NAMES).join('; ')}${more}`;
  return {
    value: shareOf(tightest),
    text,
    ...(news.length > MOST_NAMES && { details: boundedList(news) }),
    subjects: passed.map(({ subject }) => subject).sort(),
    fresh: fresh.length > 0,
  };
}

function boundedList(news: readonly string[]): readonly string[] {
  const left = news.length - MOST_DETAILS;
  return left <= 0 ? news : [...news.slice(0, MOST_DETAILS), `${left} more budgets`];
}

interface Passed {
  readonly budget: Budget;
  readonly level: number;
  /** Names budget, period and level. */
  readonly subject: string;
}

const shareOf = ({ usedNanoUsd, limitNanoUsd }: Budget): number => shareUsed(usedNanoUsd, limitNanoUsd);

function passedBy(budget: Budget, { threshold, nowMs }: LevelQuestion): readonly Passed[] {
  const { scope, projectId, id, period } = budget;
  const since =
    period === 'total' ? '' : ` from ${new Date(periodAt(period, nowMs).fromMs).toISOString().slice(0, 10)}`;
  const share = shareOf(budget);
  const levels = new Set([threshold, ...budgetLevelsAbove(threshold)]);
  return [...levels].flatMap((level) => {
    const subject = `${scope} ${projectId}/${id}: ${period}${since}, ${percentOf(level)} %`;
    return share >= level ? [{ budget, level, subject }] : [];
  });
}

const percentOf = (level: number): number => Math.round(level * 1000) / 10;
const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

function describe(budget: Budget, levels: readonly Pick<Passed, 'level'>[]): string {
  const { period, scope, name } = budget;
  const past = levels.length === 0 ? '' : `, past ${levels.map(({ level }) => `${percentOf(level)} %`).join(', ')}`;
  return `${percent(shareOf(budget))} of the ${period} budget of ${scope} ${name} is used${past}`;
}
