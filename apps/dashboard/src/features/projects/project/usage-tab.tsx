import { asInterval, useErrors, useLiveStats, useSpend } from '../../../api/stats';
import { ChartCard } from '../../../charts/chart-card';
import { RangePicker } from '../../../range/range-picker';
import { bucketStarts, isUntilNow } from '../../../range/time-range';
import { type Page, usePage } from '../../../range/use-page';
import type { RequestsFilter } from '../../../range/use-show-requests';
import { prepareStatuses } from '../../overview/prepare-health';
import { CapCard } from '../../spend/cap-card';
import { describeNoSpend, filterOf, prepareSpend } from '../../spend/prepare-spend';
import { ShareNote } from '../../teams/shares-card';
import type { TabProps } from './settings-tabs';

/** The month against its cap, then spend and outcomes of the range. */
export function UsageTab({ project }: TabProps) {
  const page = usePage();
  const query = { ...page.query, project_id: project.id };
  useLiveStats(query, isUntilNow(page.range));
  const shown = { page: { ...page, query }, filter: { project: project.id } };
  return (
    <div className="grid gap-4">
      <CapCard project={project} />
      {project.team_id !== null && project.team_share_usd !== null && (
        <ShareNote teamId={project.team_id} projectId={project.id} />
      )}
      <div className="flex justify-end">
        <RangePicker page={page} />
      </div>
      <div className="grid gap-4 xl:grid-cols-2">
        <SpendChart {...shown} />
        <OutcomesChart {...shown} />
      </div>
    </div>
  );
}

interface ChartProps {
  /** Its query is of this project. */
  readonly page: Page;
  readonly filter: RequestsFilter;
}

const HEIGHT = 200;

function SpendChart({ page, filter }: ChartProps) {
  const interval = asInterval(page.range.intervalMs);
  const spend = useSpend({ ...page.query, interval, group_by: 'model', top: '10' });
  return (
    <ChartCard
      title="Spend by model"
      legendRows={2}
      data={prepareSpend(spend.data?.buckets, { times: bucketStarts(page.range) })}
      kind="stacked"
      unit="usd"
      emptyText={describeNoSpend(spend.data?.buckets)}
      height={HEIGHT}
      {...{ page, query: spend }}
      opens="the dearest requests"
      requestsOf={(model) => ({ ...filter, ...filterOf('model', model ?? ''), sort: '-cost_usd' })}
    />
  );
}

function OutcomesChart({ page, filter }: ChartProps) {
  const errors = useErrors({ ...page.query, interval: asInterval(page.range.intervalMs) });
  return (
    <ChartCard
      title="Requests by status"
      legendRows={1}
      data={errors.data && prepareStatuses(bucketStarts(page.range), errors.data.buckets)}
      kind="stacked"
      unit="count"
      height={HEIGHT}
      {...{ page, query: errors }}
      requestsOf={(status) => ({ ...filter, status: status ?? undefined })}
    />
  );
}
