import { Link } from '@tanstack/react-router';
import { asInterval, useErrors } from '../../api/stats';
import { formatCount, formatShare } from '../../format/format-number';
import { formatClock } from '../../format/format-time';
import { rangeQuery, untilNow } from '../../range/time-range';
import { type Page, useNow } from '../../range/use-page';
import { Warning } from '../../ui/icons';
import { prepareImpact } from './prepare-impact';

const MINUTE_MS = 60_000;
const WATCHED_MS = 15 * MINUTE_MS;
const MAX_CODES = 4;

/** Errors of the last minutes, and those of each code. */
export function useLatestErrors({ projectId }: Page) {
  const toMs = untilNow(useNow(MINUTE_MS / 2));
  const ofProject = projectId === undefined ? {} : { project_id: projectId };
  const asked = {
    ...{ ...rangeQuery({ fromMs: toMs - WATCHED_MS, toMs }), ...ofProject },
    interval: asInterval(MINUTE_MS),
  };
  return { toMs, all: useErrors(asked), byCode: useErrors({ ...asked, group_by: 'error_code' }) };
}

/** Failures of the last minutes in a sentence, with links to them; nothing without one. */
export function ImpactBanner({ page }: { readonly page: Page }) {
  const { toMs, all, byCode } = useLatestErrors(page);
  const impact = all.data && byCode.data && prepareImpact({ all: all.data.buckets, byCode: byCode.data.buckets });
  if (impact === null || impact === undefined) return null;
  const range = { from: new Date(impact.sinceMs).toISOString(), to: new Date(toMs).toISOString() };
  return (
    <div role="status" className="flex gap-2 rounded-md bg-bad-soft px-3 py-2 text-bad">
      <Warning className="mt-0.5 shrink-0" />
      <span className="min-w-0 wrap-anywhere">
        <strong className="font-semibold">{formatShare(impact.share)} of requests fail</strong> since{' '}
        {formatClock(impact.sinceMs, page.timeZone)}
        {page.timeZone === 'utc' ? ' UTC' : ''}:{' '}
        {impact.codes.slice(0, MAX_CODES).map(({ code, failed }, at) => (
          <span key={code}>
            {at > 0 && ', '}
            <Link
              to="/requests"
              search={(kept) => ({ ...kept, ...range, status: 'error', error_code: code })}
              className="underline"
            >
              {code} ({formatCount(failed)})
            </Link>
          </span>
        ))}
        {impact.codes.length > MAX_CODES && ` and ${impact.codes.length - MAX_CODES} more`}
      </span>
    </div>
  );
}
