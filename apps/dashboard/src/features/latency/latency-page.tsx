import { asInterval, useHistogram, useLatency } from '../../api/stats';
import { ChartCard } from '../../charts/chart-card';
import { Histogram } from '../../charts/histogram';
import { bucketStarts } from '../../range/time-range';
import { useChoice } from '../../range/use-choice';
import { usePage } from '../../range/use-page';
import { useShowRequests } from '../../range/use-show-requests';
import { Card } from '../../ui/card';
import { Failure } from '../../ui/error-state';
import { Segmented } from '../../ui/segmented';
import { PageFrame } from '../shell/page-frame';
import { ComparedCard } from './compared-card';
import { METRIC_LABELS, METRICS, prepareLatency, slowestBy } from './prepare-latency';

export function LatencyPage() {
  const page = usePage();
  const showRequests = useShowRequests();
  const [metric, setMetric] = useChoice('metric', METRICS);
  const { query, range } = page;
  const overTime = useLatency({ ...query, interval: asInterval(range.intervalMs) }, metric);
  const { earlier } = page;
  const before = useLatency({ ...earlier.query, interval: asInterval(range.intervalMs) }, metric, earlier.isShown);
  const previous = earlier.isShown ? before.data?.buckets : undefined;
  const histogram = useHistogram(query, metric);
  return (
    <PageFrame title="Latency" page={page} hasCharts>
      <ChartCard
        title="Percentiles"
        controls={<Segmented label="Duration" options={METRIC_LABELS} value={metric} onChange={setMetric} />}
        data={overTime.data && prepareLatency(bucketStarts(range), overTime.data.buckets, metric)}
        previous={previous && prepareLatency(bucketStarts(earlier.range), previous, metric)}
        kind="line"
        unit="ms"
        height={240}
        {...{ page, query: overTime }}
        opens="the slowest requests"
        requestsOf={() => slowestBy(metric)}
      />
      <Card title={`${METRIC_LABELS[metric]} time distribution`}>
        {histogram.error ? (
          <Failure of={histogram} />
        ) : (
          <Histogram
            bins={histogram.data?.bins}
            onSelect={(fromMs) => showRequests({ min_latency: String(Math.floor(fromMs)), ...slowestBy('latency') })}
          />
        )}
      </Card>
      <ComparedCard query={query} metric={metric} />
    </PageFrame>
  );
}
