import { type Failover, useFailovers } from '../../api/routing';
import { usePage } from '../../range/use-page';
import { useShowRequests } from '../../range/use-show-requests';
import { Badge } from '../../ui/badge';
import { type Column, timeColumn } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';

/** The newest switches from one target to the next. */
export function FailoversCard() {
  const failovers = useFailovers();
  const showRequests = useShowRequests();
  return (
    <TableCard
      title="Failover log"
      caption="Switches from one target to the next"
      query={failovers}
      columns={[timeColumn(usePage().timeZone), ...COLUMNS]}
      rows={failovers.data?.data}
      rowKey={(row) => row.id}
      csvName="failovers"
      onRow={(row) => showRequests({ open: row.request_id })}
      emptyTitle="No switches yet"
      emptyHint="Every switch from one target to the next is written down here."
    />
  );
}

const COLUMNS: readonly Column<Failover>[] = [
  { header: 'From', value: (row) => `${row.original_provider} / ${row.original_model}` },
  {
    header: 'Why',
    value: (row) => row.trigger_reason,
    cell: (row) => (
      <Badge tone="warn">
        {row.trigger_status_code ?? ''} {row.trigger_reason.replaceAll('_', ' ')}
      </Badge>
    ),
  },
  { header: 'To', value: (row) => `${row.fallback_provider} / ${row.fallback_model}` },
  { header: 'Time lost', unit: 'ms', value: (row) => row.original_attempt_latency_ms },
  {
    header: 'Outcome',
    value: (row) => (row.fallback_succeeded ? 'answered' : 'failed'),
    tone: (row) => (row.fallback_succeeded ? 'good' : 'bad'),
  },
];
