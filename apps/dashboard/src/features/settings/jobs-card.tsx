import { type SystemLog, useSystemLogs } from '../../api/settings';
import { useChoice } from '../../range/use-choice';
import { usePage } from '../../range/use-page';
import { WRAPPED_NAME } from '../../ui/name';
import { Segmented } from '../../ui/segmented';
import { type Column, timeColumn } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';

const OUTCOMES = { '': 'All', error: 'Failed' } as const;

export function JobsCard() {
  const [outcome, setOutcome] = useChoice<keyof typeof OUTCOMES>('outcome', ['', 'error']);
  const runs = useSystemLogs(outcome);
  return (
    <TableCard
      title="Runs of background jobs"
      actions={<Segmented label="Outcome" options={OUTCOMES} value={outcome} onChange={setOutcome} />}
      caption="Job runs, newest first"
      query={runs}
      columns={[timeColumn(usePage().timeZone), ...COLUMNS]}
      rows={runs.data?.data}
      rowKey={(row) => row.id}
      emptyTitle={outcome === '' ? 'No runs' : 'No failed runs'}
    />
  );
}

const COLUMNS: readonly Column<SystemLog>[] = [
  {
    ...{ header: 'Job', value: (row) => row.event_type.replaceAll('_', ' ') },
    cell: (_, job) => <span className={WRAPPED_NAME}>{job}</span>,
  },
  { header: 'Outcome', value: (row) => row.outcome, tone: (row) => (row.outcome === 'ok' ? 'good' : 'bad') },
  {
    ...{ header: 'Message', value: (row) => row.message },
    cell: (_, message) => <span className="block py-1 whitespace-normal wrap-anywhere max-sm:min-w-22">{message}</span>,
  },
  { header: 'Duration', unit: 'ms', wideOnly: true, value: (row) => row.duration_ms },
];
