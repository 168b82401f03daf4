import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useLogs } from '../../api/logs';
import { useProjectNames } from '../../api/projects';
import { asInterval, useLatency, useOverview, useSpend } from '../../api/stats';
import { ChartCard } from '../../charts/chart-card';
import { prepareSeries } from '../../charts/prepare-series';
import { colorBook, MEANING } from '../../charts/series-colors';
import { formatMs, formatMsShort } from '../../format/format-number';
import { formatUsd, formatUsdShort } from '../../format/format-usd';
import { bucketStarts, previousRange, rangeQuery } from '../../range/time-range';
import { usePage } from '../../range/use-page';
import { ErrorState } from '../../ui/error-state';
import { Segmented } from '../../ui/segmented';
import { StatGrid } from '../../ui/stat-card';
import { prepareLatency } from '../latency/prepare-latency';
import { UnpricedBanner } from '../models/unpriced-banner';
import { PageFrame } from '../shell/page-frame';
import { BudgetsCard } from './budgets-card';
import { ErrorsCard } from './errors-card';
import { Onboarding } from './onboarding';
import { prepareStats } from './prepare-overview';

const GROUPS = [
  { value: 'model', label: 'Model' },
  { value: 'provider', label: 'Provider' },
  { value: 'project', label: 'Project' },
] as const;

export function OverviewPage() {
  const page = usePage();
  const navigate = useNavigate();
  const [groupBy, setGroupBy] = useState<(typeof GROUPS)[number]['value']>('model');
  const { query, range, timeZone } = page;
  const now = useOverview(query);
  const before = useOverview({ ...query, ...rangeQuery(previousRange(range)) });
  const interval = asInterval(range.intervalMs);
  const spend = useSpend({ ...query, interval, group_by: groupBy, top: '10' });
  const latency = useLatency({ ...query, interval }, 'latency');
  const savings = useSpend({ ...query, interval });
  const everSeen = useLogs({}, false);
  const projectName = useProjectNames();
  const times = bucketStarts(range);
  const isEmpty = everSeen.data?.pages[0]?.data.length === 0;

  const showRequests = (startMs: number, filter: Record<string, string>) =>
    void navigate({
      to: '/requests',
      search: (kept) => ({
        ...kept,
        range: undefined,
        ...rangeQuery({ fromMs: startMs, toMs: startMs + range.intervalMs }),
        ...filter,
      }),
    });

  if (isEmpty) {
    return (
      <PageFrame title="Welcome">
        <Onboarding />
      </PageFrame>
    );
  }
  return (
    <PageFrame title="Overview" page={page}>
      <UnpricedBanner />
      {now.error && <ErrorState error={now.error} onRetry={() => void now.refetch()} />}
      <StatGrid stats={prepareStats(now.data, before.data)} isLoading={now.isPending} />
      <div className="grid gap-4 xl:grid-cols-2">
        <ChartCard
          title="Spend"
          controls={<Segmented label="Group by" options={GROUPS} value={groupBy} onChange={setGroupBy} />}
          data={
            spend.data &&
            prepareSeries({
              times,
              buckets: spend.data.buckets,
              value: (bucket) => bucket.cost_usd,
              empty: 0,
              colorOf: (name) => colorBook.colorOf(name),
              labelOf: groupBy === 'project' ? projectName : undefined,
            })
          }
          kind="stacked"
          format={formatUsd}
          formatAxis={formatUsdShort}
          {...{ timeZone, intervalMs: range.intervalMs, error: spend.error }}
          onRetry={() => void spend.refetch()}
          onSelect={(start, name) =>
            showRequests(start, name === null || name === '' || name === '(other)' ? {} : { [groupBy]: name })
          }
        />
        <ChartCard
          title="Latency"
          data={latency.data && prepareLatency(times, latency.data.buckets, 'latency')}
          kind="line"
          format={formatMs}
          formatAxis={formatMsShort}
          {...{ timeZone, intervalMs: range.intervalMs, error: latency.error }}
          onRetry={() => void latency.refetch()}
          onSelect={(start) => showRequests(start, {})}
        />
        <ChartCard
          title="Saved by the cache"
          data={
            savings.data &&
            prepareSeries({
              times,
              buckets: savings.data.buckets,
              value: (bucket) => bucket.saved_usd,
              empty: 0,
              colorOf: () => MEANING.exact,
              labelOf: () => 'Saved',
            })
          }
          kind="stacked"
          format={formatUsd}
          formatAxis={formatUsdShort}
          emptyText="Nothing was saved in this range. Repeated requests are answered from the cache for nothing."
          {...{ timeZone, intervalMs: range.intervalMs, error: savings.error }}
          height={160}
        />
        <BudgetsCard projectId={page.projectId} />
      </div>
      <ErrorsCard query={query} />
    </PageFrame>
  );
}
