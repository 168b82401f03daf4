import { type Alert, useAlertFirings } from '../../api/settings';
import { usePage } from '../../range/use-page';
import { Failure } from '../../ui/error-state';
import { describeFiring } from './prepare-alert';

/** Firings of an alert, notified or not. */
export function AlertHistory({ of: alert }: { readonly of: Alert }) {
  const { timeZone } = usePage();
  const firings = useAlertFirings(alert.id);
  if (firings.error !== null) return <Failure of={firings} />;
  const rows = firings.data?.data ?? [];
  return (
    <section aria-label="History" className="mt-3">
      <h3 className="mb-1 text-xs font-semibold text-muted">History</h3>
      {rows.length === 0 ? (
        <p className="text-muted">{firings.data === undefined ? 'Loading…' : 'Has not fired in the last 90 days.'}</p>
      ) : (
        <ul className="max-h-40 overflow-y-auto">
          {rows.map((firing) => (
            <li key={firing.id} className="py-1 wrap-anywhere">
              {describeFiring(firing, timeZone, alert)}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
