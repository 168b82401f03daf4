import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import { askAgain, useAway, useStatus } from '../../api/away';
import { useAlerts } from '../../api/settings';
import { useTightBudgets } from '../../api/stats';
import { useMcpServers } from '../../api/tools';
import { formatCount } from '../../format/format-number';
import { formatInstant } from '../../format/format-time';
import { type Page, useNow } from '../../range/use-page';
import { Button } from '../../ui/button';
import { Warning } from '../../ui/icons';
import { useLatestErrors } from './impact-banner';
import { describePause } from './prepare-impact';

/** One banner for an outage, with the age of the data. It lies over the page: nothing moves when it comes or goes. */
export function AwayBanner({ page }: { readonly page: Pick<Page, 'timeZone'> }) {
  const away = useAway();
  const client = useQueryClient();
  if (away === null) return null;
  return (
    <div
      role="alert"
      className="fixed inset-x-3 bottom-3 z-40 mx-auto flex w-fit max-w-2xl flex-wrap items-center gap-2 rounded-md border border-bad bg-bad-soft px-3 py-2 text-bad shadow-lg print:hidden"
    >
      <Warning className="shrink-0" />
      <span className="wrap-anywhere">
        {away.message} {away.updatedAtMs > 0 && `Showing data as of ${formatInstant(away.updatedAtMs, page.timeZone)}.`}
      </span>
      <Button size="small" onClick={() => askAgain(client)}>
        Try again
      </Button>
    </div>
  );
}

const SECOND_MS = 1000;

/** Current problems: open breakers with failed-over requests, and a missing store. */
export function TroubleBanner({ page }: { readonly page: Page }) {
  const { data, error } = useStatus();
  const nowMs = useNow(SECOND_MS);
  if (data === undefined || error !== null) return null;
  return (
    <>
      {!data.hot_store.ok && (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
          {data.hot_store.kind === 'redis' ? 'Redis' : 'The limits store'} is not responding: requests are refused, or
          served without limits where their project allows it.
        </p>
      )}
      {data.log_database?.ok === false && (
        <p role="status" className="rounded-md bg-warn-soft px-3 py-2 text-warn">
          ClickHouse has taken no rows since {formatInstant(Date.parse(data.log_database.since ?? ''), page.timeZone)}.
          New rows wait in Postgres, which answers for the log. Money is right.
        </p>
      )}
      {data.open.map(({ provider, answered_elsewhere: elsewhere, ...pause }) => (
        <div key={provider} role="status" className="flex gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn">
          <Warning className="mt-0.5 shrink-0" />
          <span className="min-w-0 wrap-anywhere">
            {provider}: {describePause(pause, { nowMs, timeZone: page.timeZone })}
            {elsewhere === 0 && ', no requests answered elsewhere'}
            {elsewhere !== null && elsewhere > 0 && ', '}
            {elsewhere !== null && elsewhere > 0 && (
              <Link
                to="/requests"
                search={(kept) => ({
                  ...kept,
                  from: pause.since,
                  to: new Date(Date.now() + 3_600_000).toISOString(),
                  failover_from: provider,
                })}
                className="touch-line underline"
              >
                {formatCount(elsewhere)} {elsewhere === 1 ? 'request' : 'requests'} answered elsewhere
              </Link>
            )}
          </span>
        </div>
      ))}
    </>
  );
}

/** False until it is first known which banners, also those of `others`, the page has: they would move the rest. */
export function useBannersKnown(page: Page, others: readonly Asked[]): boolean {
  const { all, byCode } = useLatestErrors(page);
  const alerts = useAlerts();
  const queries: readonly Asked[] = [
    useStatus(),
    useMcpServers(),
    useTightBudgets(page.projectId),
    ...(alerts.isEnabled ? [alerts] : []),
    all,
    byCode,
    ...others,
  ];
  const wasKnown = useRef(false);
  wasKnown.current ||= queries.every(({ isFetched, failureCount }) => isFetched || failureCount > 0);
  return wasKnown.current;
}

type Asked = Pick<ReturnType<typeof useStatus>, 'isFetched' | 'failureCount'>;
