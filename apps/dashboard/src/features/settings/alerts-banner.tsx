import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { ListedAlert } from '../../api/settings';
import { type Page, useNow } from '../../range/use-page';
import { Warning } from '../../ui/icons';
import { PlaceLink } from '../../ui/place-link';
import { describeNow } from './prepare-firing';
import { placeOfMeasure } from './prepare-measure';

const SHOWN = 3;
const MINUTE_MS = 60_000;

interface Props {
  readonly page: Page;
  readonly calling: readonly ListedAlert[];
  /** What else is known of an alert. */
  readonly moreOf: (alert: ListedAlert) => ReactNode;
}

/** Alerts that fire. If their message failed, nobody else tells of them. */
export function AlertsBanner({ page: { timeZone: zone }, calling, moreOf }: Props) {
  const nowMs = useNow(MINUTE_MS);
  if (calling.length === 0) return null;
  return (
    <div role="status" className="flex gap-2 rounded-md bg-bad-soft px-3 py-2 text-bad">
      <Warning className="mt-0.5 shrink-0" />
      <ul className="min-w-0 wrap-anywhere">
        {calling.slice(0, SHOWN).map((alert) => {
          const { found, since, unsent } = describeNow(alert, { zone, nowMs });
          const { label, ...place } = placeOfMeasure(alert, nowMs);
          return (
            <li key={alert.id}>
              <Link to="/alerts" search={{ open: alert.id }} className="touch-line font-semibold underline">
                {alert.name}
              </Link>{' '}
              fires{found !== null && `: ${found}`}
              {since !== null && ` (${since})`}.
              {unsent !== null && ` ${alert.last_error === null ? unsent : 'Not sent: its webhook fails'}.`}{' '}
              <PlaceLink {...place} className="touch-line underline">
                {label}
              </PlaceLink>
              {moreOf(alert)}
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
