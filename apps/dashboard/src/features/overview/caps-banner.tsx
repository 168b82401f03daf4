import { Link } from '@tanstack/react-router';
import { useProjectNames } from '../../api/projects';
import { useTightBudgets } from '../../api/stats';
import { Warning } from '../../ui/icons';
import { prepareCaps } from './prepare-caps';

const SHOWN = 3;

/** Budgets that are used up or will be, before anybody scrolls to them. */
export function CapsBanner({ projectId }: { readonly projectId: string | undefined }) {
  const { data } = useTightBudgets(projectId);
  const projectName = useProjectNames();
  const urgent = prepareCaps(data?.data ?? [], projectName).filter(({ isUrgent }) => isUrgent);
  if (urgent.length === 0) return null;
  return (
    <div role="status" className="flex gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn">
      <Warning className="mt-0.5 shrink-0" />
      <ul className="min-w-0 wrap-anywhere">
        {urgent.slice(0, SHOWN).map(({ key, name, owner, outlook, spent, limit }) => (
          <li key={key}>
            <strong className="font-semibold">{name}</strong> ({owner}): {outlook}. {spent} of {limit} is spent.
          </li>
        ))}
        <li>
          <Link to="/money" search={{ tab: 'statement' }} className="touch-line underline">
            {urgent.length > SHOWN ? `All budgets, ${urgent.length - SHOWN} more like these` : 'All budgets'}
          </Link>
        </li>
      </ul>
    </div>
  );
}
