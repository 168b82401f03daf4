import { formatUsdExact } from '../../format/format-usd';
import type { Column } from '../../ui/table/column';
import type { FieldSpec } from '../forms/prepare-form';
import { PROJECT_FIELDS } from '../projects/field-specs';
import type { Team } from './use-teams';

const PERIODS = { daily_budget_usd: 'a day', weekly_budget_usd: 'a week', monthly_cap_usd: 'a month' } as const;
type Budgets = Pick<Team, keyof typeof PERIODS>;

/** Limits of everything below a team or user, as projects have them. */
export const LIMIT_FIELDS = PROJECT_FIELDS.filter(
  ({ name }) => Object.hasOwn(PERIODS, name) || name === 'allowed_models',
);

/** Fields of a team that its own admins may change. */
export const TEAM_FIELDS: readonly FieldSpec[] = [
  { name: 'name', label: 'Name', kind: 'text', required: true },
  { name: 'cost_center', label: 'Cost center', kind: 'text', hint: 'Of its projects without their own.' },
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
