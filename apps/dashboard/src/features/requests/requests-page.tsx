import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useLogs } from '../../api/logs';
import { useProjectNames } from '../../api/projects';
import { type RequestFilter, toLogQuery } from '../../range/page-search';
import { usePage } from '../../range/use-page';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { DataTable } from '../../ui/data-table';
import { EmptyState } from '../../ui/empty-state';
import { ErrorState } from '../../ui/error-state';
import { PageFrame } from '../shell/page-frame';
import { FilterBar } from './filter-bar';
import { requestColumns } from './request-columns';
import { RequestDrawer } from './request-drawer';

type Search = RequestFilter & { readonly open?: string; readonly live?: boolean };

export function RequestsPage() {
  const page = usePage();
  const search = useSearch({ from: '/requests' }) as Search;
  const navigate = useNavigate();
  const projectName = useProjectNames();
  const { open, live = false } = search;
  const filter: RequestFilter = {
    ...{ request_id: search.request_id, api_key_id: search.api_key_id, model: search.model, provider: search.provider },
    ...{ status: search.status, cache: search.cache, customer_id: search.customer_id, label: search.label },
    ...{ min_cost: search.min_cost, min_latency: search.min_latency, q: search.q },
  };
  const query = toLogQuery(filter);
  const { to, ...openEnded } = page.query;
  // The tail has no end: what comes while one watches belongs to it.
  const logs = useLogs({ ...query, ...openEnded, ...(live ? {} : { to }) }, live);
  const rows = useMemo(() => logs.data?.pages.flatMap(({ data }) => data), [logs.data]);
  const isPartial = logs.data?.pages.at(-1)?.partial === true;
  const change = (next: { readonly [K in keyof Search]?: string | boolean }) =>
    void navigate({
      to: '/requests',
      search: (before) => ({ ...before, ...next }) as Search,
      replace: true,
      resetScroll: false,
    });
  const columns = useMemo(() => requestColumns(page.timeZone, projectName), [page.timeZone, projectName]);
  const exportUrl = (format: string) => `/admin/v1/logs?${new URLSearchParams({ ...query, ...page.query, format })}`;
  return (
    <PageFrame
      title="Requests"
      page={page}
      actions={
        <>
          <Button aria-pressed={live} onClick={() => change({ live: live ? undefined : true })}>
            <span className={`size-2 rounded-full ${live ? 'bg-good' : 'bg-line-strong'}`} />
            Live
          </Button>
          <a
            href={exportUrl('csv')}
            download
            className="rounded-md px-2 py-1 text-muted hover:bg-hover hover:text-text"
          >
            CSV
          </a>
          <a
            href={exportUrl('ndjson')}
            download
            className="rounded-md px-2 py-1 text-muted hover:bg-hover hover:text-text"
          >
            NDJSON
          </a>
        </>
      }
    >
      <FilterBar filter={filter} onChange={change} />
      {logs.error && <ErrorState error={logs.error} onRetry={() => void logs.refetch()} />}
      <Card flush>
        <DataTable
          caption="Requests"
          dense
          columns={columns}
          rows={logs.isPending ? undefined : (rows ?? [])}
          rowKey={(row) => row.id}
          loadingRows={12}
          onRow={(row) => change({ open: row.request_id })}
          empty={
            <EmptyState title="No request matches">
              Take a longer range, or remove a filter. Every request that passed authentication has its row here within
              two seconds.
            </EmptyState>
          }
        />
      </Card>
      <div className="flex items-center gap-3">
        {logs.hasNextPage && (
          <Button disabled={logs.isFetchingNextPage} onClick={() => void logs.fetchNextPage()}>
            {isPartial ? 'Search further back' : 'Show more'}
          </Button>
        )}
        <span className="text-xs text-muted">
          {rows !== undefined && `${rows.length} shown`}
          {isPartial && '; texts and labels are searched 7 days at a time'}
        </span>
      </div>
      {open !== undefined && (
        <RequestDrawer requestId={open} timeZone={page.timeZone} onClose={() => change({ open: undefined })} />
      )}
    </PageFrame>
  );
}
