import { useNavigate } from '@tanstack/react-router';
import { useProjectNames } from '../../api/projects';
import { useBudgets } from '../../api/stats';
import { formatShare } from '../../format/format-number';
import { formatUsd } from '../../format/format-usd';
import { Card } from '../../ui/card';
import { EmptyState } from '../../ui/empty-state';
import { Failure } from '../../ui/error-state';
import { Meter } from '../../ui/meter';
import { describeBudget } from './prepare-overview';

const SHOWN = '6';

/** Caps, key budgets and customer limits that are nearest to their end. */
export function BudgetsCard({ projectId }: { readonly projectId: string | undefined }) {
  const budgets = useBudgets({ limit: SHOWN, ...(projectId === undefined ? {} : { project_id: projectId }) });
  const projectName = useProjectNames();
  const navigate = useNavigate();
  return (
    <Card title="Budgets closest to their limit">
      <Failure of={budgets} />
      {budgets.data?.data.length === 0 && (
        <EmptyState title="No budgets yet">
          Set a monthly cap on a project, a budget on a key or a limit on a customer to see it here.
        </EmptyState>
      )}
      <ul className="grid gap-2.5">
        {budgets.data?.data.map((budget) => (
          <li className="min-w-0" key={`${budget.scope} ${budget.project_id} ${budget.id} ${budget.period}`}>
            <button
              type="button"
              className="w-full rounded-md text-left hover:bg-hover"
              onClick={() => void navigate({ to: '/projects/$projectId', params: { projectId: budget.project_id } })}
            >
              <span className="flex flex-wrap items-baseline justify-between gap-x-3">
                <span className="min-w-0 truncate">
                  <span className="font-medium">{budget.name}</span>{' '}
                  <span className="text-xs text-muted">{describeBudget(budget, projectName(budget.project_id))}</span>
                </span>
                <span className="nums text-xs">
                  {formatUsd(budget.used_usd)} of {formatUsd(budget.limit_usd)}
                  <span className="ml-2 inline-block w-14 text-right font-medium">{formatShare(budget.share)}</span>
                </span>
              </span>
              <span className="mt-1 block">
                <Meter share={budget.share} label={`${budget.name}: used`} />
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Card>
  );
}
