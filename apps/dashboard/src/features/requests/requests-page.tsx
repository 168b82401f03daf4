import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useLogs } from '../../api/logs';
import { useProjectNames } from '../../api/projects';
import { type RequestFilter, readRequestFilter, toLogQuery } from '../../range/page-search';
import { usePage } from '../../range/use-page';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { Failure } from '../../ui/error-state';
import { DataTable } from '../../ui/table/data-table';
import { PageFrame } from '../shell/page-frame';
import { FilterBar } from './filter-bar';
import { requestColumns } from './request-columns';
import { RequestDrawer } from './request-drawer';

type Search = RequestFilter & { readonly open?: string; readonly live?: boolean };

const FORMATS = { csv: 'CSV', ndjson: 'NDJSON' } as const;

export function RequestsPage() {
  const page = usePage();
  const { open, live = false, ...search } = useSearch({ from: '/requests' }) as Search;
  const navigate = useNavigate();
  const projectName = useProjectNames();
  const filter = readRequestFilter(search);
  const query = toLogQuery(filter);
  const { to, ...openEnded } = page.query;
  // The tail has no end: what comes while one watches belongs to it.
  const logs = useLogs({ ...query, ...openEnded, ...(live ? {} : { to }) }, live);
  const change = (next: { readonly [K in keyof Search]?: string | boolean }) =>
    void navigate({
      to: '/requests',
      search: (before) => ({ ...before, ...next }) as Search,
      replace: true,
      resetScroll: false,
    });
  const columns = useMemo(() => requestColumns(page.timeZone, projectName), [page.timeZone, projectName]);
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
          <Exports query={{ ...query, ...page.query }} />
        </>
      }
    >
      <FilterBar filter={filter} onChange={change} />
      <Failure of={logs} />
      <Card flush>
        <DataTable
          caption="Requests"
          dense
          columns={columns}
          rows={logs.isPending ? undefined : (logs.data?.rows ?? [])}
          rowKey={(row) => row.id}
          loadingRows={12}
          onRow={(row) => change({ open: row.request_id })}
          emptyTitle="No request matches"
          emptyHint="Take a longer range, or remove a filter. Every request that passed authentication has its row here within two seconds."
        />
      </Card>
      <MoreRequests logs={logs} />
      {open !== undefined && (
        <RequestDrawer requestId={open} timeZone={page.timeZone} onClose={() => change({ open: undefined })} />
      )}
    </PageFrame>
  );
}

/** Files with all that the filter finds. */
const Exports = ({ query }: { readonly query: Record<string, string> }) =>
  Object.entries(FORMATS).map(([format, label]) => (
    <a
      key={format}
      href={`/admin/v1/logs?${new URLSearchParams({ ...query, format })}`}
      download
      className="rounded-md px-2 py-1 text-muted hover:bg-hover hover:text-text"
    >
      {label}
    </a>
  ));

function MoreRequests({ logs }: { readonly logs: ReturnType<typeof useLogs> }) {
  const isPartial = logs.data?.last?.partial === true;
  return (
    <div className="flex items-center gap-3">
      {logs.hasNextPage && (
        <Button disabled={logs.isFetchingNextPage} onClick={() => void logs.fetchNextPage()}>
          {isPartial ? 'Search further back' : 'Show more'}
        </Button>
      )}
      <span className="text-xs text-muted">
        {logs.data !== undefined && `${logs.data.rows.length} shown`}
        {isPartial && '; texts and labels are searched 7 days at a time'}
      </span>
    </div>
  );
}
