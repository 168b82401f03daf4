import { useProjectNames } from '../../api/projects';
import { asInterval, type SpendBucket, type StatsQuery, useSpend } from '../../api/stats';
import { ChartCard } from '../../charts/chart-card';
import { SeriesName } from '../../charts/series-name';
import { formatCompact, formatCount } from '../../format/format-number';
import { formatInstant } from '../../format/format-time';
import { formatUsd } from '../../format/format-usd';
import { SAVED } from '../../format/saved-labels';
import { nameRange } from '../../range/name-range';
import { bucketStarts } from '../../range/time-range';
import type { Page } from '../../range/use-page';
import { type RequestsFilter, requestsLink } from '../../range/use-show-requests';
import { Failure } from '../../ui/error-state';
import { type Stat, StatGrid } from '../../ui/stat-card';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { describeNoSpend, prepareSpend, prepareSpendLines, type SpendLine, toSpendQuery } from '../spend/prepare-spend';
import { type OpenedCustomer, requestsOf } from './prepare-customers';

interface Props {
  readonly customer: OpenedCustomer;
  readonly page: Page;
}

const TOP = '8';

/** Spend, requests, models and projects of a customer in the page's range. */
export function CustomerUsage({ customer: { customerId, projectId }, page }: Props) {
  // As the list counts it.
  const { range, query: asked } = toSpendQuery(page, 'customer');
  const query = {
    ...{ ...asked, customer_id: customerId },
    ...(projectId === undefined ? {} : { project_id: projectId }),
  };
  const models = useSpend({ ...query, interval: 'all', group_by: 'model' });
  const projects = useSpend({ ...query, interval: 'all', group_by: 'project' }, projectId === undefined);
  const projectName = useProjectNames();
  const filter = requestsOf({ customerId, projectId });
  const { partial_from: partialFrom = null } = models.data ?? {};
  return (
    <>
      <Failure of={models} />
      {/* The page's own range, as its heading has it, is behind the drawer. */}
      <p className="-mb-2 text-xs text-muted">{nameRange({ range, timeZone: page.timeZone })}</p>
      <StatGrid stats={statsOf(models.data?.buckets ?? [])} isLoading={models.data === undefined} />
      {partialFrom !== null && (
        <p className="text-xs text-muted">
          Only since {formatInstant(partialFrom, page.timeZone)}: there are too many requests to read them all.
        </p>
      )}
      <SpendChart {...{ query, filter }} page={{ range, timeZone: page.timeZone }} />
      <TableCard
        title="Models"
        caption="Models of the customer"
        query={models}
        columns={MODEL_COLUMNS}
        sortBy="Spent"
        rows={models.data && prepareSpendLines(models.data.buckets)}
        rowKey={(line) => line.name}
        linkOf={({ name }) => requestsLink({ ...filter, answering_model: name })}
        emptyTitle="No requests in this range"
        emptyHint="Choose a longer range."
      />
      {projectId === undefined && (
        <TableCard
          title="Projects"
          caption="Projects of the customer"
          query={projects}
          columns={projectColumns(projectName)}
          sortBy="Spent"
          rows={projects.data && prepareSpendLines(projects.data.buckets)}
          rowKey={(line) => line.name}
          linkOf={({ name }) => requestsLink({ ...filter, project: name })}
          emptyTitle="No requests in this range"
        />
      )}
    </>
  );
}

interface ChartProps {
  readonly query: StatsQuery;
  readonly filter: RequestsFilter;
  readonly page: Pick<Page, 'range' | 'timeZone'>;
}

function SpendChart({ query, filter, page }: ChartProps) {
  const chart = useSpend({ ...query, interval: asInterval(page.range.intervalMs), group_by: 'model', top: TOP });
  return (
    <ChartCard
      title="Spend by model"
      legendRows={2}
      data={prepareSpend(chart.data?.buckets, { times: bucketStarts(page.range) })}
      kind="stacked"
      unit="usd"
      emptyText={describeNoSpend(chart.data?.buckets)}
      height={180}
      {...{ page, query: chart }}
      opens="its dearest requests"
      requestsOf={(model) => ({ ...filter, ...(model === null ? {} : { answering_model: model }), sort: '-cost_usd' })}
    />
  );
}

function statsOf(buckets: readonly SpendBucket[]): readonly Stat[] {
  const sum = (of: (bucket: SpendBucket) => number) => buckets.reduce((total, bucket) => total + of(bucket), 0);
  const [usd, requests] = [sum((one) => one.cost_usd), sum((one) => one.requests)];
  const stat = (label: string, value: string): Stat => ({ label, value, now: null, before: null });
  return [
    stat('Spend', formatUsd(usd)),
    stat('Requests', formatCount(requests)),
    stat('Tokens', formatCompact(sum((one) => one.tokens_in + one.tokens_out))),
    stat(SAVED.byCache, formatUsd(sum((one) => one.saved_usd))),
  ];
}

const FIGURES: readonly Column<SpendLine>[] = [
  { header: 'Spent', unit: 'usd', value: (line) => line.costUsd },
  { header: 'Share', unit: 'share', value: (line) => line.share },
  { header: 'Requests', unit: 'count', value: (line) => line.requests },
];
const MODEL_COLUMNS: readonly Column<SpendLine>[] = [
  { header: 'Model', value: (line) => line.name, cell: (line) => <SeriesName wraps name={line.name} /> },
  ...FIGURES,
];
const projectColumns = (nameOf: (id: string) => string): readonly Column<SpendLine>[] => [
  { header: 'Project', value: (line) => nameOf(line.name) },
  ...FIGURES,
];
