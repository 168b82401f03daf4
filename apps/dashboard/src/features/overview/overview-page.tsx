import { useState } from 'react';
import { useLogs } from '../../api/logs';
import { useProjectNames } from '../../api/projects';
import { asInterval, type SpendBucket, useLatency, useOverview, useSpend } from '../../api/stats';
import { ChartCard } from '../../charts/chart-card';
import { prepareLines } from '../../charts/prepare-series';
import { MEANING } from '../../charts/series-colors';
import { bucketStarts, previousRange, rangeQuery } from '../../range/time-range';
import { type Page, usePage } from '../../range/use-page';
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

function SpendChart({ page }: ChartProps) {
  const [groupBy, setGroupBy] = useState<keyof typeof GROUPS>('model');
  const spend = useSpend({ ...page.query, interval: asInterval(page.range.intervalMs), group_by: groupBy, top: '10' });
  const projectName = useProjectNames();
  const labelOf = groupBy === 'project' ? projectName : undefined;
  return (
    <ChartCard
      title="Spend"
      controls={<Segmented label="Group by" options={GROUPS} value={groupBy} onChange={setGroupBy} />}
      data={prepareSpend(spend.data?.buckets, { times: bucketStarts(page.range), labelOf })}
      kind="stacked"
      unit="usd"
      {...{ page, query: spend }}
      requestsOf={(name) => filterOf(groupBy, name ?? '')}
    />
  );
}

function LatencyChart({ page }: ChartProps) {
  const latency = useLatency({ ...page.query, interval: asInterval(page.range.intervalMs) }, 'latency');
  return (
    <ChartCard
      title="Latency"
      data={latency.data && prepareLatency(bucketStarts(page.range), latency.data.buckets, 'latency')}
      kind="line"
      unit="ms"
      {...{ page, query: latency }}
      requestsOf={() => ({})}
    />
  );
}

const SAVED = { name: '', label: 'Saved', color: MEANING.exact, value: (bucket: SpendBucket) => bucket.saved_usd };

function SavingsChart({ page }: ChartProps) {
  const { data, error } = useSpend({ ...page.query, interval: asInterval(page.range.intervalMs) });
  const savings =
    data && prepareLines({ times: bucketStarts(page.range), buckets: data.buckets, lines: [SAVED], empty: 0 });
  return (
    <ChartCard
      title="Saved by the cache"
      data={savings}
      kind="stacked"
      unit="usd"
      emptyText="Nothing was saved in this range. Repeated requests are answered from the cache for nothing."
      {...{ page, query: { error } }}
      height={160}
    />
  );
}
