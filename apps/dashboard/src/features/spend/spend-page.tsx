import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useMemo, useState } from 'react';
import { useKeyNames, useProjectNames, useProjects } from '../../api/projects';
import { asInterval, useSpend } from '../../api/stats';
import { ChartCard } from '../../charts/chart-card';
import { prepareSeries } from '../../charts/prepare-series';
import { colorBook } from '../../charts/series-colors';
import { SeriesName } from '../../charts/series-name';
import { formatChange, formatCount, formatShare, NOTHING } from '../../format/format-number';
import { formatDay, formatInstant } from '../../format/format-time';
import { formatUsd, formatUsdShort } from '../../format/format-usd';
import { bucketStarts, previousRange, rangeQuery } from '../../range/time-range';
import { usePage } from '../../range/use-page';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { type Column, DataTable } from '../../ui/data-table';
import { EmptyState } from '../../ui/empty-state';
import { ErrorState } from '../../ui/error-state';
import { Input } from '../../ui/field';
import { Segmented } from '../../ui/segmented';
import { PageFrame } from '../shell/page-frame';
import { CapCard } from './cap-card';
import {
  filterOf,
  isByDays,
  prepareSpendLines,
  readGroup,
  SPEND_GROUPS,
  type SpendLine,
  toCustomerRange,
} from './prepare-spend';

const GROUPS = Object.entries(SPEND_GROUPS).map(([value, label]) => ({ value, label }));

export function SpendPage() {
  const page = usePage();
  const navigate = useNavigate();
  const groupBy = readGroup(useSearch({ from: '/spend' }).by);
  const { timeZone, projectId } = page;
  const isLabel = groupBy.startsWith('label.');
  const range = groupBy === 'customer' ? toCustomerRange(page.range) : page.range;
  const { intervalMs } = range;
  const query = { ...page.query, ...rangeQuery(range) };
  const shared = { ...query, group_by: groupBy };
  const overTime = useSpend({ ...shared, interval: asInterval(intervalMs), top: '10' });
  const now = useSpend({ ...shared, interval: 'all', top: '100' });
  const before = useSpend({ ...shared, ...rangeQuery(previousRange(range)), interval: 'all', top: '1000' }, !isLabel);
  const projectName = useProjectNames();
  const keyName = useKeyNames(groupBy === 'key' ? (now.data?.buckets ?? []).map(({ group }) => group ?? '') : []);
  const project = useProjects().data?.data.find(({ id }) => id === projectId);
  const labelOf = useMemo(() => {
    if (groupBy === 'project') return projectName;
    return groupBy === 'key' ? keyName : (name: string) => name;
  }, [groupBy, projectName, keyName]);
  const lines = useMemo(
    () => now.data && prepareSpendLines(now.data.buckets, before.data?.buckets ?? []),
    [now.data, before.data],
  );
  const columns = useMemo(() => columnsOf(labelOf), [labelOf]);
  const group = (by: string) =>
    void navigate({ to: '/spend', search: (kept) => ({ ...kept, by }), resetScroll: false });
  const partialFrom = now.data?.partial_from ?? overTime.data?.partial_from ?? null;
  return (
    <PageFrame title="Spend" page={page}>
      <div className="flex flex-wrap items-center gap-2">
        <Segmented label="Group by" options={GROUPS} value={groupBy} onChange={group} />
        <LabelGroup
          current={isLabel ? groupBy.slice('label.'.length) : ''}
          onChange={(name) => group(`label.${name}`)}
        />
      </div>
      {groupBy === 'customer' && isByDays(range) && (
        <p className="text-xs text-muted">
          Customers are added up by whole UTC days, from {formatDay(range.fromMs, 'utc')} on.
        </p>
      )}
      {partialFrom !== null && (
        <p className="rounded-md bg-warn-soft px-3 py-2 text-warn">
          Partial: labels are read from single requests, here from {formatInstant(partialFrom, timeZone)} on. Take a
          range of at most 7 days.
        </p>
      )}
      <ChartCard
        title="Spend over time"
        height={260}
        data={
          overTime.data &&
          prepareSeries({
            times: bucketStarts(range),
            buckets: overTime.data.buckets,
            value: (bucket) => bucket.cost_usd,
            empty: 0,
            colorOf: (name) => colorBook.colorOf(name),
            labelOf,
          })
        }
        kind="stacked"
        format={formatUsd}
        formatAxis={formatUsdShort}
        {...{ timeZone, intervalMs, error: overTime.error }}
        onRetry={() => void overTime.refetch()}
        onSelect={(start, name) =>
          void navigate({
            to: '/requests',
            search: (kept) => ({
              ...kept,
              range: undefined,
              ...rangeQuery({ fromMs: start, toMs: start + intervalMs }),
              ...filterOf(groupBy, name ?? ''),
            }),
          })
        }
      />
      {project !== undefined && <CapCard project={project} />}
      <Card
        title={`By ${isLabel ? `label ${groupBy.slice('label.'.length)}` : SPEND_GROUPS[groupBy as keyof typeof SPEND_GROUPS].toLowerCase()}`}
        flush
      >
        {now.error && <ErrorState error={now.error} onRetry={() => void now.refetch()} />}
        <DataTable
          caption="Spend by group"
          columns={columns}
          rows={lines}
          rowKey={(line) => line.name}
          csvName={`spend-by-${groupBy}`}
          sortBy={{ id: 'cost', desc: true }}
          onRow={(line) =>
            void navigate({ to: '/requests', search: (kept) => ({ ...kept, ...filterOf(groupBy, line.name) }) })
          }
          empty={<EmptyState title="No spend in this range">Take a longer range, or send a request.</EmptyState>}
        />
        {now.data !== undefined && now.data.groups > 100 && (
          <p className="border-t px-4 py-2 text-xs text-muted">
            Showing 100 of {formatCount(now.data.groups)}; the others are one line, (other).
          </p>
        )}
      </Card>
    </PageFrame>
  );
}

function LabelGroup({ current, onChange }: { readonly current: string; readonly onChange: (name: string) => void }) {
  const [name, setName] = useState(current);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() !== '') onChange(name.trim().toLowerCase());
  };
  return (
    <form className="flex items-center gap-1" onSubmit={submit}>
      <Input
        aria-label="Label to group by"
        placeholder="or a label: team"
        className="w-36!"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Button type="submit" aria-pressed={current !== ''}>
        Group
      </Button>
    </form>
  );
}

function columnsOf(labelOf: (name: string) => string): Column<SpendLine>[] {
  const usd = (value: number | null) => (value === null ? NOTHING : formatUsd(value));
  return [
    {
      id: 'name',
      header: 'Name',
      value: (line) => labelOf(line.name),
      cell: (line) => <SeriesName name={line.name} label={labelOf(line.name)} />,
    },
    {
      id: 'cost',
      header: 'Spend',
      align: 'right',
      value: (line) => line.costUsd,
      cell: (line) => formatUsd(line.costUsd),
    },
    {
      id: 'share',
      header: 'Share',
      align: 'right',
      value: (line) => line.share,
      cell: (line) => formatShare(line.share),
    },
    {
      id: 'change',
      header: 'Change',
      align: 'right',
      value: (line) => line.change,
      cell: (line) => (line.change === null ? NOTHING : formatChange(line.change)),
    },
    {
      id: 'requests',
      header: 'Requests',
      align: 'right',
      wideOnly: true,
      value: (line) => line.requests,
      cell: (line) => formatCount(line.requests),
    },
    {
      id: 'per-request',
      header: '$ / request',
      align: 'right',
      wideOnly: true,
      value: (line) => line.usdPerRequest,
      cell: (line) => usd(line.usdPerRequest),
    },
    {
      id: 'per-million',
      header: '$ / 1M tokens',
      align: 'right',
      wideOnly: true,
      value: (line) => line.usdPerMillionTokens,
      cell: (line) => usd(line.usdPerMillionTokens),
    },
    {
      id: 'saved',
      header: 'Saved',
      align: 'right',
      wideOnly: true,
      value: (line) => line.savedUsd,
      cell: (line) => formatUsd(line.savedUsd),
    },
  ];
}
