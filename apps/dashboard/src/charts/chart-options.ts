import type { RefObject } from 'react';
import uPlot from 'uplot';
import { formatClock, formatDay } from '../format/format-time';
import type { TimeChartProps } from './time-chart';

const DAY_MS = 86_400_000;
const AXIS_FONT = '11px "Inter Variable", system-ui, sans-serif';
const Y_AXIS_WIDTH = 58;

export interface ChartOptionsInput {
  readonly props: RefObject<TimeChartProps>;
  readonly width: number;
  readonly height: number;
  readonly onHover: (at: { index: number; left: number; top: number } | null) => void;
}

/** How uPlot draws a chart: thin lines, quiet axes, no animation. */
export function chartOptions({ props, width, height, onHover }: ChartOptionsInput): uPlot.Options {
  const { data, kind, limit } = props.current;
  const css = getComputedStyle(document.documentElement);
  const color = (name: string) => css.getPropertyValue(name).trim();
  const axis = { stroke: color('--c-faint'), font: AXIS_FONT, ticks: { show: false } };
  const drawn = kind === 'stacked' ? data.series.toReversed() : data.series;
  const paths = kind === 'stacked' ? uPlot.paths.stepped?.({ align: 1 }) : uPlot.paths.linear?.();
  return {
    width,
    height,
    padding: [8, 4, 0, 0],
    legend: { show: false },
    cursor: {
      sync: { key: 'page', setSeries: false },
      points: { show: kind === 'line', size: 6 },
      drag: { x: false, y: false },
      y: false,
    },
    scales: { x: { time: true }, y: { range: (_, __, max) => yRange(max, limit) } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 24,
        gap: 6,
        space: 70,
        values: (_, splits) => splits.map((second) => timeLabel(second * 1000, props.current)),
      },
      {
        ...axis,
        size: Y_AXIS_WIDTH,
        gap: 6,
        space: 34,
        grid: { stroke: color('--c-line'), width: 1 },
        values: (_, splits) => splits.map((value) => (props.current.formatAxis ?? props.current.format)(value)),
      },
    ],
    series: [
      {},
      ...drawn.map(
        (series): uPlot.Series => ({
          label: series.label,
          stroke: series.color,
          width: kind === 'stacked' ? 0 : 1.5,
          fill: kind === 'stacked' ? series.color : undefined,
          paths,
          points: { show: kind === 'line' ? (plot, index) => isAlone(plot, index) : false, size: 4 },
          spanGaps: false,
        }),
      ),
    ],
    bands: kind === 'stacked' ? drawn.slice(1).map((_, index) => ({ series: [index + 1, index + 2] })) : [],
    hooks: {
      setCursor: [(plot) => onHover(hoverAt(plot, props.current.data.times.length - 1))],
      draw: [(plot) => drawLimit(plot, limit, color('--c-bad'))],
      ready: [(plot) => listen(plot, props)],
    },
  };
}

function yRange(max: number | null, limit: number | undefined): [number, number] {
  const top = Math.max(max ?? 0, limit ?? 0);
  return [0, top === 0 ? 1 : top * 1.08];
}

/** Points between two gaps would be invisible as a line. */
function isAlone(plot: uPlot, seriesIndex: number): boolean {
  const values = plot.data[seriesIndex] ?? [];
  return values.filter((value) => value !== null).length <= 2;
}

/** Layers have one point more than there are buckets: the end of the last one. */
function hoverAt(plot: uPlot, lastIndex: number) {
  const { idx, left = -1, top = -1 } = plot.cursor;
  if (idx === null || idx === undefined || left < 0) return null;
  return { index: Math.min(idx, lastIndex), left: left + Y_AXIS_WIDTH, top };
}

function timeLabel(ms: number, { data, timeZone }: TimeChartProps): string {
  const { times } = data;
  const lengthMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
  if (lengthMs > 3 * DAY_MS) return formatDay(ms, timeZone);
  const clock = formatClock(ms, timeZone);
  return clock === '00:00' ? formatDay(ms, timeZone) : clock;
}

function drawLimit(plot: uPlot, limit: number | undefined, color: string): void {
  if (limit === undefined) return;
  const y = plot.valToPos(limit, 'y', true);
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.setLineDash([5, 4]);
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}

/** A click leads to the requests of the bucket (and of the layer under the pointer). */
function listen(plot: uPlot, props: RefObject<TimeChartProps>): void {
  plot.over.addEventListener('click', () => {
    const { idx, top = 0 } = plot.cursor;
    const { data, kind, onSelect } = props.current;
    const index = Math.min(idx ?? -1, data.times.length - 1);
    const time = data.times[index];
    if (time === undefined || onSelect === undefined) return;
    const value = plot.posToVal(top, 'y');
    const layer = kind === 'line' ? undefined : layerAt(data.series, index, value);
    onSelect(time, layer?.name ?? null);
  });
  if (props.current.onSelect !== undefined) plot.over.style.cursor = 'pointer';
}

/** The layer of a stack that reaches a value. */
function layerAt(series: TimeChartProps['data']['series'], index: number, value: number) {
  let sum = 0;
  for (const layer of series) {
    sum += layer.values[index] ?? 0;
    if (sum >= value) return layer;
  }
  return undefined;
}
