import { Link } from '@tanstack/react-router';
import { useAlerts } from '../../api/settings';
import { type Page, useNow } from '../../range/use-page';
import { Warning } from '../../ui/icons';
import { callingAlerts, describeNow } from './prepare-firing';

const SHOWN = 3;
const MINUTE_MS = 60_000;

/** Alerts that fire. If their message failed, nobody else tells of them. */
export function AlertsBanner({ page: { projectId, timeZone: zone } }: { readonly page: Page }) {
  const { data } = useAlerts();
  const nowMs = useNow(MINUTE_MS);
  const calling = callingAlerts(data?.data ?? [], nowMs, projectId);
  if (calling.length === 0) return null;
  return (
    <div role="status" className="flex gap-2 rounded-md bg-bad-soft px-3 py-2 text-bad">
      <Warning className="mt-0.5 shrink-0" />
      <ul className="min-w-0 wrap-anywhere">
        {calling.slice(0, SHOWN).map((alert) => {
          const { found, unsent } = describeNow(alert, { zone, nowMs });
          return (
            <li key={alert.id}>
              <Link to="/alerts" search={{ open: alert.id }} className="touch-line font-semibold underline">
                {alert.name}
              </Link>{' '}
              fires{found !== null && `: ${found}`}.{unsent !== null && ` ${unsent}`}
            </li>
          );
        })}
        {calling.length > SHOWN && (
          <li>
            <Link to="/alerts" className="touch-line underline">
              All alerts, {calling.length - SHOWN} more like these
            </Link>
          </li>
        )}
      </ul>
    </div>
  );
}
