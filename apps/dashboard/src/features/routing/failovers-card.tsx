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
      columns={columnsOf(timeZone)}
      rows={rows}
      rowKey={keyOf}
      csvName="failovers"
      linkOf={(row) => requestsLink(requestsOf(row))}
      emptyTitle="No failovers in this range"
      emptyHint="A target that fails or is paused passes its requests to the next one of its chain. Each such switch counts here."
    />
  );
}

const zone = (timeZone: TimeZoneChoice) => (timeZone === 'utc' ? 'UTC' : 'local');
const outcomeOf = ({ fallback_succeeded: isAnswered }: FailoverGroup) => (isAnswered ? 'answered' : 'failed too');

/** A switch, and below it what phones and tablets have no columns for. */
function Switch({ row, timeZone }: { readonly row: FailoverGroup; readonly timeZone: TimeZoneChoice }) {
  return (
    <>
      <span className="block max-md:whitespace-normal">{formatTarget(originOf(row))}</span>
      <span className="block text-2xs whitespace-normal text-muted xl:hidden">
        <span className="md:hidden">
          <span className="block text-xs text-text">to {formatTarget(targetOf(row))}</span>
          {reasonOf(row)}, {outcomeOf(row)}
        </span>
        <span className="nums block">Last {formatStamp(row.last_at, timeZone)}</span>
      </span>
    </>
  );
}

const columnsOf = (timeZone: TimeZoneChoice): readonly Column<FailoverGroup>[] => [
  {
    header: 'From',
    wraps: true,
    value: (row) => formatTarget(originOf(row)),
    cell: (row) => <Switch row={row} timeZone={timeZone} />,
  },
  { header: 'To', wideOnly: true, value: (row) => formatTarget(targetOf(row)) },
  { header: 'Times', unit: 'count', value: (row) => row.times },
  { header: 'Reason', wideOnly: true, value: reasonOf, tone: () => 'warn' },
  {
    header: 'Outcome',
    wideOnly: true,
    value: outcomeOf,
    tone: (row) => (row.fallback_succeeded ? 'good' : 'bad'),
  },
  { header: 'Time lost, median', unit: 'ms', wideOnly: 'very', value: (row) => row.lost_ms },
  {
    header: `First (${zone(timeZone)})`,
    wideOnly: 'most',
    value: (row) => row.first_at,
    cell: (row) => formatStamp(row.first_at, timeZone),
  },
  {
    header: `Last (${zone(timeZone)})`,
    wideOnly: 'very',
    value: (row) => row.last_at,
    cell: (row) => formatStamp(row.last_at, timeZone),
  },
];
