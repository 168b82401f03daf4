import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { type Failover, useFailovers } from '../../api/routing';
import { formatMs } from '../../format/format-number';
import { formatStamp } from '../../format/format-time';
import { usePage } from '../../range/use-page';
import { Badge } from '../../ui/badge';
import { Card } from '../../ui/card';
import { type Column, DataTable } from '../../ui/data-table';
import { EmptyState } from '../../ui/empty-state';
import { ErrorState } from '../../ui/error-state';

/** The newest switches from one target to the next. */
export function FailoversCard() {
  const failovers = useFailovers();
  const navigate = useNavigate();
  const { timeZone } = usePage();
  const columns = useMemo<Column<Failover>[]>(
    () => [
      {
        id: 'time',
        header: 'Time',
        value: (row) => row.created_at,
        cell: (row) => <span className="nums">{formatStamp(row.created_at, timeZone)}</span>,
      },
      { id: 'from', header: 'From', value: (row) => `${row.original_provider} / ${row.original_model}` },
      {
        id: 'why',
        header: 'Why',
        value: (row) => row.trigger_reason,
        cell: (row) => (
          <Badge tone="warn">
            {row.trigger_status_code ?? ''} {row.trigger_reason.replaceAll('_', ' ')}
          </Badge>
        ),
      },
      { id: 'to', header: 'To', value: (row) => `${row.fallback_provider} / ${row.fallback_model}` },
      {
        id: 'lost',
        header: 'Time lost',
        align: 'right',
        value: (row) => row.original_attempt_latency_ms,
        cell: (row) => formatMs(row.original_attempt_latency_ms),
      },
      {
        id: 'ok',
        header: 'Outcome',
        value: (row) => (row.fallback_succeeded ? 'answered' : 'failed'),
        cell: (row) => (
          <Badge tone={row.fallback_succeeded ? 'good' : 'bad'}>{row.fallback_succeeded ? 'answered' : 'failed'}</Badge>
        ),
      },
    ],
    [timeZone],
  );
  return (
    <Card title="Failover log" flush>
      {failovers.error && <ErrorState error={failovers.error} onRetry={() => void failovers.refetch()} />}
      <DataTable
        caption="Switches from one target to the next"
        columns={columns}
        rows={failovers.data?.data}
        rowKey={(row) => row.id}
        csvName="failovers"
        onRow={(row) => void navigate({ to: '/requests', search: (kept) => ({ ...kept, open: row.request_id }) })}
        empty={
          <EmptyState title="No switches yet">
            Every switch from one target to the next is written down here.
          </EmptyState>
        }
      />
    </Card>
  );
}
