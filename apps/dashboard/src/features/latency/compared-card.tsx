import { useKeyNames } from '../../api/projects';
import { answersOf, type LatencyBucket, type Metric, type StatsQuery, useLatency, useSpeeds } from '../../api/stats';
import { SeriesName } from '../../charts/series-name';
import { useChoice } from '../../range/use-choice';
import { requestsLink } from '../../range/use-show-requests';
import { Segmented } from '../../ui/segmented';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { filterOf } from '../spend/prepare-spend';

const GROUPS = { model: 'By model', provider: 'By provider', key: 'By key' } as const;
type Group = keyof typeof GROUPS;

interface Props {
  readonly query: StatsQuery;
  readonly metric: Metric;
}

/** Latency by model, provider or key. */
export function ComparedCard({ query, metric }: Props) {
  const [groupBy, setGroupBy] = useChoice<Group>('compared', ['model', 'provider', 'key']);
  // All durations of all keys over months would be millions of counts: of keys only the one that is shown.
  const grouped = useLatency(
    { ...query, ...answersOf(metric), interval: 'all', group_by: groupBy, top: '100' },
    groupBy === 'key' ? metric : undefined,
  );
  const keyName = useKeyNames(groupBy === 'key' ? (grouped.data?.buckets ?? []).map(({ group }) => group ?? '') : []);
  const found = useSpeeds(query);
  const speeds = new Map(found.data?.data.map((row) => [row.model, row.tokens_per_second]));
  return (
    <TableCard
      title="Comparison"
      actions={<Segmented label="Group by" options={GROUPS} value={groupBy} onChange={setGroupBy} />}
      caption={`Latency by ${groupBy}`}
      query={grouped}
      columns={columnsOf({ groupBy, metric, speeds, keyName })}
      rows={grouped.data?.buckets}
      rowKey={(row) => row.group ?? ''}
      sortBy={countedBy(metric)}
      note={
        metric === 'overhead' ? undefined : 'Counts answers of providers: all requests without cache hits and failures.'
      }
      csvName={`latency-by-${groupBy}`}
      emptyTitle="Nothing to compare"
      emptyHint="Choose a longer range, or send a request."
      linkOf={(row) =>
        requestsLink({
          ...filterOf(groupBy, row.group ?? ''),
          ...answersOf(metric),
        })
      }
    />
  );
}

/** What `answersOf` leaves. */
const countedBy = (metric: Metric) => (metric === 'overhead' ? 'Requests' : 'Answers');

interface ColumnOptions {
  readonly groupBy: Group;
  readonly metric: Metric;
  readonly speeds: ReadonlyMap<string, number>;
  readonly keyName: (id: string) => string;
}

function columnsOf({ groupBy, metric, speeds, keyName }: ColumnOptions): Column<LatencyBucket>[] {
  const speed: Column<LatencyBucket> = {
    ...{ header: 'Tokens/s', unit: 'perSecond', wideOnly: true },
    value: (row) => speeds.get(row.group ?? '') ?? null,
  };
  return [
    {
      header: groupBy[0]?.toUpperCase() + groupBy.slice(1),
      value: (row) => keyName(row.group ?? ''),
      cell: (row) => <SeriesName wraps name={row.group ?? ''} label={keyName(row.group ?? '')} />,
    },
    { header: countedBy(metric), unit: 'count', wideOnly: true, value: (row) => row.requests },
    ...(['p50', 'p95', 'p99'] as const).map(
      (name): Column<LatencyBucket> => ({
        header: name,
        unit: 'percentile',
        value: (row) => row[`${metric}_ms`][name],
      }),
    ),
    ...(groupBy === 'key' ? [] : OTHER_DURATIONS),
    ...(groupBy === 'model' ? [speed] : []),
  ];
}

const OTHER_DURATIONS: readonly Column<LatencyBucket>[] = [
  { header: 'First token p95', unit: 'percentile', wideOnly: true, value: (row) => row.ttft_ms.p95 },
  { header: 'Overhead p95', unit: 'percentile', wideOnly: true, value: (row) => row.overhead_ms.p95 },
];
