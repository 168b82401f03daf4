import { type FailoverGroup, useFailovers } from '../../api/stats';
import { countOf } from '../../format/format-number';
import { formatTarget } from '../../format/format-target';
import { formatStamp, type TimeZoneChoice } from '../../format/format-time';
import { RangePicker } from '../../range/range-picker';
import { usePage } from '../../range/use-page';
import { requestsLink } from '../../range/use-show-requests';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { keyOf, originOf, reasonOf, requestsOf, targetOf } from './prepare-failovers';

/** Switches from one target to the next, equal ones together. */
export function FailoversCard() {
  const page = usePage();
  const { timeZone } = page;
  const failovers = useFailovers(page.query);
  const rows = failovers.data?.groups;
  return (
    <TableCard
      title="Failovers"
      actions={
        <>
          {rows !== undefined && (
            <span className="text-xs text-muted">
              {countOf(
                rows.reduce((sum, { times }) => sum + times, 0),
                'failover',
              )}
            </span>
          )}
          <RangePicker page={page} />
        </>
      }
      caption="Failovers from one target to the next, equal ones together"
      query={failovers}
      columns={[...COLUMNS, ...timeColumns(timeZone)]}
      rows={rows}
      rowKey={keyOf}
      csvName="failovers"
      linkOf={(row) => requestsLink(requestsOf(row))}
      emptyTitle="No failovers in this range"
      emptyHint="A target that fails or is paused passes its requests to the next one of its chain. Each such switch counts here."
    />
  );
}

const COLUMNS: readonly Column<FailoverGroup>[] = [
  { header: 'From', value: (row) => formatTarget(originOf(row)) },
  { header: 'To', value: (row) => formatTarget(targetOf(row)) },
  { header: 'Times', unit: 'count', value: (row) => row.times },
  { header: 'Reason', value: reasonOf, tone: () => 'warn' },
  {
    header: 'Outcome',
    value: (row) => (row.fallback_succeeded ? 'answered' : 'failed too'),
    tone: (row) => (row.fallback_succeeded ? 'good' : 'bad'),
  },
  { header: 'Time lost, median', unit: 'ms', wideOnly: true, value: (row) => row.lost_ms },
];

const zone = (timeZone: TimeZoneChoice) => (timeZone === 'utc' ? 'UTC' : 'local');
const timeColumns = (timeZone: TimeZoneChoice): readonly Column<FailoverGroup>[] => [
  {
    header: `First (${zone(timeZone)})`,
    wideOnly: 'very',
    value: (row) => row.first_at,
    cell: (row) => formatStamp(row.first_at, timeZone),
  },
  {
    header: `Last (${zone(timeZone)})`,
    value: (row) => row.last_at,
    cell: (row) => formatStamp(row.last_at, timeZone),
  },
];
