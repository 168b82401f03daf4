import { asInterval, useSpend } from '../../api/stats';
import { ChartCard } from '../../charts/chart-card';
import { formatInstant } from '../../format/format-time';
import { bucketStarts, earlierRange, rangeQuery } from '../../range/time-range';
import { useChoice } from '../../range/use-choice';
import type { Page } from '../../range/use-page';
import { Segmented } from '../../ui/segmented';
import { colorsOf, describeNoSpend, filterOf, prepareSpend, toSpendQuery } from './prepare-spend';
import { toView, VIEWS, type View } from './prepare-views';

interface Props {
  readonly page: Page;
  readonly groupBy: string;
  readonly labelOf: (name: string) => string;
}

/** Spend over time by group: amounts, shares or running totals. */
export function SpendChart({ page, groupBy, labelOf }: Props) {
  const [view, setView] = useChoice<View>('view', ['amounts', 'shares', 'total']);
  const { range, query } = toSpendQuery(page, groupBy);
  const asked = { interval: asInterval(range.intervalMs), top: '10' };
  const overTime = useSpend({ ...query, ...asked });
  // Shares of the whole are always the whole: there is nothing to compare.
  const isCompared = page.earlier.isShown && view !== 'shares';
  const earlier = earlierRange(range);
  const before = useSpend({ ...query, ...rangeQuery(earlier), ...asked }, isCompared);
  const partialFrom = overTime.data?.partial_from ?? null;
  const colorOf = colorsOf(groupBy);
  const spend = prepareSpend(overTime.data?.buckets, { times: bucketStarts(range), labelOf, colorOf });
  const previous = prepareSpend(isCompared ? before.data?.buckets : undefined, {
    times: bucketStarts(earlier),
    colorOf,
  });
  return (
    <ChartCard
      title="Spend over time"
      legendRows={1}
      controls={<Segmented label="View" options={VIEWS} value={view} onChange={setView} />}
      note={partialFrom === null ? undefined : `Read since ${formatInstant(partialFrom, page.timeZone)}.`}
      height={260}
      data={toView(spend, view)}
      previous={toView(previous, view)}
      kind="stacked"
      unit={view === 'shares' ? 'share' : 'usd'}
      page={{ ...page, range }}
      query={overTime}
      emptyText={describeNoSpend(overTime.data?.buckets)}
      opens="the dearest requests"
      requestsOf={(name) => ({ ...filterOf(groupBy, name ?? ''), sort: '-cost_usd' })}
    />
  );
}
