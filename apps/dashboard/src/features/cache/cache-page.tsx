import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, read } from '../../api/client';
import { useMayChange } from '../../api/session';
import { asInterval, type CacheBucket, useCache, useOverview, usePrevious, usePromptCaches } from '../../api/stats';
import { ChartCard } from '../../charts/chart-card';
import { SeriesName } from '../../charts/series-name';
import { formatBytes, formatCount } from '../../format/format-number';
import { formatLength } from '../../format/format-time';
import { SAVED } from '../../format/saved-labels';
import { bucketStarts } from '../../range/time-range';
import { useOpened } from '../../range/use-opened';
import { type Page, usePage } from '../../range/use-page';
import { requestsLink } from '../../range/use-show-requests';
import { Card } from '../../ui/card';
import { Failure } from '../../ui/error-state';
import { StatGrid } from '../../ui/stat-card';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { ChangeButton } from '../forms/change-button';
import { PageFrame } from '../shell/page-frame';
import { NearMissesCard } from './near-misses-card';
import {
  hitRate,
  prepareCacheStats,
  prepareOutcomes,
  prepareRatio,
  reachedCaches,
  requestsOfAnswer,
  requestsOfModel,
} from './prepare-cache';
import { PromptCachesCard } from './prompt-caches-card';
import { PurgeDialog } from './purge-dialog';

export function CachePage() {
  const page = usePage();
  const opened = useOpened();
  const mayChange = useMayChange();
  const { query } = page;
  const now = useOverview(query);
  const before = usePrevious(query, page.range);
  const byModel = useCache({ ...query, interval: 'all', group_by: 'model', top: '100' });
  // Their rows would move what is below them.
  const isPlaced = [byModel, usePromptCaches(query)].every((one) => !one.isPending || one.failureCount > 0);
  return (
    <PageFrame
      title="Cache"
      page={page}
      hasCharts
      actions={
        <ChangeButton kind="danger" onClick={() => opened.open('purge')}>
          Purge
        </ChangeButton>
      }
    >
      <StatGrid
        isCompared
        isComparing={!before.isKnown}
        isLoading={now.isPending}
        stats={prepareCacheStats(now.data, before.data)}
      />
      <Charts page={page} />
      <TableCard
        title="By model"
        note="Counts requests that reached the cache: all without refused ones and caller errors."
        caption="Cache by model"
        query={byModel}
        columns={COLUMNS}
        rows={byModel.data?.buckets.filter((row) => reachedCaches(row) > 0)}
        rowKey={(row) => row.group ?? ''}
        linkOf={linkOf}
        sortBy={SAVED.byCache}
        csvName="cache-by-model"
      />
      <div className={`contents ${isPlaced ? '' : 'invisible'}`}>
        <PromptCachesCard page={page} />
        <NearMissesCard page={page} />
        <StoredCard />
      </div>
      {opened.id === 'purge' && mayChange && <PurgeDialog projectId={page.projectId} onClose={opened.close} />}
    </PageFrame>
  );
}

function Charts({ page }: { readonly page: Page }) {
  const overTime = useCache({ ...page.query, interval: asInterval(page.range.intervalMs) });
  const { range, query, isShown } = page.earlier;
  const before = useCache({ ...query, interval: asInterval(range.intervalMs) }, isShown);
  const earlier = isShown ? before.data?.buckets : undefined;
  const times = bucketStarts(page.range);
  const shared = { page, query: overTime };
  return (
    <div className="grid gap-4 xl:grid-cols-2">
      <ChartCard
        title="How requests were answered"
        legendRows="note"
        data={overTime.data && prepareOutcomes(times, overTime.data.buckets)}
        previous={earlier && prepareOutcomes(bucketStarts(range), earlier)}
        kind="stacked"
        unit="count"
        {...shared}
        requestsOf={requestsOfAnswer}
      />
      <ChartCard
        title="Hit rate"
        data={overTime.data && prepareRatio(times, overTime.data.buckets)}
        previous={earlier && prepareRatio(bucketStarts(range), earlier)}
        kind="line"
        unit="share"
        {...shared}
        opens="the requests that the cache answered"
        requestsOf={() => ({ cache: ['exact', 'semantic'] })}
      />
    </div>
  );
}

function StoredCard() {
  const sizes = useQuery({ queryKey: ['cache', 'stats'], queryFn: () => read(api.cache.stats.$get()) });
  return (
    <Card title="Stored answers">
      <Failure of={sizes} />
      {sizes.data && (
        <dl className="grid grid-cols-2 gap-x-8 gap-y-2 sm:grid-cols-4">
          {[
            ['Exact, hot', `${formatCount(sizes.data.entries)} answers`],
            ['Size', `${formatBytes(sizes.data.bytes)} of ${formatBytes(sizes.data.max_bytes)}`],
            ['Exact, warm', `${formatCount(sizes.data.warm_entries)} answers`],
            ['Semantic', `${formatCount(sizes.data.semantic_entries)} answers`],
            ['Kept for', formatLength(sizes.data.ttl_seconds * 1000)],
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
        Turn on caches and set semantic thresholds for each{' '}
        <Link to="/projects" className="touch-line text-accent underline">
          project
        </Link>
        .
      </p>
    </Card>
  );
}

function linkOf({ group }: CacheBucket) {
  const filter = requestsOfModel(group);
  return filter && requestsLink(filter);
}

const COLUMNS: readonly Column<CacheBucket>[] = [
  { header: 'Model', value: (row) => row.group, cell: (row) => <SeriesName wraps name={row.group ?? ''} /> },
  { header: 'Reached the cache', unit: 'count', value: reachedCaches },
  { header: 'Hit rate', unit: 'share', value: hitRate },
  { header: 'Exact', unit: 'count', wideOnly: true, value: (row) => row.cache_hits },
  { header: 'Semantic', unit: 'count', wideOnly: true, value: (row) => row.semantic_hits },
  { header: SAVED.byCache, unit: 'usd', value: (row) => row.saved_usd },
];
