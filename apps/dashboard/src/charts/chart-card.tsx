import { type ReactNode, useMemo, useState } from 'react';
import { isAway } from '../api/away';
import { UNITS } from '../format/units';
import { rangeQuery, type TimeRange } from '../range/time-range';
import type { Page } from '../range/use-page';
import { type RequestsFilter, useShowRequests } from '../range/use-show-requests';
import { Card } from '../ui/card';
import { downloadText } from '../ui/download-text';
import { type Failable, Failure } from '../ui/error-state';
import { Download } from '../ui/icons';
import { ChartLegend, MAX_LEGEND } from './chart-legend';
import type { TimeChartProps } from './chart-props';
import { type Shown, visibleData } from './prepare-legend';
import { ENOUGH, hasFew } from './prepare-scale';
import { type ChartData, chartCsv, isEmpty } from './prepare-series';
import { TimeChart } from './time-chart';
import { useMarks } from './use-marks';

interface Props
  extends Pick<TimeChartProps, 'kind' | 'unit' | 'limit' | 'previous' | 'opens'>,
    Partial<Pick<TimeChartProps, 'height'>> {
  readonly title: string;
  /** Controls beside the title, e.g. for the shown series. */
  readonly controls?: ReactNode;
  readonly note?: ReactNode;
  readonly data: ChartData | undefined;
  /** If the page can `change`, a drag zooms it. Events of its `query` become marks. */
  readonly page: Pick<Page, 'timeZone'> &
    Partial<Pick<Page, 'change' | 'query'>> & { readonly range: Pick<TimeRange, 'intervalMs'> };
  /** Source of the data. */
  readonly query: Failable;
  /** Text for a chart without data, with the next step. */
  readonly emptyText?: string;
  /** Rows kept for the legend: nothing moves when it arrives. */
  readonly legendRows?: keyof typeof LEGEND_ROWS;
  /** A click opens the requests of a bucket, filtered by the series under the pointer. */
  readonly requestsOf?: (series: string | null) => RequestsFilter;
}

const LEGEND_ROWS = { 0: '', note: 'min-h-7', 1: 'min-h-13 md:min-h-7', 2: 'min-h-25 md:min-h-13' };

/** A chart in its frame: title, legend, CSV; while it loads, when it failed and when there is nothing, the same height. */
export function ChartCard(props: Props) {
  const { title, controls, note, data, previous, legendRows = 0 } = props;
  const [shown, setShown] = useState<Shown>(null);
  const isDrawn = data !== undefined && !isEmpty(data);
  return (
    <Card
      title={title}
      actions={
        <>
          {controls}
          <button
            type="button"
            onClick={() => data && downloadText(`${title.toLowerCase().replaceAll(/\W+/g, '-')}.csv`, chartCsv(data))}
            disabled={!isDrawn}
            aria-label={`${title}: download as CSV`}
            className="touch rounded p-1 text-faint hover:bg-hover hover:text-text disabled:opacity-40"
          >
            <Download />
          </button>
        </>
      }
    >
      <Body {...props} shown={shown} />
      <div className={`flex flex-wrap items-start gap-x-3 text-xs text-muted ${LEGEND_ROWS[legendRows]}`}>
        {isDrawn && data.series.length > 1 && <ChartLegend data={data} shown={shown} onShown={setShown} />}
        {isDrawn && hasFew(data) && <p className="mt-1 py-0.5 md:py-1">Dots are of fewer than {ENOUGH} requests.</p>}
        {isDrawn && previous !== undefined && <p className="mt-1 py-0.5 md:py-1">Dashed: the previous period.</p>}
      </div>
      {note !== undefined && <p className="mt-2 text-xs text-muted">{note}</p>}
    </Card>
  );
}

function Body({ data, query, emptyText, height = 200, ...rest }: Props & { readonly shown: Shown }) {
  if (query.error && !isAway(query.error)) {
    return (
      <div style={{ minHeight: height }}>
        <Failure of={query} />
      </div>
    );
  }
  if (data === undefined && query.error) return <Note height={height}>No data for this range yet.</Note>;
  if (data === undefined)
    return <div className="animate-none rounded bg-hover/60" style={{ height }} aria-busy="true" />;
  if (isEmpty(data)) {
    const hint = emptyText ?? 'No requests in this range. Choose a longer one, or send a request.';
    return <Note height={height}>{hint}</Note>;
  }
  return <Drawn {...rest} {...{ data, height }} />;
}

type DrawnProps = Omit<Props, 'data' | 'height' | 'query' | 'controls' | 'note'> & {
  readonly data: ChartData;
  readonly height: number;
  readonly shown: Shown;
};

function Drawn({ title, data, previous, shown, page, requestsOf, ...chart }: DrawnProps) {
  const { intervalMs } = page.range;
  const { change, timeZone } = page;
  const showRequests = useShowRequests();
  const marks = useMarks(page.query);
  const [visible, before] = useMemo(() => {
    const names = data.series.map(({ name }) => name);
    return [visibleData(data, shown, names), previous && visibleData(previous, shown, names)];
  }, [data, previous, shown]);
  const onSelect = (fromMs: number, series: string | null) =>
    requestsOf && showRequests(requestsOf(series), { fromMs, toMs: fromMs + intervalMs });
  const hasOwn = (name: string) =>
    requestsOf !== undefined && JSON.stringify(requestsOf(name)) !== JSON.stringify(requestsOf(null));
  // The previous range stays in the address, as the way back.
  const zoom = change && ((fromMs: number, toMs: number) => change(rangeQuery({ fromMs, toMs })));
  return (
    <TimeChart
      {...chart}
      {...{ title, intervalMs, timeZone, marks, hasOwn }}
      data={visible}
      previous={before}
      label={summarize(title, visible, UNITS[chart.unit].full)}
      onZoom={zoom}
      onSelect={requestsOf && onSelect}
    />
  );
}

function Note({ height, children }: { readonly height: number; readonly children: ReactNode }) {
  return (
    <div className="flex items-center justify-center px-6 text-center text-muted" style={{ height }}>
      {children}
    </div>
  );
}

function summarize(title: string, { times, series }: ChartData, format: (value: number) => string): string {
  const parts = series.slice(0, MAX_LEGEND).map(({ label, values }) => {
    const known = values.filter((value): value is number => value !== null);
    return known.length === 0 ? `${label}: no data` : `${label}: up to ${format(Math.max(...known))}`;
  });
  return `${title}, ${times.length} points. ${parts.join('; ')}`;
}
