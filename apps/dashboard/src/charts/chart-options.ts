import type { RefObject } from 'react';
import uPlot from 'uplot';
import { formatClock, formatDay } from '../format/format-time';
import { UNITS } from '../format/units';
import type { TimeChartProps } from './chart-props';
import { type Series, unfinishedIndex } from './prepare-series';

const DAY_MS = 86_400_000;
const AXIS_FONT = '11px "Inter Variable", system-ui, sans-serif';
/** Charts below each other begin at the same place, unless a label is wider than that. */
const Y_AXIS_WIDTH = 58;
const AXIS_GAP = 6;
const LINE_WIDTH = 1.5;
/** How much of a bar that is still filling is covered. */
const FADED = 0.6;

export interface ChartOptionsInput {
  readonly props: RefObject<TimeChartProps>;
  readonly width: number;
  readonly height: number;
  readonly onHover: (at: { index: number; left: number } | null) => void;
}

/** How uPlot draws a chart: thin lines, quiet axes, no animation. */
export function chartOptions({ props, width, height, onHover }: ChartOptionsInput): uPlot.Options {
  const { data, kind, limit } = props.current;
  const drawn = kind === 'stacked' ? data.series.toReversed() : data.series;
  const unfinished = () => unfinishedIndex(props.current.data.times, props.current.intervalMs, Date.now());
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
    axes: axesOf(props),
    series: [{}, ...(kind === 'stacked' ? drawn.map(layerOf) : drawn.map((series) => lineOf(series, unfinished)))],
    bands: kind === 'stacked' ? drawn.slice(1).map((_, index) => ({ series: [index + 1, index + 2] })) : [],
    hooks: {
      setCursor: [(plot) => onHover(hoverAt(plot, props.current.data.times.length - 1))],
      drawSeries: [(plot, index) => kind === 'line' && drawUnfinishedLine(plot, index, unfinished())],
      draw: [
        (plot) => kind === 'stacked' && fadeUnfinishedBar(plot, unfinished(), color('--c-panel')),
        (plot) => drawLimit(plot, limit, color('--c-bad')),
      ],
      ready: [(plot) => listen(plot, props)],
    },
  };
}

const color = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function axesOf(props: RefObject<TimeChartProps>): uPlot.Axis[] {
  const axis = { stroke: color('--c-faint'), font: AXIS_FONT, ticks: { show: false }, gap: AXIS_GAP };
  return [
    {
      ...axis,
      grid: { show: false },
      size: 24,
      space: 70,
      values: (plot, splits) =>
        splits.map((second) => unlessCut(plot, second, timeLabel(second * 1000, props.current))),
    },
    {
      ...axis,
      size: yAxisWidth,
      space: 34,
      grid: { stroke: color('--c-line'), width: 1 },
      values: (_, splits) => splits.map((value) => UNITS[props.current.unit].short(value)),
    },
  ];
}

const layerOf = ({ label, color: stroke }: Series): uPlot.Series => ({
  ...{ label, stroke, fill: stroke, width: 0, spanGaps: false },
  paths: uPlot.paths.stepped?.({ align: 1 }),
  points: { show: false, size: 4 },
});

const lineOf = ({ label, color: stroke }: Series, unfinished: () => number | null): uPlot.Series => ({
  ...{ label, stroke, width: LINE_WIDTH, spanGaps: false },
  paths: finishedLine(unfinished),
  points: { show: isAlone, size: 4 },
});

function yRange(max: number | null, limit: number | undefined): [number, number] {
  const top = Math.max(max ?? 0, limit ?? 0);
  return [0, top === 0 ? 1 : top * 1.08];
}

/** Labels stand below the middle of their time: at the end of the axis there may be no room for one. */
function unlessCut(plot: uPlot, second: number, label: string): string {
  const [width = 0] = measureLabels(plot, [label]);
  const middle = plot.bbox.left / uPlot.pxRatio + plot.valToPos(second, 'x');
  return middle + width / 2 > plot.width ? '' : label;
}

/** In CSS pixels. */
function measureLabels({ ctx }: uPlot, labels: readonly string[]): readonly number[] {
  ctx.save();
  ctx.font = AXIS_FONT;
  const widths = labels.map((label) => Math.ceil(ctx.measureText(label).width));
  ctx.restore();
  return widths;
}

/** `labels` are missing while the scale is not known yet. */
function yAxisWidth(plot: uPlot, labels: readonly string[] | null): number {
  const widths = measureLabels(plot, labels ?? []);
  return Math.max(Y_AXIS_WIDTH, ...widths.map((width) => width + 2 * AXIS_GAP));
}

/** Points between two gaps would be invisible as a line. */
function isAlone(plot: uPlot, seriesIndex: number): boolean {
  const values = plot.data[seriesIndex] ?? [];
  return values.filter((value) => value !== null).length <= 2;
}

/** Layers have one point more than there are buckets: the end of the last one. */
function hoverAt(plot: uPlot, lastIndex: number) {
  const { idx, left = -1 } = plot.cursor;
  if (idx === null || idx === undefined || left < 0) return null;
  return { index: Math.min(idx, lastIndex), left: left + plot.over.offsetLeft };
}

function timeLabel(ms: number, { data, timeZone }: TimeChartProps): string {
  const { times } = data;
  const lengthMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
  if (lengthMs > 3 * DAY_MS) return formatDay(ms, timeZone);
  const clock = formatClock(ms, timeZone);
  return clock === '00:00' ? formatDay(ms, timeZone) : clock;
}

/** A line without its way to the bucket that is still filling: that is drawn dotted. */
function finishedLine(unfinished: () => number | null): uPlot.Series.PathBuilder | undefined {
  const linear = uPlot.paths.linear?.();
  return linear && ((plot, series, from, to) => linear(plot, series, from, Math.min(to, (unfinished() ?? to + 1) - 1)));
}

function drawUnfinishedLine(plot: uPlot, seriesIndex: number, index: number | null): void {
  const values = plot.data[seriesIndex] ?? [];
  const [before, value] = index === null ? [] : [values[index - 1], values[index]];
  if (index === null || typeof before !== 'number' || typeof value !== 'number') return;
  const x = (at: number) => plot.valToPos(plot.data[0][at] ?? 0, 'x', true);
  const y = (amount: number) => plot.valToPos(amount, 'y', true);
  const { ctx } = plot;
  const stroke = plot.series[seriesIndex]?.stroke;
  ctx.save();
  ctx.strokeStyle = (typeof stroke === 'function' ? stroke(plot, seriesIndex) : stroke) ?? '';
  ctx.lineWidth = LINE_WIDTH * uPlot.pxRatio;
  ctx.setLineDash([2 * uPlot.pxRatio, 3 * uPlot.pxRatio]);
  ctx.beginPath();
  ctx.moveTo(x(index - 1), y(before));
  ctx.lineTo(x(index), y(value));
  ctx.stroke();
  ctx.restore();
}

/** The bar of the bucket that is still filling is lighter than the others. */
function fadeUnfinishedBar(plot: uPlot, index: number | null, background: string): void {
  const [start, end] = index === null ? [] : [plot.data[0][index], plot.data[0][index + 1]];
  const top = index === null ? null : plot.data[1]?.[index];
  if (start === undefined || end === undefined || typeof top !== 'number') return;
  const { ctx } = plot;
  const [left, right] = [plot.valToPos(start, 'x', true), plot.valToPos(end, 'x', true)];
  const [high, low] = [plot.valToPos(top, 'y', true), plot.valToPos(0, 'y', true)];
  ctx.save();
  ctx.globalAlpha = FADED;
  ctx.fillStyle = background;
  // A pixel more: the edge of the layer is drawn on both sides of its top.
  ctx.fillRect(left, high - uPlot.pxRatio, right - left, low - high + uPlot.pxRatio);
  ctx.restore();
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
