import { useMemo, useState } from 'react';
import { type SystemLog, useSystemLogs } from '../../api/settings';
import { formatMs } from '../../format/format-number';
import { formatStamp } from '../../format/format-time';
import { usePage } from '../../range/use-page';
import { Badge } from '../../ui/badge';
import { Card } from '../../ui/card';
import { type Column, DataTable } from '../../ui/data-table';
import { EmptyState } from '../../ui/empty-state';
import { ErrorState } from '../../ui/error-state';
import { Segmented } from '../../ui/segmented';

const OUTCOMES = [
  { value: '', label: 'All' },
  { value: 'error', label: 'Failed' },
] as const;

export function JobsCard() {
  const [outcome, setOutcome] = useState<'' | 'error'>('');
  const runs = useSystemLogs(outcome);
  const { timeZone } = usePage();
  const columns = useMemo<Column<SystemLog>[]>(
    () => [
      {
        id: 'time',
        header: 'Time',
        value: (row) => row.created_at,
        cell: (row) => <span className="nums">{formatStamp(row.created_at, timeZone)}</span>,
      },
      { id: 'job', header: 'Job', value: (row) => row.event_type.replaceAll('_', ' ') },
      {
        id: 'outcome',
        header: 'Outcome',
        value: (row) => row.outcome,
        cell: (row) => <Badge tone={row.outcome === 'ok' ? 'good' : 'bad'}>{row.outcome}</Badge>,
      },
      { id: 'message', header: 'What', value: (row) => row.message },
      {
        id: 'took',
        header: 'Took',
        align: 'right',
        value: (row) => row.duration_ms,
        cell: (row) => formatMs(row.duration_ms),
      },
    ],
    [timeZone],
  );
  return (
    <Card
      title="Runs of background jobs"
      flush
      actions={<Segmented label="Outcome" options={OUTCOMES} value={outcome} onChange={setOutcome} />}
    >
      {runs.error && <ErrorState error={runs.error} onRetry={() => void runs.refetch()} />}
      <DataTable
        caption="Job runs, newest first"
        columns={columns}
        rows={runs.data?.data}
        rowKey={(row) => row.id}
        empty={<EmptyState title="No runs" />}
      />
    </Card>
  );
}
