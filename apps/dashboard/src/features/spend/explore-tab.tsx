import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useKeyNames, useProjectNames, useProjects } from '../../api/projects';
import { asInterval, useSpend } from '../../api/stats';
import { ChartCard } from '../../charts/chart-card';
import { formatDay, formatInstant } from '../../format/format-time';
import { bucketStarts, earlierRange, rangeQuery } from '../../range/time-range';
import { usePage } from '../../range/use-page';
import { Button } from '../../ui/button';
import { Form, Input } from '../../ui/form';
import { Segmented } from '../../ui/segmented';
import { CapCard } from './cap-card';
import { GroupsCard } from './groups-card';
import { filterOf, isByDays, labelIn, prepareSpend, readGroup, SPEND_GROUPS, toSpendQuery } from './prepare-spend';

/** Number of lines in the chart. */
const SHOWN = '100';

/** Spend of any range by any group. */
export function ExploreTab() {
  const page = usePage();
  const groupBy = readGroup(useSearch({ from: '/money' }).by);
  const { range, query } = toSpendQuery(page, groupBy);
  const overTime = useSpend({ ...query, interval: asInterval(range.intervalMs), top: '10' });
  const { isShown } = page.earlier;
  const earlier = earlierRange(range);
  const before = useSpend(
    { ...query, ...rangeQuery(earlier), interval: asInterval(range.intervalMs), top: '10' },
    isShown,
  );
  const now = useSpend({ ...query, interval: 'all', top: SHOWN });
  const groups = now.data?.buckets.map(({ group }) => group ?? '') ?? [];
  const labelOf = useGroupLabels(groupBy, groups);
  const project = useProjects().data?.data.find(({ id }) => id === page.projectId);
  const partialFrom = now.data?.partial_from ?? overTime.data?.partial_from ?? null;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <GroupPicker groupBy={groupBy} />
      {groupBy === 'customer' && isByDays(range) && (
        <p className="text-xs text-muted">
          Customers are counted by whole UTC days, from {formatDay(range.fromMs, 'utc')} on.
        </p>
      )}
      {partialFrom !== null && (
        <p className="rounded-md bg-warn-soft px-3 py-2 text-warn">
          Partial data: labels are read from single requests, here since {formatInstant(partialFrom, page.timeZone)}.
          Choose a range of at most 7 days.
        </p>
      )}
      <ChartCard
        title="Spend over time"
        height={260}
        data={prepareSpend(overTime.data?.buckets, { times: bucketStarts(range), labelOf })}
        previous={prepareSpend(isShown ? before.data?.buckets : undefined, { times: bucketStarts(earlier) })}
        kind="stacked"
        unit="usd"
        page={{ ...page, range }}
        query={overTime}
        opens="the dearest requests"
        requestsOf={(name) => ({ ...filterOf(groupBy, name ?? ''), sort: '-cost_usd' })}
      />
      {project !== undefined && <CapCard project={project} />}
      <GroupsCard {...{ groupBy, range, query, now, labelOf }} />
    </div>
  );
}

/** Name of a group. */
function useGroupLabels(groupBy: string, groups: readonly string[]): (name: string) => string {
  const projectName = useProjectNames();
  const keyName = useKeyNames(groupBy === 'key' ? groups : []);
  if (groupBy === 'project') return projectName;
  return groupBy === 'key' ? keyName : (name) => name;
}

function GroupPicker({ groupBy }: { readonly groupBy: string }) {
  const navigate = useNavigate();
  const label = labelIn(groupBy) ?? '';
  const [name, setName] = useState(label);
  const group = (by: string) =>
    void navigate({ to: '/money', search: (kept) => ({ ...(kept as object), by }), resetScroll: false });
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Segmented
        label="Group by"
        options={SPEND_GROUPS as Readonly<Record<string, string>>}
        value={groupBy}
        onChange={group}
      />
      <Form
        className="flex items-center gap-1"
        onSubmit={() => name.trim() !== '' && group(`label.${name.trim().toLowerCase()}`)}
      >
        <Input
          aria-label="Label to group by"
          placeholder="or a label: team"
          className="w-36!"
          value={name}
          onValue={setName}
        />
        <Button type="submit" aria-pressed={label !== ''}>
          Group
        </Button>
      </Form>
    </div>
  );
}
