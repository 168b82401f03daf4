import { formatUsdExact } from '../../format/format-usd';
import type { Column } from '../../ui/table/column';
import { KEY_FIELDS, PROJECT_FIELDS } from '../projects/field-specs';
import type { Team } from './use-teams';

const PERIODS = { daily_budget_usd: 'a day', weekly_budget_usd: 'a week', monthly_cap_usd: 'a month' } as const;
type Budgets = Pick<Team, keyof typeof PERIODS>;

const A_MINUTE = ['rate_limit_per_minute', 'tokens_per_minute'];

/** Limits of everything below a team or user, as projects and keys have them. */
export const LIMIT_FIELDS = [
  ...PROJECT_FIELDS.filter(({ name }) => Object.hasOwn(PERIODS, name) || name === 'allowed_models'),
  ...KEY_FIELDS.filter(({ name }) => A_MINUTE.includes(name)),
];

/** `$2.50 a day, $20.00 a month`; null without any. */
export function describeBudgets(level: Budgets): string | null {
  const parts = (Object.keys(PERIODS) as (keyof typeof PERIODS)[]).flatMap((name) => {
    const usd = level[name];
    return usd === null ? [] : [`${formatUsdExact(usd)} ${PERIODS[name]}`];
  });
  return parts.length === 0 ? null : parts.join(', ');
}

export const budgetColumn = <T extends Budgets>(): Column<T> => ({
  ...{ header: 'Budgets', wideOnly: true, value: describeBudgets },
});
