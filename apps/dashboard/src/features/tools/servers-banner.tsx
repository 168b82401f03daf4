import { Link } from '@tanstack/react-router';
import { useMcpServers } from '../../api/tools';
import { countOf } from '../../format/format-number';
import { Warning } from '../../ui/icons';
import { serverTroubles } from './prepare-troubles';

/** MCP servers that are left out of lists, and those with tools that wait for the operator. */
export function ServersBanner() {
  const servers = useMcpServers();
  return serverTroubles(servers.data?.data ?? []).map(({ id, alias, error, waiting }) => (
    <div key={id} role="status" className="flex gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn">
      <Warning className="mt-0.5 shrink-0" />
      <span className="min-w-0 wrap-anywhere">
        <Link
          to="/tools"
          search={({ range, from, to, tz }) => ({ range, from, to, tz, open: id })}
          className="touch-line underline"
        >
          {alias}
        </Link>
        {error === null
          ? `: ${countOf(waiting, 'tool')} ${waiting === 1 ? 'waits' : 'wait'}: approve or decline ${waiting === 1 ? 'it' : 'them'}`
          : error}
      </span>
    </div>
  ));
}
