import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { useLogSample } from '../../api/logs';
import { useKeyNames } from '../../api/projects';
import { asInterval, type LatencyBucket, type Metric, useHistogram, useLatency } from '../../api/stats';
import { ChartCard } from '../../charts/chart-card';
import { Histogram } from '../../charts/histogram';
import { SeriesName } from '../../charts/series-name';
import { formatCount, formatMs, formatMsShort } from '../../format/format-number';
import { bucketStarts, rangeQuery } from '../../range/time-range';
import { usePage } from '../../range/use-page';
import { Card } from '../../ui/card';
import { type Column, DataTable } from '../../ui/data-table';
import { EmptyState } from '../../ui/empty-state';
import { ErrorState } from '../../ui/error-state';
import { Segmented } from '../../ui/segmented';
import { PageFrame } from '../shell/page-frame';
import { METRIC_LABELS, prepareLatency, prepareSpeeds } from './prepare-latency';

const METRICS = (Object.keys(METRIC_LABELS) as Metric[]).map((value) => ({ value, label: METRIC_LABELS[value] }));
const GROUPS = [
  { value: 'model', label: 'By model' },
  { value: 'provider', label: 'By provider' },
  { value: 'key', label: 'By key' },
] as const;
type Group = (typeof GROUPS)[number]['value'];

export function LatencyPage() {
  const page = usePage();
  const navigate = useNavigate();
  const [metric, setMetric] = useState<Metric>('latency');
  const [groupBy, setGroupBy] = useState<Group>('model');
  const { query, range, timeZone } = page;
  const overTime = useLatency({ ...query, interval: asInterval(range.intervalMs) }, metric);
  // All durations of all keys over months would be millions of counts: of keys only the one that is shown.
  const grouped = useLatency(
    { ...query, interval: 'all', group_by: groupBy, top: '100' },
    groupBy === 'key' ? metric : undefined,
  );
  const keyName = useKeyNames(groupBy === 'key' ? (grouped.data?.buckets ?? []).map(({ group }) => group ?? '') : []);
  const histogram = useHistogram(query, metric);
  const sample = useLogSample({ ...query, status: 'success', cache: 'miss' });
  const speeds = useMemo(() => prepareSpeeds(sample.data?.data ?? []), [sample.data]);
  const columns = useMemo(() => columnsOf({ groupBy, metric, speeds, keyName }), [groupBy, metric, speeds, keyName]);
  return (
    <PageFrame title="Latency" page={page}>
      <ChartCard
        title="Percentiles"
        controls={<Segmented label="Duration" options={METRICS} value={metric} onChange={setMetric} />}
        data={overTime.data && prepareLatency(bucketStarts(range), overTime.data.buckets, metric)}
        kind="line"
        format={formatMs}
        formatAxis={formatMsShort}
        height={240}
        {...{ timeZone, intervalMs: range.intervalMs, error: overTime.error }}
        onRetry={() => void overTime.refetch()}
        onSelect={(start) =>
          void navigate({
            to: '/requests',
            search: (kept) => ({
              ...kept,
              range: undefined,
              ...rangeQuery({ fromMs: start, toMs: start + range.intervalMs }),
            }),
          })
        }
      />
      <Card title={`How ${METRIC_LABELS[metric].toLowerCase()} time is spread`}>
        {histogram.error ? (
          <ErrorState error={histogram.error} onRetry={() => void histogram.refetch()} />
        ) : (
          <Histogram
            bins={histogram.data?.bins}
            onSelect={(fromMs) =>
              void navigate({
                to: '/requests',
                search: (kept) => ({ ...kept, min_latency: String(Math.floor(fromMs)) }),
              })
            }
          />
        )}
      </Card>
      <Card
        title="Compared"
        flush
        actions={<Segmented label="Group by" options={GROUPS} value={groupBy} onChange={setGroupBy} />}
      >
        {grouped.error && <ErrorState error={grouped.error} onRetry={() => void grouped.refetch()} />}
        <DataTable
          caption={`Latency by ${groupBy}`}
          columns={columns}
          rows={grouped.data?.buckets}
          rowKey={(row) => row.group ?? ''}
          sortBy={{ id: 'requests', desc: true }}
          csvName={`latency-by-${groupBy}`}
          empty={<EmptyState title="Nothing to compare">Take a longer range, or send a request.</EmptyState>}
          onRow={(row) =>
            void navigate({
              to: '/requests',
              search: (kept) => ({ ...kept, [groupBy === 'key' ? 'api_key_id' : groupBy]: row.group ?? undefined }),
            })
          }
        />
      </Card>
    </PageFrame>
  );
}

interface ColumnOptions {
  readonly groupBy: Group;
  readonly metric: Metric;
  readonly speeds: ReturnType<typeof prepareSpeeds>;
  readonly keyName: (id: string) => string;
}

function columnsOf({ groupBy, metric, speeds, keyName }: ColumnOptions): Column<LatencyBucket>[] {
  const percentile = (name: 'p50' | 'p95' | 'p99'): Column<LatencyBucket> => ({
    id: name,
    header: name,
    align: 'right',
    value: (row) => row[`${metric}_ms`][name],
    cell: (row) => formatMs(row[`${metric}_ms`][name]),
  });
  const speed: Column<LatencyBucket> = {
    id: 'speed',
    header: 'Tokens/s',
    align: 'right',
    wideOnly: true,
    value: (row) => speeds.get(row.group ?? '')?.tokensPerSecond ?? null,
    cell: (row) => speeds.get(row.group ?? '')?.tokensPerSecond.toFixed(0) ?? '–',
  };
  return [
    {
      id: 'name',
      header: groupBy[0]?.toUpperCase() + groupBy.slice(1),
      value: (row) => keyName(row.group ?? ''),
      cell: (row) => <SeriesName name={row.group ?? ''} label={keyName(row.group ?? '')} />,
    },
    {
      id: 'requests',
      header: 'Requests',
      align: 'right',
      wideOnly: true,
      value: (row) => row.requests,
      cell: (row) => formatCount(row.requests),
    },
    ...(['p50', 'p95', 'p99'] as const).map(percentile),
    ...(groupBy === 'key' ? [] : OTHER_DURATIONS),
    ...(groupBy === 'model' ? [speed] : []),
  ];
}

const OTHER_DURATIONS: readonly Column<LatencyBucket>[] = [
  {
    id: 'ttft',
    header: 'First token p95',
    align: 'right',
    wideOnly: true,
    value: (row) => row.ttft_ms.p95,
    cell: (row) => formatMs(row.ttft_ms.p95),
  },
  {
    id: 'overhead',
    header: 'Overhead p95',
    align: 'right',
    wideOnly: true,
    value: (row) => row.overhead_ms.p95,
    cell: (row) => formatMs(row.overhead_ms.p95),
  },
];
