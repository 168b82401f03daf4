import { useMemo } from 'react';
import { type SpendBucket, type StatsQuery, useErrors, useSpend } from '../../api/stats';
import { SeriesName } from '../../charts/series-name';
import { countOf, formatCount } from '../../format/format-number';
import { formatUsd } from '../../format/format-usd';
import { AGAINST, prepareChange } from '../../format/prepare-change';
import { SAVED } from '../../format/saved-labels';
import { previousRange, rangeQuery, type TimeRange } from '../../range/time-range';
import { requestsLink } from '../../range/use-show-requests';
import type { Column } from '../../ui/table/column';
import { TableCard } from '../../ui/table/table-card';
import {
  colorsOf,
  countLeftOut,
  describeCounted,
  filterOf,
  hasOutcomes,
  isFilter,
  isNamedByCallers,
  isOfRows,
  labelIn,
  prepareSpendLines,
  SPEND_GROUPS,
  type SpendLine,
} from './prepare-spend';

interface Props {
  readonly groupBy: string;
  readonly range: TimeRange;
  readonly query: StatsQuery;
  readonly now: ReturnType<typeof useSpend>;
  readonly labelOf: (name: string) => string;
}

/** Cost of each group, against the previous period. */
export function GroupsCard({ groupBy, range, query, now, labelOf }: Props) {
  const label = labelIn(groupBy);
  const earlier = { ...query, ...rangeQuery(previousRange(range)), interval: 'all', top: '1000' };
  // Of single requests, a part of the range is read: no change against a part of the one before.
  const isWhole = !isOfRows(groupBy) || now.data?.partial === false;
  const before = useSpend(earlier, isWhole);
  const first = useSpend({ ...earlier, ...rangeQuery(previousRange(previousRange(range))) }, isWhole);
  const hasBegun = wholeOf(first.data)?.some(({ requests }) => requests > 0) === true;
  const outcomes = useErrors({ ...query, interval: 'all', top: '1000' }, hasOutcomes(groupBy));
  const { lines, leftOut } = useMemo(() => {
    if (now.data === undefined) return { lines: undefined, leftOut: 0 };
    // A part of the range would tell too few requests.
    const known = outcomes.data?.partial === false ? outcomes.data.buckets : [];
    const keepsAll = !isNamedByCallers(groupBy);
    const beside = { before: wholeOf(before.data), first: wholeOf(first.data), outcomes: known, keepsAll };
    const leftOut = keepsAll ? 0 : countLeftOut(now.data.buckets, known);
    return { lines: prepareSpendLines(now.data.buckets, beside), leftOut };
  }, [groupBy, now.data, before.data, first.data, outcomes.data]);
  const name: Column<SpendLine> = {
    header: 'Name',
    value: (line) => labelOf(line.name),
    cell: (line) => (
      <SeriesName wraps name={line.name} label={labelOf(line.name)} color={colorsOf(groupBy)(line.name)} />
    ),
  };
  return (
    <TableCard
      title={`By ${label === undefined ? SPEND_GROUPS[groupBy as keyof typeof SPEND_GROUPS].toLowerCase() : `label ${label}`}`}
      actions={<Total of={now.data?.buckets} before={hasBegun ? wholeOf(before.data) : undefined} />}
      caption="Spend by group"
      note={describeCounted(groupBy, leftOut)}
      query={now}
      columns={[name, ...COLUMNS]}
      rows={lines}
      rowKey={(line) => line.name}
      csvName={`spend-by-${groupBy}`}
      sortBy="Spend"
      linkOf={isFilter(groupBy) ? (line) => requestsLink(filterOf(groupBy, line.name)) : undefined}
      emptyTitle="No spend in this range"
      emptyHint="Choose a longer range, or send a request."
    >
      {lines?.some(({ change }) => change !== null) && (
        <p className="border-t px-4 py-2 text-xs text-muted">{AGAINST}</p>
      )}
      {outcomes.data?.partial === true && (
        <p className="border-t px-4 py-2 text-xs text-muted">
          $ / request counts refused requests, too: outcomes of a range this long are not read.
        </p>
      )}
      {now.data !== undefined && now.data.groups > 100 && (
        <p className="border-t px-4 py-2 text-xs text-muted">
          Showing 100 of {formatCount(now.data.groups)}; the rest are grouped as (other).
        </p>
      )}
    </TableCard>
  );
}

/** Undefined where only a part was read: its figures are no period's. */
const wholeOf = (data: ReturnType<typeof useSpend>['data']) => (data?.partial === false ? data.buckets : undefined);

/** Sum of all groups, those that are listed as (other) included. */
function Total({ of: buckets, before }: { readonly of: Buckets; readonly before: Buckets }) {
  if (buckets === undefined) return null;
  const [usd, requests] = [sumOf(buckets, (one) => one.cost_usd), sumOf(buckets, (one) => one.requests)];
  const change = prepareChange({
    now: usd,
    before: before === undefined ? null : sumOf(before, (one) => one.cost_usd),
  });
  return (
    <span className="nums text-xs text-muted">
      {formatUsd(usd)} in {countOf(requests, 'request')}
      {change !== null && <span title={change.title}>, {change.text}</span>}
    </span>
  );
}

type Buckets = readonly SpendBucket[] | undefined;

const sumOf = (buckets: readonly SpendBucket[], of: (bucket: SpendBucket) => number) =>
  buckets.reduce((sum, bucket) => sum + of(bucket), 0);

const COLUMNS: readonly Column<SpendLine>[] = [
  { header: 'Spend', unit: 'usd', value: (line) => line.costUsd },
  { header: 'Share', unit: 'share', value: (line) => line.share },
  { header: 'Change', unit: 'change', value: (line) => line.change },
  { header: 'Requests', unit: 'count', wideOnly: true, value: (line) => line.requests },
  { header: '$ / request', unit: 'usd', wideOnly: true, value: (line) => line.usdPerRequest },
  { header: '$ / 1M tokens', unit: 'usd', wideOnly: true, value: (line) => line.usdPerMillionTokens },
  { header: SAVED.byCache, unit: 'usd', wideOnly: true, value: (line) => line.savedUsd },
];
