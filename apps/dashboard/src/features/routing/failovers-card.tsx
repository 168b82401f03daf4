import { type Failover, useFailovers } from '../../api/routing';
import { usePage } from '../../range/use-page';
import { requestsLink } from '../../range/use-show-requests';
import { Badge } from '../../ui/badge';
import { type Column, timeColumn } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';

/** The newest switches from one target to the next. */
export function FailoversCard() {
  const failovers = useFailovers();
  return (
    <TableCard
      title="Failover log"
      caption="Failovers from one target to the next"
      query={failovers}
      columns={[timeColumn(usePage().timeZone), ...COLUMNS]}
      rows={failovers.data?.data}
      rowKey={(row) => row.id}
      csvName="failovers"
      linkOf={(row) => requestsLink({ open: row.request_id })}
      emptyTitle="No failovers yet"
      emptyHint="Every failover from one target to the next is recorded here."
    />
  );
}

const COLUMNS: readonly Column<Failover>[] = [
  { header: 'From', value: (row) => `${row.original_provider} / ${row.original_model}` },
  {
    header: 'Reason',
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
