import { asInterval, type StatsQuery, useErrors } from '../../api/stats';
import { ChartCard } from '../../charts/chart-card';
import { bucketStarts } from '../../range/time-range';
import type { Page } from '../../range/use-page';
import { prepareErrorRate, prepareStatuses, requestsOfHealth, withCallerErrors } from './prepare-health';

/** Health: requests by outcome, and the share of failures. */
export function HealthCharts({ page }: { readonly page: Page }) {
  const errors = useHealth(page.query, page.range.intervalMs);
  const { range, query, isShown } = page.earlier;
  const before = useHealth(query, range.intervalMs, isShown);
  const earlier = isShown ? before.data : undefined;
  const times = bucketStarts(page.range);
  return (
    <>
      <ChartCard
        title="Requests by status"
        data={errors.data && prepareStatuses(times, errors.data)}
        previous={earlier && prepareStatuses(bucketStarts(range), earlier)}
        kind="stacked"
        unit="count"
        height={160}
        {...{ page, query: errors }}
        requestsOf={requestsOfHealth}
      />
      <ChartCard
        title="Error rate"
        data={errors.data && prepareErrorRate(times, errors.data)}
        previous={earlier && prepareErrorRate(bucketStarts(range), earlier)}
        kind="line"
        unit="share"
        height={160}
        {...{ page, query: errors }}
        emptyText="No failed requests in this range."
        requestsOf={() => requestsOfHealth('error')}
      />
    </>
  );
}

/** Outcomes over time; caller errors are told by their codes. */
function useHealth(query: StatsQuery, intervalMs: number, isOn = true) {
  const asked = { ...query, interval: asInterval(intervalMs) };
  const all = useErrors(asked, isOn);
  const byCode = useErrors({ ...asked, group_by: 'error_code' }, isOn);
  const data = all.data && byCode.data && withCallerErrors(all.data.buckets, byCode.data.buckets);
  return { data, error: all.error ?? byCode.error, refetch: () => Promise.all([all.refetch(), byCode.refetch()]) };
}
