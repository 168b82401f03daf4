import { useMemo } from 'react';
import { answersOf, asInterval, type Metric, useHistogram, useLatency } from '../../api/stats';
import { ChartCard } from '../../charts/chart-card';
import { Distribution } from '../../charts/durations/distribution';
import { describeBounds, prepareDistribution } from '../../charts/durations/prepare-distribution';
import { requestsBetween } from '../../charts/durations/prepare-heat-map';
import { formatCount } from '../../format/format-number';
import { bucketStarts } from '../../range/time-range';
import { useChoice } from '../../range/use-choice';
import { usePage } from '../../range/use-page';
import { useShowRequests } from '../../range/use-show-requests';
import { Card } from '../../ui/card';
import { Failure } from '../../ui/error-state';
import { Segmented } from '../../ui/segmented';
import { FiguresTable } from '../../ui/table/figures-table';
import { PageFrame } from '../shell/page-frame';
import { ComparedCard } from './compared-card';
import { HeatMapCard } from './heat-map-card';
import { METRIC_LABELS, METRICS, prepareLatency, slowestBy } from './prepare-latency';

export function LatencyPage() {
  const page = usePage();
  const [metric, setMetric] = useChoice('metric', METRICS);
  const { query, range } = page;
  const served = answersOf(metric);
  const overTime = useLatency({ ...query, ...served, interval: asInterval(range.intervalMs) }, metric);
  const { earlier } = page;
  const beforeQuery = { ...earlier.query, ...served, interval: asInterval(range.intervalMs) };
  const before = useLatency(beforeQuery, metric, earlier.isShown);
  const previous = earlier.isShown ? before.data?.buckets : undefined;
  const histogram = useHistogram({ ...query, interval: asInterval(range.intervalMs) }, metric);
  return (
    <PageFrame title="Latency" page={page} hasCharts>
      <div>
        <Segmented label="Duration" options={METRIC_LABELS} value={metric} onChange={setMetric} />
      </div>
      <HeatMapCard {...{ page, metric, histogram }} buckets={overTime.data?.buckets} />
      <div className="grid gap-4 xl:grid-cols-2">
        <DistributionCard {...{ metric, histogram }} />
        <ChartCard
          title="Percentiles"
          legendRows={1}
          data={overTime.data && prepareLatency(bucketStarts(range), overTime.data.buckets, metric)}
          previous={previous && prepareLatency(bucketStarts(earlier.range), previous, metric)}
          kind="line"
          unit="percentile"
          height={200}
          {...{ page, query: overTime }}
          opens="the slowest requests"
          requestsOf={() => slowestBy(metric)}
        />
      </div>
      <ComparedCard query={query} metric={metric} />
    </PageFrame>
  );
}

interface DistributionProps {
  readonly metric: Metric;
  readonly histogram: ReturnType<typeof useHistogram>;
}

/** Height of the chart with its axis and legend: nothing moves when it arrives. */
const RESERVED = 'min-h-56';

function DistributionCard({ metric, histogram }: DistributionProps) {
  const showRequests = useShowRequests();
  const title = `${METRIC_LABELS[metric]} time distribution`;
  const { data } = histogram;
  const distribution = useMemo(() => data && prepareDistribution(data.bins), [data]);
  return (
    <Card title={title}>
      <div className={RESERVED}>
        <Failure of={histogram} />
        {distribution === undefined && histogram.error === null && (
          <div className={`rounded bg-hover/60 ${RESERVED}`} aria-busy="true" />
        )}
        {distribution?.requests === 0 && (
          <p className={`flex items-center justify-center text-center text-muted ${RESERVED}`}>
            Nothing was measured in this range.
          </p>
        )}
        {distribution !== undefined && distribution.requests > 0 && (
          <Distribution
            label={title}
            distribution={distribution}
            onSelect={(bin) => showRequests(requestsBetween(bin, metric))}
          />
        )}
      </div>
      {distribution !== undefined && distribution.requests > 0 && (
        <FiguresTable
          caption="Distribution in figures"
          heads={['Duration', 'Requests', 'Cache hits']}
          rows={distribution.bins
            .filter(({ requests }) => requests > 0)
            .map((bin) => ({
              key: String(bin.fromMs),
              cells: [describeBounds(bin), formatCount(bin.requests), formatCount(bin.hits)],
            }))}
        />
      )}
    </Card>
  );
}
