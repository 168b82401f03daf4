import { Link } from '@tanstack/react-router';
import { asInterval, type ErrorBucket, useErrors } from '../../api/stats';
import { countOf, formatCount, formatShare } from '../../format/format-number';
import { formatClock } from '../../format/format-time';
import { rangeQuery, untilNow } from '../../range/time-range';
import { type Page, useNow } from '../../range/use-page';
import { Warning } from '../../ui/icons';
import { failingProviders, prepareImpact } from './prepare-impact';

const MINUTE_MS = 60_000;
const WATCHED_MS = 15 * MINUTE_MS;
const MAX_CODES = 4;

/** Errors of the last minutes, those of each code, and of each provider. */
export function useLatestErrors({ projectId }: Page) {
  const nowMs = useNow(MINUTE_MS / 2);
  const toMs = untilNow(nowMs);
  const ofProject = projectId === undefined ? {} : { project_id: projectId };
  const asked = {
    ...{ ...rangeQuery({ fromMs: toMs - WATCHED_MS, toMs }), ...ofProject },
    interval: asInterval(MINUTE_MS),
  };
  return {
    ...{ nowMs, toMs, all: useErrors(asked), byCode: useErrors({ ...asked, group_by: 'error_code' }) },
    byProvider: useErrors({ ...asked, interval: 'all', group_by: 'provider' }),
  };
}

/** Quiet is a finding too: nobody has to look through the charts for it. */
function calmSentence(buckets: readonly ErrorBucket[]): string {
  const requests = buckets.reduce((sum, bucket) => sum + bucket.requests, 0);
  const when = `in the last ${WATCHED_MS / MINUTE_MS} minutes`;
  return requests === 0 ? `No requests ${when}.` : `No failures ${when}: ${countOf(requests, 'request')}.`;
}

/** Failures of the last minutes in a sentence, with links to them. */
export function ImpactBanner({ page }: { readonly page: Page }) {
  const { nowMs, toMs, all, byCode, byProvider } = useLatestErrors(page);
  const buckets = all.data && byCode.data && { all: all.data.buckets, byCode: byCode.data.buckets, nowMs };
  const impact = buckets && prepareImpact(buckets);
  if (impact === undefined) return null;
  if (impact === null) return <p className="text-muted">{calmSentence(all.data?.buckets ?? [])}</p>;
  const { share, sinceMs, endMs } = impact;
  const range = { from: new Date(sinceMs).toISOString(), to: new Date(endMs ?? toMs).toISOString() };
  return (
    <div
      role="status"
      className={`flex gap-2 rounded-md px-3 py-2 ${endMs === null ? 'bg-bad-soft text-bad' : 'bg-warn-soft text-warn'}`}
    >
      <Warning className="mt-0.5 shrink-0" />
      <span className="min-w-0 wrap-anywhere">
        <strong className="font-semibold">
          {formatShare(share)} of requests {endMs === null ? 'fail' : 'failed'}
        </strong>{' '}
        {endMs === null && 'since '}
        {formatClock(sinceMs, page.timeZone)}
        {endMs !== null && `–${formatClock(endMs, page.timeZone)}`}
        {page.timeZone === 'utc' ? ' UTC' : ''}:{' '}
        {impact.codes.slice(0, MAX_CODES).map(({ code, failed }, at) => (
          <span key={code}>
            {at > 0 && ', '}
            <Link
              to="/requests"
              search={(kept) => ({ ...kept, ...range, outcome: 'error', error_code: code })}
              className="touch-line underline"
            >
              {code} ({formatCount(failed)})
            </Link>
          </span>
        ))}
        {impact.codes.length > MAX_CODES && ` and ${impact.codes.length - MAX_CODES} more`}
        {failingProviders(byProvider.data?.buckets ?? []).map(({ provider, failed }, at) => (
          <span key={provider}>
            {at === 0 ? ', at ' : ', '}
            <Link
              to="/requests"
              search={(kept) => ({ ...kept, ...range, outcome: 'error', provider })}
              className="touch-line underline"
            >
              {provider} ({formatCount(failed)})
            </Link>
          </span>
        ))}
      </span>
    </div>
  );
}
