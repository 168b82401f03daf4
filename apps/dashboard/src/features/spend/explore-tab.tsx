import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useKeyNames, useProjectNames, useProjects } from '../../api/projects';
import { useSpend } from '../../api/stats';
import { formatDay, formatInstant } from '../../format/format-time';
import { usePage } from '../../range/use-page';
import { Button } from '../../ui/button';
import { Form, Input, Select } from '../../ui/form';
import { CalendarCard } from './calendar-card';
import { CapCard } from './cap-card';
import { GroupsCard } from './groups-card';
import { isByDays, labelIn, readGroup, SPEND_GROUPS, toSpendQuery } from './prepare-spend';
import { SpendChart } from './spend-chart';
import { SpendTableCard } from './table-card';

/** Number of lines in the list of groups. */
const SHOWN = '100';

/** Spend of any range by any group. */
export function ExploreTab() {
  const page = usePage();
  const groupBy = readGroup(useSearch({ from: '/money' }).by);
  const { range, query } = toSpendQuery(page, groupBy);
  const now = useSpend({ ...query, interval: 'all', top: SHOWN });
  const groups = now.data?.buckets.map(({ group }) => group ?? '') ?? [];
  const labelOf = useGroupLabels(groupBy, groups);
  const project = useProjects().data?.data.find(({ id }) => id === page.projectId);
  const partialFrom = now.data?.partial_from ?? null;
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
          Partial data: {groupBy === 'modality' ? 'modalities' : 'labels'} are read from single requests, here since{' '}
          {formatInstant(partialFrom, page.timeZone)}. Choose a range of at most 7 days.
        </p>
      )}
      <SpendChart {...{ page, groupBy, labelOf }} />
      <div className="grid gap-4 xl:grid-cols-2">
        <CapCard project={project} />
        <CalendarCard projectId={page.projectId} />
      </div>
      <SpendTableCard page={page} />
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

const LABEL = 'label';

function GroupPicker({ groupBy }: { readonly groupBy: string }) {
  const navigate = useNavigate();
  const label = labelIn(groupBy);
  const [name, setName] = useState(label ?? '');
  const [isLabel, setIsLabel] = useState(label !== undefined);
  const group = (by: string) =>
    void navigate({ to: '/money', search: (kept) => ({ ...(kept as object), by }), resetScroll: false });
  const choose = (by: string) => {
    setIsLabel(by === LABEL);
    if (by !== LABEL) group(by);
  };
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Select
        aria-label="Group by"
        className="w-44"
        options={GROUP_OPTIONS}
        value={isLabel ? LABEL : groupBy}
        onValue={choose}
      />
      {isLabel && (
        <Form
          className="flex items-center gap-1"
          onSubmit={() => name.trim() !== '' && group(`label.${name.trim().toLowerCase()}`)}
        >
          <Input
            aria-label="Label to group by"
            placeholder="env"
            className="w-28!"
            autoFocus={label === undefined}
            value={name}
            onValue={setName}
          />
          <Button type="submit">Group</Button>
        </Form>
      )}
    </div>
  );
}

const GROUP_OPTIONS = {
  ...Object.fromEntries(Object.entries(SPEND_GROUPS).map(([by, label]) => [by, `By ${label.toLowerCase()}`])),
  [LABEL]: 'By a label …',
};
