import { useMemo } from 'react';
import { useMayChange } from '../../api/session';
import { readMcpServer, useMcpServers, useToolStats } from '../../api/tools';
import { useOpened } from '../../range/use-opened';
import { usePage } from '../../range/use-page';
import { Plus } from '../../ui/icons';
import { Name } from '../../ui/name';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { ChangeButton } from '../forms/change-button';
import { ManagedMark } from '../forms/managed-set';
import { OpenedOne } from '../forms/opened-one';
import { NewServer } from './new-server';
import { prepareServers, type ServerLine } from './prepare-tools';
import { ServerDialog } from './server-dialog';

/** Servers with their health and calls in the range. */
export function ServersCard() {
  const servers = useMcpServers();
  const stats = useToolStats({ ...usePage().query, interval: 'all', group_by: 'server' });
  const { id, linkTo, open, show, close } = useOpened();
  const mayChange = useMayChange();
  const lines = useMemo(
    () => servers.data && prepareServers(servers.data.data, stats.data?.buckets ?? []),
    [servers.data, stats.data],
  );
  return (
    <TableCard
      title="MCP servers"
      actions={
        <ChangeButton onClick={() => open('new')}>
          <Plus /> Add server
        </ChangeButton>
      }
      caption="MCP servers"
      query={servers}
      columns={COLUMNS}
      rows={lines}
      rowKey={(row) => row.id}
      linkOf={(row) => linkTo(row.id)}
      csvName="mcp-servers"
      emptyTitle="No MCP servers yet"
      emptyHint={
        <>
          Its tools run behind the keys, limits and log of this gateway. You pick the tools, then the keys and projects
          that may call them.
          <span className="mt-3 block">
            <ChangeButton kind="primary" onClick={() => open('new')}>
              Add the first server
            </ChangeButton>
          </span>
        </>
      }
    >
      {id === 'new' && mayChange && <NewServer onClose={close} onAdded={show} />}
      {id !== undefined && id !== 'new' && (
        <OpenedOne
          what="server"
          row={lines?.find((line) => line.id === id)}
          isLoaded={lines !== undefined}
          queryKey={['mcp', 'server', id]}
          read={async () => {
            const found = await readMcpServer(id);
            return found === null ? null : (prepareServers([found], [])[0] ?? null);
          }}
          onClose={close}
          nameOf={(server) => ({ resource: 'mcp_server', id: server.id })}
        >
          {(server) => <ServerDialog key={server.id} of={server} onClose={close} />}
        </OpenedOne>
      )}
    </TableCard>
  );
}

const COLUMNS: readonly Column<ServerLine>[] = [
  {
    header: 'Server',
    value: (row) => row.alias,
    cell: (row) => (
      <Name name={row.alias}>
        <ManagedMark resource="mcp_server" id={row.id} />
      </Name>
    ),
  },
  { header: 'Health', value: (row) => row.label, tone: (row) => row.tone },
  { header: 'Tools', unit: 'count', wideOnly: true, value: (row) => row.health.tool_count },
  { header: 'Waiting', unit: 'count', wideOnly: true, value: (row) => row.health.held_back_count },
  { header: '$ / call', unit: 'price', wideOnly: true, value: (row) => row.price_per_call_usd },
  { header: 'Calls in range', unit: 'count', value: (row) => row.calls },
  { header: 'Failed', unit: 'share', wideOnly: true, value: (row) => row.errorRate },
  { header: 'p95', unit: 'percentile', wideOnly: true, value: (row) => row.p95Ms },
  { header: 'Cost in range', unit: 'usd', wideOnly: true, value: (row) => row.costUsd },
  { header: 'URL or command', wideOnly: 'very', narrow: true, value: (row) => row.url ?? row.command },
];
