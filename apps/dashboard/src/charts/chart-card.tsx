import type { ReactNode } from 'react';
import { UNITS } from '../format/units';
import type { TimeRange } from '../range/time-range';
import type { Page } from '../range/use-page';
import { type RequestsFilter, useShowRequests } from '../range/use-show-requests';
import { Card } from '../ui/card';
import { downloadText } from '../ui/download-text';
import { type Failable, Failure } from '../ui/error-state';
import { Download } from '../ui/icons';
import type { TimeChartProps } from './chart-props';
import { type ChartData, chartCsv, isEmpty } from './prepare-series';
import { TimeChart } from './time-chart';

interface Props extends Pick<TimeChartProps, 'kind' | 'unit' | 'limit'>, Partial<Pick<TimeChartProps, 'height'>> {
  readonly title: string;
  /** Beside the title, e.g. a choice of what is shown. */
  readonly controls?: ReactNode;
  readonly note?: ReactNode;
  readonly data: ChartData | undefined;
  readonly page: Pick<Page, 'timeZone'> & { readonly range: Pick<TimeRange, 'intervalMs'> };
  /** Where the data come from. */
  readonly query: Failable;
  /** Shown where there is nothing to draw: what to do. */
  readonly emptyText?: string;
  /** A click leads to the requests of a bucket, those that this says of the series under the pointer. */
  readonly requestsOf?: (series: string | null) => RequestsFilter;
}

const MAX_LEGEND = 12;

/** A chart in its frame: title, legend, CSV; while it loads, when it failed and when there is nothing, the same height. */
export function ChartCard({
  title,
  controls,
  note,
  data,
  query,
  page,
  emptyText,
  requestsOf,
  height = 200,
  ...chart
}: Props) {
  const { intervalMs } = page.range;
  const showRequests = useShowRequests();
  const onSelect = (fromMs: number, series: string | null) =>
    requestsOf && showRequests(requestsOf(series), { fromMs, toMs: fromMs + intervalMs });
  const download = () => data && downloadText(`${title.toLowerCase().replaceAll(/\W+/g, '-')}.csv`, chartCsv(data));
  return (
    <Card
      title={title}
      actions={
        <>
          {controls}
          <button
            type="button"
            onClick={download}
            disabled={data === undefined || isEmpty(data)}
            aria-label={`${title}: download as CSV`}
            className="rounded p-1 text-faint hover:bg-hover hover:text-text disabled:opacity-40"
          >
            <Download />
          </button>
        </>
      }
    >
      <div style={{ minHeight: height }}>
        {query.error ? (
          <Failure of={query} />
        ) : data === undefined ? (
          <div className="animate-none rounded bg-hover/60" style={{ height }} aria-busy="true" />
        ) : isEmpty(data) ? (
          <div className="flex items-center justify-center px-6 text-center text-muted" style={{ height }}>
            {emptyText ?? 'No requests in this range. Take a longer one, or send a request.'}
          </div>
        ) : (
          <TimeChart
            {...{ ...chart, data, height, intervalMs, timeZone: page.timeZone }}
            label={summarize(title, data, UNITS[chart.unit].full)}
            onSelect={requestsOf && onSelect}
          />
        )}
      </div>
      {data !== undefined && !isEmpty(data) && data.series.length > 1 && <Legend data={data} />}
      {note !== undefined && <p className="mt-2 text-xs text-muted">{note}</p>}
    </Card>
  );
}

function Legend({ data }: { readonly data: ChartData }) {
  const hidden = data.series.length - MAX_LEGEND;
  return (
    <ul className="mt-2 flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
      {data.series.slice(0, MAX_LEGEND).map(({ name, label, color }) => (
        <li key={name} className="flex max-w-56 items-center gap-1.5">
          <span className="size-2 shrink-0 rounded-[2px]" style={{ background: color }} />
          <span className="truncate" title={label}>
            {label}
          </span>
        </li>
      ))}
      {hidden > 0 && <li>and {hidden} more</li>}
    </ul>
  );
}

function summarize(title: string, { times, series }: ChartData, format: (value: number) => string): string {
  const parts = series.slice(0, MAX_LEGEND).map(({ label, values }) => {
    const known = values.filter((value): value is number => value !== null);
    return known.length === 0 ? `${label}: nothing` : `${label}: up to ${format(Math.max(...known))}`;
  });
  return `${title}, ${times.length} points. ${parts.join('; ')}`;
}
