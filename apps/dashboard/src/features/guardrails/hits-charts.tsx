import { Link } from '@tanstack/react-router';
import { type GuardrailBucket, useGuardrailStats } from '../../api/guardrails';
import { useProjectNames } from '../../api/projects';
import { asInterval } from '../../api/stats';
import { ChartCard } from '../../charts/chart-card';
import { prepareSeries } from '../../charts/prepare-series';
import { apartColorOf } from '../../charts/series-colors';
import { bucketStarts } from '../../range/time-range';
import { useChoice } from '../../range/use-choice';
import { usePage } from '../../range/use-page';
import { requestsLink } from '../../range/use-show-requests';
import { Segmented } from '../../ui/segmented';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';

const GROUPS = { rule: 'Rule', check: 'Check', action: 'Action', outcome: 'Outcome', project: 'Project' } as const;
const NAMES = ['rule', 'check', 'action', 'outcome', 'project'] as const;

/** Guardrail findings over time; a rule links to its requests. */
export function HitsCharts() {
  const page = usePage();
  const [by, choose] = useChoice('by', [...NAMES]);
  const projectName = useProjectNames();
  const grouped = { ...page.query, group_by: by };
  const overTime = useGuardrailStats({ ...grouped, interval: asInterval(page.range.intervalMs) });
  const all = useGuardrailStats({ ...grouped, interval: 'all' });
  const named = (buckets: readonly GuardrailBucket[] | undefined) =>
    by === 'project' ? buckets?.map((one) => ({ ...one, group: projectName(one.group ?? '') })) : buckets;
  const buckets = named(overTime.data?.buckets);
  const prepare = (value: (bucket: GuardrailBucket) => number) =>
    buckets && prepareSeries({ times: bucketStarts(page.range), buckets, value, empty: 0, colorOf: apartColorOf });
  // Other groups than rules are no filter of requests.
  const requestsOf = by === 'rule' ? (name: string | null) => ({ guardrail: name ?? undefined }) : undefined;
  const shown = { kind: 'stacked', unit: 'count', legendRows: 1, emptyText: 'No hits in this range.' } as const;
  const shared = { page, requestsOf, query: overTime, ...shown };
  return (
    <div className="grid gap-4">
      <Segmented label="Group by" options={GROUPS} value={by} onChange={choose} />
      <div className="grid gap-4 xl:grid-cols-2">
        <ChartCard {...shared} title="Requests with hits" data={prepare(({ requests }) => requests)} />
        <ChartCard {...shared} title="Matches" data={prepare(({ matches }) => matches)} />
      </div>
      <TableCard
        title={`By ${GROUPS[by].toLowerCase()}`}
        caption="Hits by group"
        query={all}
        columns={by === 'rule' ? [RULE, ...NUMBERS] : [NAME, ...NUMBERS]}
        rows={named(all.data?.buckets)}
        rowKey={(row) => row.group ?? ''}
        sortBy="Requests"
        csvName={`guardrail-hits-by-${by}`}
        emptyTitle="No hits in this range"
        emptyHint="Only what rules find, or cannot check, is counted here."
      />
    </div>
  );
}

const NAME: Column<GuardrailBucket> = { header: 'Name', narrow: true, value: (row) => row.group };
const RULE: Column<GuardrailBucket> = {
  ...NAME,
  cell: ({ group }) => (
    <Link
      {...requestsLink({ guardrail: group ?? undefined, tab: undefined, by: undefined })}
      className="text-accent hover:underline"
    >
      {group}
    </Link>
  ),
};
const NUMBERS: readonly Column<GuardrailBucket>[] = [
  { header: 'Requests', unit: 'count', value: (row) => row.requests },
  { header: 'Matches', unit: 'count', value: (row) => row.matches },
  {
    header: 'Time per request',
    unit: 'ms',
    wideOnly: true,
    value: (row) => (row.requests === 0 ? null : row.ms / row.requests),
  },
];
