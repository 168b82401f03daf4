import { type SystemLog, useSystemLogs } from '../../api/settings';
import { NOTHING } from '../../format/format-number';
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
      emptyTitle="No runs"
    />
  );
}

const wrapping = (header: string, textOf: (row: SystemLog) => string | null): Column<SystemLog> => ({
  ...{ header, value: textOf },
  cell: (row) => <span className={WRAPPED_NAME}>{textOf(row) ?? NOTHING}</span>,
});

const COLUMNS: readonly Column<SystemLog>[] = [
  wrapping('Job', (row) => row.event_type.replaceAll('_', ' ')),
  { header: 'Outcome', value: (row) => row.outcome, tone: (row) => (row.outcome === 'ok' ? 'good' : 'bad') },
  wrapping('Message', (row) => row.message),
  { header: 'Duration', unit: 'ms', wideOnly: true, value: (row) => row.duration_ms },
];
