import { useProjectNames } from '../../api/projects';
import { useAlerts } from '../../api/settings';
import { useTightBudgets } from '../../api/stats';
import { type Page, useNow } from '../../range/use-page';
import { Warning } from '../../ui/icons';
import { AlertsBanner } from '../settings/alerts-banner';
import { callingAlerts } from '../settings/prepare-firing';
import { BUDGETS } from './caps-card';
import { type CapLine, urgentCaps } from './prepare-caps';

const SHOWN = 3;
const MINUTE_MS = 60_000;

/** Alerts that fire, and budgets that are used up or will be, before anybody scrolls to them: each of them once. */
export function UrgentBanners({ page }: { readonly page: Page }) {
  const { data } = useTightBudgets(page.projectId);
  const alerts = useAlerts({ withChecks: true });
  const calling = callingAlerts(alerts.data?.data ?? [], useNow(MINUTE_MS), page.projectId);
  const urgent = urgentCaps(data?.data ?? [], calling, useProjectNames());
  return (
    <>
      <AlertsBanner calling={calling} page={page} moreOf={({ id }) => <CapLines caps={urgent.get(id)} />} />
      <CapsBanner caps={urgent.get(null)} />
    </>
  );
}

interface Props {
  readonly caps: readonly CapLine[] | undefined;
}

function CapsBanner({ caps = [] }: Props) {
  if (caps.length === 0) return null;
  return (
    <div role="status" className="flex gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn">
      <Warning className="mt-0.5 shrink-0" />
      <div className="min-w-0 wrap-anywhere">
        <CapLines caps={caps} />
        <a href={`#${BUDGETS}`} className="touch-line underline">
          {caps.length > SHOWN ? `Budgets, ${caps.length - SHOWN} more like these` : 'Budgets'}
        </a>
      </div>
    </div>
  );
}

const CapLines = ({ caps = [] }: Props) =>
  caps.length > 0 && (
    <ul>
      {caps.slice(0, SHOWN).map(({ key, name, owner, outlook, spent, limit }) => (
        <li key={key}>
          <strong className="font-semibold">{name}</strong> ({owner}): {outlook}. {spent} of {limit} is spent.
        </li>
      ))}
    </ul>
  );
