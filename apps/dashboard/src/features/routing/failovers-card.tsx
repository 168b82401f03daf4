import { useFailovers } from '../../api/routing';
import { countOf, formatCount } from '../../format/format-number';
import { formatTarget } from '../../format/format-target';
import { formatInstant, formatStamp, type TimeZoneChoice } from '../../format/format-time';
import { usePage } from '../../range/use-page';
import { requestsLink } from '../../range/use-show-requests';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import { type FailoverGroup, groupFailovers } from './prepare-failovers';

const MINUTE_MS = 60_000;

/** The newest switches from one target to the next, equal ones together. */
export function FailoversCard() {
  const failovers = useFailovers();
  const { timeZone } = usePage();
  return (
    <TableCard
      title="Failovers"
      actions={failovers.data && <Extent of={failovers.data} timeZone={timeZone} />}
      caption="Failovers from one target to the next, equal ones together"
      query={failovers}
      columns={[...COLUMNS, ...timeColumns(timeZone)]}
      rows={failovers.data && groupFailovers(failovers.data.data)}
      rowKey={(row) => row.key}
      csvName="failovers"
      linkOf={linkOf}
      emptyTitle="No failovers yet"
      emptyHint="A target that fails or is paused passes its requests to the next one of its chain. Each such switch counts here."
    />
  );
}

interface ExtentProps {
  readonly of: NonNullable<ReturnType<typeof useFailovers>['data']>;
  readonly timeZone: TimeZoneChoice;
}

/** How many the table adds up, and since when. */
function Extent({ of: { data, next_cursor: next }, timeZone }: ExtentProps) {
  const oldest = data.at(-1);
  if (oldest === undefined) return null;
  const count = next === null ? countOf(data.length, 'failover') : `The newest ${formatCount(data.length)}`;
  return (
    <span className="text-xs text-muted">
      {count} since {formatInstant(oldest.created_at, timeZone)}
    </span>
  );
}

/** Requests that others answered are listed as such; those that nobody answered by their last provider. */
const linkOf = ({ from, first, last, isAnswered, to }: FailoverGroup) =>
  requestsLink({
    ...{ from: first, to: new Date(Date.parse(last) + MINUTE_MS).toISOString() },
    ...(isAnswered ? { failover_from: from.provider } : { outcome: 'error', provider: to.provider }),
  });

const COLUMNS: readonly Column<FailoverGroup>[] = [
  { header: 'From', value: ({ from }) => formatTarget(from) },
  { header: 'Reason', value: (row) => row.reason, tone: () => 'warn' },
  { header: 'To', value: ({ to }) => formatTarget(to) },
  {
    header: 'Outcome',
    value: (row) => (row.isAnswered ? 'answered' : 'failed too'),
    tone: (row) => (row.isAnswered ? 'good' : 'bad'),
  },
  { header: 'Times', unit: 'count', value: (row) => row.times },
  { header: 'Time lost, median', unit: 'ms', wideOnly: true, value: (row) => row.lostMs },
];

const zone = (timeZone: TimeZoneChoice) => (timeZone === 'utc' ? 'UTC' : 'local');
const timeColumns = (timeZone: TimeZoneChoice): readonly Column<FailoverGroup>[] => [
  {
    header: `First (${zone(timeZone)})`,
    wideOnly: 'very',
    value: (row) => row.first,
    cell: (row) => formatStamp(row.first, timeZone),
  },
  { header: `Last (${zone(timeZone)})`, value: (row) => row.last, cell: (row) => formatStamp(row.last, timeZone) },
];
