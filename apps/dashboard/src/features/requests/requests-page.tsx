import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { type Log, useLogs, useLogTotal, useSearchOn } from '../../api/logs';
import { useKeyNames, useProjectNames } from '../../api/projects';
import type { SavedView } from '../../api/views';
import { formatCount } from '../../format/format-number';
import { formatInstant, type TimeZoneChoice } from '../../format/format-time';
import { type RequestsSearch, readRequestFilter, toAddress, toLogQuery } from '../../range/request-filter';
import { UnreadValues } from '../../range/unread-values';
import { useOpened } from '../../range/use-opened';
import { usePage } from '../../range/use-page';
import { Button } from '../../ui/button';
import { Card } from '../../ui/card';
import { Failure } from '../../ui/error-state';
import { DataTable } from '../../ui/table/data-table';
import { PageFrame } from '../shell/page-frame';
import { RequestDetail } from './detail/request-detail';
import { useIsWide } from './detail/use-is-wide';
import { FilterBar } from './filter-bar';
import { ColumnsMenu } from './menus/columns-menu';
import { keepChosen, knownOnly, loadChosen, noRoomClass } from './menus/prepare-columns';
import { ViewsMenu } from './menus/views-menu';
import { changeOf, chipsOf, fromSavedFilters, toSavedFilters } from './prepare-filters';
import { describeNone } from './prepare-histogram';
import { requestColumns, shownColumns } from './request-columns';
import { RequestsHistogram } from './requests-histogram';
import { useHeldRange } from './use-held-range';
import { focusRowOf, followRowOf, useRowKeys } from './use-row-keys';

type Search = RequestsSearch;
type Change = { readonly [K in keyof Search]?: Search[K] | undefined };

const FORMATS = { csv: 'CSV', ndjson: 'NDJSON' } as const;
const UNREAD = 'No request can have this value, so the list ignores it:';
const NEWEST_FIRST = '-created_at';

/** Address parameters, and their setter. */
function useRequests() {
  const page = usePage();
  const search = useSearch({ from: '/requests' }) as Search;
  const { sort = NEWEST_FIRST, view, unread = [] } = search;
  // Live mode needs the newest first.
  const live = search.live === true && sort === NEWEST_FIRST;
  const navigate = useNavigate();
  const filter = readRequestFilter(search);
  const query = toLogQuery(filter);
  const range = useHeldRange(page, live);
  const order: { sort?: string } = sort === NEWEST_FIRST ? {} : { sort };
  const asked = { ...query, ...range.query };
  const logs = useLogs({ ...asked, ...(order as Record<string, string>) }, live);
  const rows = logs.data?.rows;
  range.hold((logs.data?.pages ?? 0) > 1);
  const change = (next: Change) =>
    void navigate({
      to: '/requests',
      search: (before) => ({ ...before, ...next }) as Search,
      replace: true,
      resetScroll: false,
    });
  const columns = useColumns(page.timeZone, rows ?? [], view);
  const takeView = ({ id, filters, columns: fields, sort: by }: SavedView) => {
    const gone = Object.assign({ q: undefined }, ...chipsOf(filter).map((chip) => changeOf(chip, null)));
    columns.choose(knownOnly(fields, columns.all));
    change({ ...gone, ...fromSavedFilters(filters), sort: by === NEWEST_FIRST ? undefined : by, view: id });
  };
  const forget = (gone: string) => {
    const left = unread.filter((one) => one !== gone);
    change({ unread: left.length === 0 ? undefined : left });
  };
  const takeSort = (by: string) => change({ sort: by === NEWEST_FIRST ? undefined : by });
  return {
    page,
    sort,
    view,
    unread,
    live,
    filter,
    query,
    order,
    asked,
    logs,
    columns,
    change,
    takeView,
    takeSort,
    forget,
  };
}

export function RequestsPage() {
  const list = useRequests();
  const { page, sort, filter, query, asked, logs, columns, change } = list;
  const rows = logs.data?.rows;
  // Nothing further back either: the table says so, alone.
  const isEmpty = rows?.length === 0 && logs.data?.last?.partial !== true && !logs.isPlaceholderData;
  const none = describeNone(query);
  const isWide = useIsWide();
  const open = useOpenRow(rows ?? [], logs, isWide);
  const isNarrowed = isWide && open.id !== undefined;
  const shown = useMemo(
    () => (isNarrowed ? columns.shown.filter(({ wideOnly }) => wideOnly === undefined) : columns.shown),
    [columns.shown, isNarrowed],
  );
  return (
    <PageFrame title="Requests" page={page} fillsWindow actions={<Actions of={list} isNarrow={isNarrowed} />}>
      <FilterBar filter={filter} projectId={page.projectId} onChange={change} />
      <UnreadValues note={UNREAD} unread={list.unread} onRemove={list.forget} />
      <div className="flex gap-4 max-md:items-start md:min-h-0 md:flex-1">
        <div className="flex min-w-0 flex-1 flex-col gap-4">
          {!isEmpty && <RequestsHistogram page={page} query={{ ...query, ...page.query }} filter={query} />}
          <Failure of={logs} />
          <Card flush className="flex min-h-0 flex-col *:flex *:min-h-0 *:flex-col *:rounded-[inherit]">
            <DataTable
              caption="Requests"
              dense
              sticky
              columns={shown}
              rows={logs.isPending ? undefined : (rows ?? [])}
              rowKey={(row) => row.id}
              keptAt={open.keptAt}
              loadingRows={12}
              order={{ by: sort, onChange: list.takeSort }}
              linkOf={(row) => open.anchorTo(row.request_id)}
              emptyTitle={none.title}
              emptyHint={none.hint}
            />
          </Card>
          {!isEmpty && (
            <MoreRequests logs={logs} query={asked} isSorted={sort !== NEWEST_FIRST} timeZone={page.timeZone} />
          )}
        </div>
        {open.id !== undefined && (
          <RequestDetail
            requestId={open.id}
            row={open.row}
            timeZone={page.timeZone}
            isBeside={isWide}
            onStep={open.step}
            place={open.place}
            onClose={open.close}
          />
        )}
      </div>
    </PageFrame>
  );
}

function Actions({ of: list, isNarrow }: ListOf & { readonly isNarrow: boolean }) {
  const { page, sort, view, live, query, order, columns, change, takeView } = list;
  return (
    <>
      <ViewsMenu
        taken={view}
        current={{
          filters: toSavedFilters(query),
          columns: [...(columns.chosen ?? [])],
          sort: sort as '-created_at',
        }}
        onTake={takeView}
      />
      <ColumnsMenu
        all={columns.all}
        nameOf={columns.nameOf}
        noRoomOf={(field) => noRoomClass(columns.shown.find((one) => one.field === field)?.wideOnly, isNarrow)}
        shown={columns.shown.map(({ field }) => field)}
        onChange={columns.choose}
      />
      <Button aria-pressed={live} onClick={() => change({ live: live ? undefined : true, sort: undefined })}>
        <span className={`size-2 rounded-full ${live ? 'bg-good' : 'bg-line-strong'}`} />
        Live
      </Button>
      <Exports query={{ ...query, ...page.query, ...order }} />
    </>
  );
}

interface ListOf {
  readonly of: ReturnType<typeof useRequests>;
}

/** The browser's saved columns; null without a choice. */
function useColumns(
  timeZone: TimeZoneChoice,
  rows: readonly { readonly api_key_id: string }[],
  view: string | undefined,
) {
  const projectName = useProjectNames();
  const [fields] = useState(() => requestColumns('utc', NO_NAMES).map(({ field }) => field));
  const [chosen, setChosen] = useState(() => loadChosen(fields));
  const [viewBefore, setViewBefore] = useState(view);
  // The palette keeps the columns of a view and changes the address.
  if (view !== viewBefore) {
    setViewBefore(view);
    setChosen(loadChosen(fields));
  }
  const hasKeys = chosen?.includes('api_key_id') === true;
  const keyName = useKeyNames(hasKeys ? rows.map((row) => row.api_key_id) : []);
  const names = useMemo(() => ({ project: projectName, key: keyName }), [projectName, keyName]);
  const all = useMemo(() => requestColumns(timeZone, names), [timeZone, names]);
  const shown = useMemo(() => shownColumns(all, chosen), [all, chosen]);
  const choose = (next: readonly string[] | null) => {
    setChosen(next);
    keepChosen(next);
  };
  const nameOf = (field: string) => all.find((column) => column.field === field)?.header ?? field;
  return { all: fields, shown, chosen, choose, nameOf };
}

const NO_NAMES = { project: () => '', key: () => '' };

/** Navigation of the open request: next and previous row, and the focus after closing. */
function useOpenRow(rows: readonly Log[], logs: ReturnType<typeof useLogs>, isBeside: boolean) {
  const opened = useOpened();
  const { id } = opened;
  // The focus goes back to the row of the closed one, which may be far from what is visible.
  const lastId = useRef(id);
  if (id !== undefined) lastId.current = id;
  const keptAt = rows.findIndex((row) => row.request_id === lastId.current);
  const at = id === undefined ? -1 : keptAt;
  const step = (by: number) => {
    const next = rows[at + by];
    if (at < 0) return false;
    if (at + by >= rows.length - 5 && logs.hasNextPage && !logs.isFetchingNextPage) void logs.fetchNextPage();
    if (next !== undefined) opened.show(next.request_id);
    return next !== undefined;
  };
  useRowKeys({ isOpen: id !== undefined, isBeside, onStep: step, onClose: opened.close });
  const last = useRef(id);
  useEffect(() => {
    const before = last.current;
    last.current = id;
    if (before === undefined || before === id) return;
    // Runs after any close, once the dialog has returned the focus.
    if (id === undefined) focusRowOf(before);
    else if (isBeside) followRowOf(id);
  }, [id, isBeside]);
  const place = { hasPrevious: at > 0, hasNext: at >= 0 && at < rows.length - 1 };
  return { id, row: rows[at], keptAt, anchorTo: opened.anchors(), step, close: opened.close, place };
}

/** Files with all that the filter finds, in the order of the table. */
const Exports = ({ query }: { readonly query: Parameters<typeof toAddress>[0] }) => (
  <span className="flex gap-1.5">
    {Object.entries(FORMATS).map(([format, label]) => (
      <a
        key={format}
        href={`/admin/v1/logs?${toAddress({ ...query, format })}`}
        download
        className="rounded-md px-2 py-1 text-muted hover:bg-hover hover:text-text"
      >
        {label}
      </a>
    ))}
  </span>
);

interface MoreProps {
  readonly logs: ReturnType<typeof useLogs>;
  readonly query: Parameters<typeof useLogTotal>[0];
  readonly isSorted: boolean;
  readonly timeZone: TimeZoneChoice;
}

function MoreRequests({ logs, query, isSorted, timeZone }: MoreProps) {
  const last = logs.data?.last;
  const isSearching = useSearchOn(logs, isSorted);
  const total = useLogTotal(query).data;
  const isPartial = last?.partial === true;
  const since = last?.partial_from === undefined ? '' : formatInstant(last.partial_from, timeZone);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      {logs.hasNextPage && (
        <Button isBusy={logs.isFetching} onClick={() => void logs.fetchNextPage()}>
          {isPartial && !isSorted ? 'Search further back' : 'Show more'}
        </Button>
      )}
      <span className="text-xs text-muted">
        {logs.data !== undefined && <span>{`${formatCount(logs.data.rows.length)} shown`}</span>}
        {total !== undefined && (
          <span role="status">
            {total.is_exact ? ` of ${formatCount(total.rows)}` : ` of more than ${formatCount(total.rows)}`}
          </span>
        )}
        {isPartial &&
          (isSorted
            ? `; sorted back to ${since} only, choose a shorter range`
            : `; searched back to ${since}${isSearching ? ', going on …' : ''}`)}
      </span>
    </div>
  );
}
