import { lazy, Suspense, useRef, useState } from 'react';
import { useLogs } from '../../api/logs';
import { useUnpriced } from '../../api/models';
import { useProjectNames } from '../../api/projects';
import { useSession } from '../../api/session';
import {
  answersOf,
  asInterval,
  type SpendBucket,
  useLatency,
  useOverview,
  usePrevious,
  useSpend,
} from '../../api/stats';
import { ChartCard } from '../../charts/chart-card';
import { prepareLines } from '../../charts/prepare-series';
import { MEANING } from '../../charts/series-colors';
import { SAVED } from '../../format/saved-labels';
import { bucketStarts, previousRange, rangeQuery } from '../../range/time-range';
import { useChoice } from '../../range/use-choice';
import { type Page, usePage } from '../../range/use-page';
import { Failure } from '../../ui/error-state';
import { Segmented } from '../../ui/segmented';
import { StatGrid } from '../../ui/stat-card';
import { prepareLatency, slowestBy } from '../latency/prepare-latency';
import { RetirementsBanner, useRetirements } from '../models/retirements-banner';
import { UnpricedBanner } from '../models/unpriced-banner';
import { ImpactBanner } from '../shell/impact-banner';
import { loadPage } from '../shell/load-page';
import { PageFrame } from '../shell/page-frame';
import { useSeenPlace } from '../shell/page-place';
import { TroubleBanner, useBannersKnown } from '../shell/trouble';
import { colorsOf, describeNoSpend, filterOf, prepareSpend } from '../spend/prepare-spend';
import { ServersBanner } from '../tools/servers-banner';
import { UrgentBanners } from './caps-banner';
import { CapsCard } from './caps-card';
import { ErrorsCard } from './errors-card';
import { HealthCharts } from './health-charts';
import { LiveCard } from './live-card';
import { prepareStats, withLatency } from './prepare-overview';
import { ProviderHealthCard } from './provider-health-card';
import { RouteMapCard } from './route-map-card';

/** Shown once in the life of a gateway. */
const loadOnboarding = async () => {
  const { Onboarding } = await loadPage(() => import('./onboarding'));
  return { default: Onboarding };
};

const GROUPS = { model: 'Model', provider: 'Provider', project: 'Project' } as const;

export function OverviewPage() {
  const page = usePage();
  const { query } = page;
  const isKnown = useBannersKnown(page, [...useRetirements(page).queries, useUnpriced()]);
  const everSeen = useLogs({}, false);
  const [Onboarding] = useState(() => lazy(loadOnboarding));
  const [isWelcomed, setIsWelcomed] = useState(false);
  const seesAll = useSession().data?.is_everywhere === true;
  // A new gateway is for its admins to set up; people find their team empty.
  const isEmpty = seesAll && everSeen.data?.rows.length === 0;
  // The first request does not end it: the key that is shown once and the answer are still to be read.
  const wasEmpty = useRef(false);
  wasEmpty.current ||= isEmpty;
  // Goes on after the welcome, even before the list reloads.
  if (wasEmpty.current && !isWelcomed) {
    return (
      <PageFrame title="Welcome">
        <Suspense fallback={<div className="h-60 rounded-lg border bg-panel" aria-busy="true" />}>
          <Onboarding onDone={() => setIsWelcomed(true)} />
        </Suspense>
      </PageFrame>
    );
  }
  return (
    <PageFrame title="Overview" page={page} hasCharts isHeld={!isKnown}>
      <ImpactBanner page={page} />
      <TroubleBanner page={page} />
      <UrgentBanners page={page} />
      <ServersBanner />
      <RetirementsBanner page={page} />
      <UnpricedBanner />
      <Totals page={page} />
      {seesAll && <LiveCard page={page} />}
      <div className="grid gap-4 xl:grid-cols-2">
        <HealthCharts page={page} />
      </div>
      <ProviderHealthCard page={page} />
      <RouteMapCard query={query} />
      <div className="grid gap-4 xl:grid-cols-2">
        <SpendChart page={page} />
        <LatencyChart page={page} />
        <SavingsChart page={page} />
        <CapsCard projectId={page.projectId} />
      </div>
      <ErrorsCard query={query} />
    </PageFrame>
  );
}

interface ChartProps {
  readonly page: Page;
}

function Totals({ page: { query, range } }: ChartProps) {
  const now = useOverview(query);
  const earlier = { ...query, ...rangeQuery(previousRange(range)) };
  const before = usePrevious(query, range);
  const slow = useLatency({ ...query, ...answersOf('latency'), interval: 'all' });
  const slowBefore = useLatency({ ...earlier, ...answersOf('latency'), interval: 'all' });
  const seen = useSeenPlace();
  const stats = prepareStats(withLatency(now.data, slow), withLatency(before.data, slowBefore));
  return (
    <>
      <Failure of={now} />
      <StatGrid
        isCompared
        isComparing={!before.isKnown || (slowBefore.data === undefined && slowBefore.error === null)}
        hasDetails
        stats={stats.map(({ to, ...stat }) => ({ ...stat, to: seen(to) }))}
        isLoading={now.data === undefined && now.error === null}
      />
    </>
  );
}

function SpendChart({ page }: ChartProps) {
  const [groupBy, setGroupBy] = useChoice<keyof typeof GROUPS>('by', ['model', 'provider', 'project']);
  const spend = useSpend({ ...page.query, interval: asInterval(page.range.intervalMs), group_by: groupBy, top: '7' });
  const { range, query, isShown } = page.earlier;
  const before = useSpend({ ...query, interval: asInterval(range.intervalMs), group_by: groupBy, top: '7' }, isShown);
  const projectName = useProjectNames();
  const labelOf = groupBy === 'project' ? projectName : undefined;
  return (
    <ChartCard
      title="Spend"
      legendRows={2}
      controls={<Segmented label="Group by" options={GROUPS} value={groupBy} onChange={setGroupBy} />}
      data={prepareSpend(spend.data?.buckets, { times: bucketStarts(page.range), labelOf, colorOf: colorsOf(groupBy) })}
      previous={prepareSpend(isShown ? before.data?.buckets : undefined, {
        times: bucketStarts(range),
        colorOf: colorsOf(groupBy),
      })}
      kind="stacked"
      unit="usd"
      emptyText={describeNoSpend(spend.data?.buckets)}
      {...{ page, query: spend }}
      opens="the dearest requests"
      requestsOf={(name) => ({ ...filterOf(groupBy, name ?? ''), sort: '-cost_usd' })}
    />
  );
}

function LatencyChart({ page }: ChartProps) {
  const latency = useLatency(
    { ...page.query, ...answersOf('latency'), interval: asInterval(page.range.intervalMs) },
    'latency',
  );
  const { range, query, isShown } = page.earlier;
  const before = useLatency(
    { ...query, ...answersOf('latency'), interval: asInterval(range.intervalMs) },
    'latency',
    isShown,
  );
  const earlier = isShown ? before.data?.buckets : undefined;
  return (
    <ChartCard
      title="Latency"
      legendRows={1}
      data={latency.data && prepareLatency(bucketStarts(page.range), latency.data.buckets, 'latency')}
      previous={earlier && prepareLatency(bucketStarts(range), earlier, 'latency')}
      kind="line"
      unit="percentile"
      {...{ page, query: latency }}
      opens="the slowest requests"
      requestsOf={() => slowestBy('latency')}
    />
  );
}

const SAVINGS = {
  ...{ name: '', label: SAVED.byCache, color: MEANING.exact },
  value: (bucket: SpendBucket) => bucket.saved_usd,
};

function SavingsChart({ page }: ChartProps) {
  const { data, error } = useSpend({ ...page.query, interval: asInterval(page.range.intervalMs) });
  const { range, query, isShown } = page.earlier;
  const before = useSpend({ ...query, interval: asInterval(range.intervalMs) }, isShown);
  const earlier = isShown ? before.data?.buckets : undefined;
  const previous =
    earlier && prepareLines({ times: bucketStarts(range), buckets: earlier, lines: [SAVINGS], empty: 0 });
  const savings =
    data && prepareLines({ times: bucketStarts(page.range), buckets: data.buckets, lines: [SAVINGS], empty: 0 });
  return (
    <ChartCard
      title={SAVED.byCache}
      {...{ data: savings, previous }}
      kind="stacked"
      unit="usd"
      emptyText="Nothing was saved in this range. Repeated requests are answered from the cache at no cost."
      {...{ page, query: { error } }}
      height={290}
      opens="the requests that the cache answered"
      requestsOf={() => ({ cache: ['exact', 'semantic'] })}
    />
  );
}
