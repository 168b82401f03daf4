import { asInterval } from '../../api/stats';
import { type ToolBucket, useToolStats } from '../../api/tools';
import { ChartCard } from '../../charts/chart-card';
import { type ChartData, prepareSeries } from '../../charts/prepare-series';
import { apartColorOf } from '../../charts/series-colors';
import { SeriesName } from '../../charts/series-name';
import { bucketStarts } from '../../range/time-range';
import { useChoice } from '../../range/use-choice';
import { type Page, usePage } from '../../range/use-page';
import { Segmented } from '../../ui/segmented';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';

const GROUPS = { server: 'Server', tool: 'Tool', project: 'Project', key: 'Key' } as const;
const NAMES = ['server', 'tool', 'project', 'key'] as const;

/** Calls and cost over time, and by server, tool, project or key. */
export function UseCharts() {
  const page = usePage();
  const [by, choose] = useChoice('by', [...NAMES]);
  const grouped = { ...page.query, group_by: by };
  const overTime = useToolStats({ ...grouped, interval: asInterval(page.range.intervalMs), top: '10' });
  const all = useToolStats({ ...grouped, interval: 'all', top: '100' });
  const shared = {
    page,
    query: overTime,
    kind: 'stacked' as const,
    legendRows: 1 as const,
    emptyText: 'No calls in this range.',
  };
  const prepare = prepareBy(page, overTime.data?.buckets);
  return (
    <div className="grid gap-4">
      <Segmented label="Group by" options={GROUPS} value={by} onChange={choose} />
      <div className="grid gap-4 xl:grid-cols-2">
        <ChartCard {...shared} title="Calls" unit="count" data={prepare(({ calls }) => calls)} />
        <ChartCard {...shared} title="Cost of calls" unit="usd" data={prepare(({ cost_usd: cost }) => cost)} />
      </div>
      <TableCard
        title={`By ${GROUPS[by].toLowerCase()}`}
        caption="Calls by group"
        query={all}
        columns={COLUMNS}
        rows={all.data?.buckets}
        rowKey={(row) => row.group ?? ''}
        sortBy="Calls"
        csvName={`tool-calls-by-${by}`}
        emptyTitle="No calls in this range"
      />
    </div>
  );
}

const prepareBy =
  ({ range }: Page, buckets: readonly ToolBucket[] | undefined) =>
  (value: (bucket: ToolBucket) => number): ChartData | undefined =>
    buckets && prepareSeries({ times: bucketStarts(range), buckets, value, empty: 0, colorOf: apartColorOf });

const COLUMNS: readonly Column<ToolBucket>[] = [
  {
    header: 'Name',
    narrow: true,
    value: (row) => row.group,
    cell: (row) => <SeriesName wraps name={row.group ?? ''} color={apartColorOf(row.group ?? '')} />,
  },
  { header: 'Calls', unit: 'count', value: (row) => row.calls },
  { header: 'Failed', unit: 'share', value: (row) => row.error_rate },
  { header: 'p50', unit: 'percentile', wideOnly: true, value: (row) => row.latency_ms.p50 },
  { header: 'p95', unit: 'percentile', value: (row) => row.latency_ms.p95 },
  { header: 'Cost', unit: 'usd', value: (row) => row.cost_usd },
];
