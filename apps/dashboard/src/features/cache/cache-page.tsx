import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { api, read } from '../../api/client';
import { useMayChange } from '../../api/session';
import { asInterval, type CacheBucket, useCache, useOverview } from '../../api/stats';
import { ChartCard } from '../../charts/chart-card';
import { SeriesName } from '../../charts/series-name';
import { formatBytes, formatCompact, formatCount, formatShare, NOTHING } from '../../format/format-number';
import { formatUsd } from '../../format/format-usd';
import { bucketStarts, previousRange, rangeQuery } from '../../range/time-range';
import { usePage } from '../../range/use-page';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { type Column, DataTable } from '../../ui/data-table';
import { ErrorState } from '../../ui/error-state';
import { StatGrid } from '../../ui/stat-card';
import { PageFrame } from '../shell/page-frame';
import { NearMissesCard } from './near-misses-card';
import { prepareOutcomes, prepareRatio } from './prepare-cache';
import { PurgeDialog } from './purge-dialog';

export function CachePage() {
  const page = usePage();
  const mayChange = useMayChange();
  const [isPurging, setIsPurging] = useState(false);
  const { query, range, timeZone } = page;
  const overTime = useCache({ ...query, interval: asInterval(range.intervalMs) });
  const byModel = useCache({ ...query, interval: 'all', group_by: 'model', top: '100' });
  const now = useOverview(query);
  const before = useOverview({ ...query, ...rangeQuery(previousRange(range)) });
  const sizes = useQuery({ queryKey: ['cache', 'stats'], queryFn: () => read(api.cache.stats.$get()) });
  const times = bucketStarts(range);
  const chart = {
    timeZone,
    intervalMs: range.intervalMs,
    error: overTime.error,
    onRetry: () => void overTime.refetch(),
  };
  const share = (o: typeof now.data) =>
    o === undefined || o.requests === 0 ? null : (o.cache_hits + o.semantic_hits) / o.requests;
  const columns = useMemo(() => COLUMNS, []);
  return (
    <PageFrame
      title="Cache"
      page={page}
      actions={
        <Button kind="danger" disabled={!mayChange} onClick={() => setIsPurging(true)}>
          Purge
        </Button>
      }
    >
      <StatGrid
        isLoading={now.isPending}
        stats={[
          {
            label: 'Hit rate',
            value: formatShare(share(now.data)),
            now: share(now.data),
            before: share(before.data),
            better: 'more',
          },
          {
            label: 'Saved',
            value: now.data ? formatUsd(now.data.saved_usd) : NOTHING,
            now: now.data?.saved_usd ?? null,
            before: before.data?.saved_usd ?? null,
            better: 'more',
          },
          {
            label: 'Exact hits',
            value: now.data ? formatCompact(now.data.cache_hits) : NOTHING,
            now: now.data?.cache_hits ?? null,
            before: before.data?.cache_hits ?? null,
          },
          {
            label: 'Semantic hits',
            value: now.data ? formatCompact(now.data.semantic_hits) : NOTHING,
            now: now.data?.semantic_hits ?? null,
            before: before.data?.semantic_hits ?? null,
          },
        ]}
      />
      <div className="grid gap-4 xl:grid-cols-2">
        <ChartCard
          title="How requests were answered"
          data={overTime.data && prepareOutcomes(times, overTime.data.buckets)}
          kind="stacked"
          format={formatCount}
          formatAxis={formatCompact}
          {...chart}
        />
        <ChartCard
          title="Hit rate"
          data={overTime.data && prepareRatio(times, overTime.data.buckets)}
          kind="line"
          format={(value) => formatShare(value)}
          formatAxis={(value) => formatShare(value, 0)}
          {...chart}
        />
      </div>
      <Card title="By model" flush>
        {byModel.error && <ErrorState error={byModel.error} onRetry={() => void byModel.refetch()} />}
        <DataTable
          caption="Cache by model"
          columns={columns}
          rows={byModel.data?.buckets}
          rowKey={(row) => row.group ?? ''}
          sortBy={{ id: 'saved', desc: true }}
          csvName="cache-by-model"
        />
      </Card>
      <NearMissesCard page={page} />
      <Card title="What is stored">
        {sizes.error && <ErrorState error={sizes.error} onRetry={() => void sizes.refetch()} />}
        {sizes.data && (
          <dl className="grid grid-cols-2 gap-x-8 gap-y-2 sm:grid-cols-4">
            {[
              ['Exact, hot', `${formatCount(sizes.data.entries)} answers`],
              ['Size', `${formatBytes(sizes.data.bytes)} of ${formatBytes(sizes.data.max_bytes)}`],
              ['Exact, warm', `${formatCount(sizes.data.warm_entries)} answers`],
              ['Semantic', `${formatCount(sizes.data.semantic_entries)} answers`],
              ['Kept for', `${formatCount(sizes.data.ttl_seconds)} s`],
              ['Hot store', sizes.data.backend],
            ].map(([name, value]) => (
              <div key={name}>
                <dt className="text-xs text-muted">{name}</dt>
                <dd className="nums">{value}</dd>
              </div>
            ))}
          </dl>
        )}
        <p className="mt-3 text-xs text-muted">
          Caches are switched on, and semantic thresholds set, for each{' '}
          <Link to="/projects" className="text-accent underline">
            project
          </Link>
          .
        </p>
      </Card>
      {isPurging && <PurgeDialog projectId={page.projectId} onClose={() => setIsPurging(false)} />}
    </PageFrame>
  );
}

const COLUMNS: readonly Column<CacheBucket>[] = [
  { id: 'model', header: 'Model', value: (row) => row.group, cell: (row) => <SeriesName name={row.group ?? ''} /> },
  {
    id: 'requests',
    header: 'Requests',
    align: 'right',
    value: (row) => row.requests,
    cell: (row) => formatCount(row.requests),
  },
  {
    id: 'ratio',
    header: 'Hit rate',
    align: 'right',
    value: (row) => row.hit_ratio,
    cell: (row) => formatShare(row.hit_ratio),
  },
  {
    id: 'exact',
    header: 'Exact',
    align: 'right',
    wideOnly: true,
    value: (row) => row.cache_hits,
    cell: (row) => formatCount(row.cache_hits),
  },
  {
    id: 'semantic',
    header: 'Semantic',
    align: 'right',
    wideOnly: true,
    value: (row) => row.semantic_hits,
    cell: (row) => formatCount(row.semantic_hits),
  },
  {
    id: 'saved',
    header: 'Saved',
    align: 'right',
    value: (row) => row.saved_usd,
    cell: (row) => formatUsd(row.saved_usd),
  },
];
