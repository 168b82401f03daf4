import { useMemo } from 'react';
import { type LogQuery, useLogTally } from '../../api/logs';
import { asInterval, useErrors } from '../../api/stats';
import { isEmpty } from '../../charts/prepare-series';
import { TimeChart } from '../../charts/time-chart';
import { formatCount } from '../../format/format-number';
import { formatInstant } from '../../format/format-time';
import { bucketStarts } from '../../range/time-range';
import type { Page } from '../../range/use-page';
import { Card } from '../../ui/card';
import { Failure } from '../../ui/error-state';
import { prepareStatuses } from '../overview/prepare-health';
import { describeNone, fromTally, isRolledUp } from './prepare-histogram';

interface Props {
  readonly page: Page;
  /** The filter with the page's range. */
  readonly query: LogQuery;
  readonly filter: LogQuery;
}

const HEIGHT = 84;
const TITLE = 'Requests over time';

/** Matching requests by status; a drag selects a range. */
export function RequestsHistogram(props: Props) {
  return isRolledUp(props.query) ? <RolledUp {...props} /> : <Counted {...props} />;
}

function RolledUp({ page, query, filter }: Props) {
  const { from = '', to = '', ...rest } = query as Record<string, string>;
  const found = useErrors({ ...rest, from, to, interval: asInterval(page.range.intervalMs) });
  const times = useMemo(() => bucketStarts(page.range), [page.range]);
  const data = useMemo(() => found.data && prepareStatuses(times, found.data.buckets), [times, found.data]);
  return <Drawn {...{ page, filter, data, found }} from={found.data?.partial_from ?? null} />;
}

function Counted({ page, query, filter }: Props) {
  const found = useLogTally(query, page.range.intervalMs);
  const times = useMemo(() => bucketStarts(page.range), [page.range]);
  const data = useMemo(() => found.data && fromTally(times, found.data), [times, found.data]);
  return <Drawn {...{ page, filter, data, found }} from={found.data?.count.from ?? null} />;
}

interface DrawnProps extends Pick<Props, 'page' | 'filter'> {
  readonly data: ReturnType<typeof fromTally> | undefined;
  readonly found: { readonly error: Error | null };
  /** Counted from here on, where not all could be. */
  readonly from: string | null;
}

function Drawn({ page, filter, data, found, from }: DrawnProps) {
  const zoom = (fromMs: number, toMs: number) =>
    page.change({ range: undefined, from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() });
  const totals = (data?.series ?? []).map(
    ({ label, values }) => `${label}: ${formatCount(values.reduce<number>((sum, value) => sum + (value ?? 0), 0))}`,
  );
  return (
    <Card className="*:pb-1">
      <Failure of={found} />
      <div style={{ minHeight: HEIGHT }}>
        {data === undefined ? (
          <div className="rounded bg-hover/60" style={{ height: HEIGHT }} aria-busy="true" />
        ) : isEmpty(data) ? (
          <p className="flex items-center justify-center text-muted" style={{ height: HEIGHT }}>
            {describeNone(filter).title}.
          </p>
        ) : (
          <TimeChart
            kind="stacked"
            unit="count"
            title={TITLE}
            label={`${TITLE}. ${totals.join('; ')}`}
            {...{ data, height: HEIGHT, timeZone: page.timeZone, intervalMs: page.range.intervalMs }}
            onZoom={zoom}
          />
        )}
      </div>
      {from !== null && (
        <p className="mt-1 text-xs text-muted">
          Counted back to {formatInstant(from, page.timeZone)} only. Choose a shorter range to count every request.
        </p>
      )}
    </Card>
  );
}
