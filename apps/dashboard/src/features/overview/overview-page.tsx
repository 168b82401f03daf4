import { useState } from 'react';
import { useLogs } from '../../api/logs';
import { useProjectNames } from '../../api/projects';
import { asInterval, useLatency, useOverview, useSpend } from '../../api/stats';
import { ChartCard } from '../../charts/chart-card';
import { prepareSeries } from '../../charts/prepare-series';
import { MEANING } from '../../charts/series-colors';
import { bucketStarts, previousRange, rangeQuery } from '../../range/time-range';
import { type Page, usePage } from '../../range/use-page';
import { useShowRequests } from '../../range/use-show-requests';
import { Failure } from '../../ui/error-state';
import { Segmented } from '../../ui/segmented';
import { StatGrid } from '../../ui/stat-card';
import { prepareLatency } from '../latency/prepare-latency';
import { UnpricedBanner } from '../models/unpriced-banner';
import { PageFrame } from '../shell/page-frame';
import { filterOf, prepareSpend } from '../spend/prepare-spend';
import { BudgetsCard } from './budgets-card';
import { ErrorsCard } from './errors-card';
import { Onboarding } from './onboarding';
import { prepareStats } from './prepare-overview';

const GROUPS = { model: 'Model', provider: 'Provider', project: 'Project' } as const;

export function OverviewPage() {
  const page = usePage();
  const { query, range } = page;
  const now = useOverview(query);
  const before = useOverview({ ...query, ...rangeQuery(previousRange(range)) });
  const everSeen = useLogs({}, false);
  if (everSeen.data?.rows.length === 0) {
    return (
      <PageFrame title="Welcome">
        <Onboarding />
      </PageFrame>
    );
  }
  return (
    <PageFrame title="Overview" page={page}>
      <UnpricedBanner />
      <Failure of={now} />
      <StatGrid stats={prepareStats(now.data, before.data)} isLoading={now.isPending} />
      <div className="grid gap-4 xl:grid-cols-2">
        <SpendChart page={page} />
        <LatencyChart page={page} />
        <SavingsChart page={page} />
        <BudgetsCard projectId={page.projectId} />
      </div>
      <ErrorsCard query={query} />
    </PageFrame>
  );
}

interface ChartProps {
  readonly page: Page;
}

function SpendChart({ page: { query, range, timeZone } }: ChartProps) {
  const { intervalMs } = range;
  const [groupBy, setGroupBy] = useState<keyof typeof GROUPS>('model');
  const spend = useSpend({ ...query, interval: asInterval(intervalMs), group_by: groupBy, top: '10' });
  const projectName = useProjectNames();
  const showRequests = useShowRequests();
  const labelOf = groupBy === 'project' ? projectName : undefined;
  return (
    <ChartCard
      title="Spend"
      controls={<Segmented label="Group by" options={GROUPS} value={groupBy} onChange={setGroupBy} />}
      data={prepareSpend(spend.data?.buckets, { times: bucketStarts(range), labelOf })}
      kind="stacked"
      unit="usd"
      {...{ timeZone, intervalMs, query: spend }}
      onSelect={(fromMs, name) => showRequests(filterOf(groupBy, name ?? ''), { fromMs, toMs: fromMs + intervalMs })}
    />
  );
}

function LatencyChart({ page: { query, range, timeZone } }: ChartProps) {
  const { intervalMs } = range;
  const latency = useLatency({ ...query, interval: asInterval(intervalMs) }, 'latency');
  const showRequests = useShowRequests();
  return (
    <ChartCard
      title="Latency"
      data={latency.data && prepareLatency(bucketStarts(range), latency.data.buckets, 'latency')}
      kind="line"
      unit="ms"
      {...{ timeZone, intervalMs, query: latency }}
      onSelect={(fromMs) => showRequests({}, { fromMs, toMs: fromMs + intervalMs })}
    />
  );
}

function SavingsChart({ page: { query, range, timeZone } }: ChartProps) {
  const { intervalMs } = range;
  const { data, error } = useSpend({ ...query, interval: asInterval(intervalMs) });
  const savings =
    data &&
    prepareSeries({
      times: bucketStarts(range),
      buckets: data.buckets,
      value: (bucket) => bucket.saved_usd,
      empty: 0,
      colorOf: () => MEANING.exact,
      labelOf: () => 'Saved',
    });
  return (
    <ChartCard
      title="Saved by the cache"
      data={savings}
      kind="stacked"
      unit="usd"
      emptyText="Nothing was saved in this range. Repeated requests are answered from the cache for nothing."
      {...{ timeZone, intervalMs, query: { error } }}
      height={160}
    />
  );
}
