import { useNavigate, useSearch } from '@tanstack/react-router';
import { useKeyNames, useProjectNames } from '../../api/projects';
import { readToolCall, type ToolCall, type ToolCallQuery, useMcpServers, useToolCalls } from '../../api/tools';
import { outcomeLabel } from '../../format/outcome-labels';
import { useOpened } from '../../range/use-opened';
import { usePage } from '../../range/use-page';
import { STATUS_TONES } from '../../ui/badge';
import { Button } from '../../ui/button';
import { SearchInput, Select } from '../../ui/form';
import { type Column, timeColumn } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { OpenedOne } from '../forms/opened-one';
import { CallDrawer } from './call-drawer';
import { OUTCOMES, type ToolsSearch } from './tools-search';

/** Calls of tools, as the address filters them. */
export function CallsCard() {
  const page = usePage();
  const search = useSearch({ from: '/tools' }) as ToolsSearch;
  const { id, linkTo, close } = useOpened();
  const calls = useToolCalls(queryOf(page.query, search));
  const rows = calls.data?.rows;
  const projectName = useProjectNames();
  const keyName = useKeyNames(rows?.map((row) => row.api_key_id) ?? []);
  const columns: readonly Column<ToolCall>[] = [
    timeColumn(page.timeZone),
    ...COLUMNS,
    { header: 'Project', wideOnly: true, narrow: true, value: (row) => projectName(row.project_id) },
    { header: 'Key', wideOnly: true, narrow: true, value: (row) => keyName(row.api_key_id) },
    { header: 'Run', wideOnly: 'very', narrow: true, value: (row) => row.run_id },
  ];
  return (
    <TableCard
      title="Calls"
      caption="Calls of tools"
      query={calls}
      columns={columns}
      rows={rows}
      rowKey={(row) => row.id}
      linkOf={(row) => linkTo(row.id)}
      csvName="tool-calls"
      isCut={calls.hasNextPage}
      emptyTitle="No calls in this range"
      emptyHint="Calls through /mcp, scripts of Code Mode and their calls are listed here."
      above={<Filters search={search} />}
    >
      {calls.hasNextPage && (
        <div className="flex justify-center border-t p-2">
          <Button isBusy={calls.isFetchingNextPage} onClick={() => void calls.fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
      {id !== undefined && (
        <OpenedOne
          what="call"
          row={rows?.find((row) => row.id === id)}
          isLoaded={rows !== undefined}
          queryKey={['tool-calls', id]}
          read={() => readToolCall(id)}
          onClose={close}
        >
          {(call) => <CallDrawer of={call} onClose={close} />}
        </OpenedOne>
      )}
    </TableCard>
  );
}

function queryOf(
  query: { readonly from: string; readonly to: string; readonly project_id?: string },
  search: ToolsSearch,
): ToolCallQuery {
  const { server, tool, run, result } = search;
  return {
    // A run is shown whole.
    ...(run === undefined ? query : {}),
    ...(server === undefined ? {} : { server }),
    ...(tool === undefined ? {} : { tool }),
    ...(run === undefined ? {} : { run_id: run }),
    ...(result === undefined ? {} : result === 'failed' ? { is_error: 'true' as const } : { status: result }),
  };
}

function Filters({ search }: { readonly search: ToolsSearch }) {
  const navigate = useNavigate();
  const servers = useMcpServers().data?.data ?? [];
  const set = (change: Partial<ToolsSearch>) =>
    void navigate({
      to: '/tools',
      search: (before) => ({ ...before, tab: 'calls' as const, ...change }),
      replace: true,
      resetScroll: false,
    });
  const given = (value: string) => (value === '' ? undefined : value);
  return (
    <div className="flex flex-wrap items-center gap-2 px-4 pb-2">
      <Select
        aria-label="Server"
        anyLabel="All servers"
        options={servers.map(({ alias }) => alias)}
        value={search.server ?? ''}
        onValue={(server) => set({ server: given(server) })}
      />
      <Select
        aria-label="Outcome"
        anyLabel="Any outcome"
        options={OUTCOMES}
        value={search.result ?? ''}
        onValue={(result) => set({ result: given(result) as ToolsSearch['result'] })}
      />
      <SearchInput
        label="Tool"
        className="w-44!"
        defaultValue={search.tool ?? ''}
        onBlur={(event) => set({ tool: given(event.target.value.trim()) })}
        onKeyDown={(event) => event.key === 'Enter' && set({ tool: given(event.currentTarget.value.trim()) })}
      />
      {search.run !== undefined && (
        <Button size="small" onClick={() => set({ run: undefined })}>
          <span className="max-w-60 truncate">Run {search.run}</span> ✕
        </Button>
      )}
    </div>
  );
}

const COLUMNS: readonly Column<ToolCall>[] = [
  { header: 'Server', wideOnly: true, value: (row) => row.server },
  { header: 'Tool', narrow: true, value: (row) => row.tool },
  {
    header: 'Outcome',
    value: (row) => (row.status === 'success' && row.is_error ? 'Tool failed' : outcomeLabel(row.status)),
    tone: (row) => (row.status === 'success' && row.is_error ? 'warn' : (STATUS_TONES[row.status] ?? 'neutral')),
  },
  { header: 'Time taken', unit: 'ms', value: (row) => row.latency_ms },
  { header: 'Cost', unit: 'cost', wideOnly: true, value: (row) => row.cost_usd },
];
