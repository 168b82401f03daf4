import { asInterval, useErrors } from '../../api/stats';
import { ChartCard } from '../../charts/chart-card';
import { bucketStarts } from '../../range/time-range';
import type { Page } from '../../range/use-page';
import { prepareErrorRate, prepareStatuses } from './prepare-health';

/** Health: requests by outcome, and the share of failures. */
export function HealthCharts({ page }: { readonly page: Page }) {
  const errors = useErrors({ ...page.query, interval: asInterval(page.range.intervalMs) });
  const { range, query, isShown } = page.earlier;
  const before = useErrors({ ...query, interval: asInterval(range.intervalMs) }, isShown);
  const earlier = isShown ? before.data?.buckets : undefined;
  const times = bucketStarts(page.range);
  return (
    <>
      <ChartCard
        title="Requests by status"
        data={errors.data && prepareStatuses(times, errors.data.buckets)}
        previous={earlier && prepareStatuses(bucketStarts(range), earlier)}
        kind="stacked"
        legendRows={1}
        unit="count"
        height={160}
        {...{ page, query: errors }}
        requestsOf={(outcome) => ({ outcome: outcome ?? undefined })}
      />
      <ChartCard
        title="Error rate"
        data={errors.data && prepareErrorRate(times, errors.data.buckets)}
        previous={earlier && prepareErrorRate(bucketStarts(range), earlier)}
        kind="line"
        legendRows="note"
        unit="share"
        height={160}
        {...{ page, query: errors }}
        emptyText="No failed requests in this range."
        opens="the failed requests"
        requestsOf={() => ({ outcome: 'error' })}
      />
    </>
  );
}
