import type { RefObject } from 'react';
import uPlot from 'uplot';
import type { TimeZoneChoice } from '../format/format-time';
import type { TimeChartProps } from './chart-props';
import { drawDots } from './draw-dots';
import { drawMarks } from './draw-marks';
import { bucketUnder, layerUnder, listenToPointer } from './listen-to-pointer';
import { ghostsOf, highestLine } from './prepare-ghost';
import { middleOf, timeScale } from './prepare-scale';
import { isolatedIndexes, type Series, unfinishedIndex } from './prepare-series';
import { axisLabels, axisSpace, axisSteps, offsetOf, prepareTicks, timeLabel } from './prepare-ticks';

const AXIS_FONT = '11px "Inter Variable", system-ui, sans-serif';
/** Charts below each other begin at the same place, unless a label is wider than that. */
const Y_AXIS_WIDTH = 58;
const AXIS_GAP = 6;
/** Distance within which the pointer selects a mark. */
const NEAR_PX = 6;
const LINE_WIDTH = 1.5;
/** Covered part of the current bar. */
const FADED = 0.6;

/** The bucket that is pointed at, its point (CSS pixels), and the time that is next to it. */
export interface Hover {
  readonly index: number;
  readonly left: number;
  readonly top: number;
  /** Chart width. */
  readonly width: number;
  readonly near: readonly [number, number];
  /** Name of the layer under the pointer; null for none, and in the other charts of the page. */
  readonly layer: string | null;
}

export interface ChartOptionsInput {
  readonly props: RefObject<TimeChartProps>;
  readonly width: number;
  readonly height: number;
  readonly onHover: (at: Hover | null) => void;
}

/** uPlot options: thin lines, quiet axes, no animation. */
export function chartOptions({ props, width, height, onHover }: ChartOptionsInput): uPlot.Options {
  const { data, kind, limit } = props.current;
  const drawn = kind === 'stacked' ? data.series.toReversed() : data.series;
  const unfinished = () => unfinishedIndex(props.current.data.times, props.current.intervalMs, Date.now());
  return {
    width,
    height,
    padding: [8, 4, 0, 0],
    legend: { show: false },
    select: { show: false, left: 0, top: 0, width: 0, height: 0 },
    cursor: {
      sync: { key: 'page', setSeries: false },
      points: { show: kind === 'line', size: 6 },
      drag: { x: false, y: false },
      y: false,
    },
    scales: {
      x: { time: true, range: () => timeScale({ ...props.current, ...props.current.data }) },
      y: { range: (_, __, max) => yRange(kind === 'line' ? highestLine(props.current) : max, limit) },
    },
    axes: axesOf(props),
    series: [
      {},
      ...(kind === 'stacked' ? drawn.map(layerOf) : drawn.map((series) => lineOf(series, unfinished))),
      ...ghostsOf(props.current).map((series) => ghostOf(series, kind)),
      ...(data.counts === undefined ? [] : drawn.map((one) => thinOf(one, unfinished))),
    ],
    bands: kind === 'stacked' ? drawn.slice(1).map((_, index) => ({ series: [index + 1, index + 2] })) : [],
    hooks: {
      setCursor: [(plot) => onHover(hoverAt(plot, props.current))],
      drawSeries: [
        (plot, index) => kind === 'line' && index <= drawn.length && drawUnfinishedLine(plot, index, unfinished()),
      ],
      draw: [
        (plot) => kind === 'stacked' && fadeUnfinishedBar(plot, unfinished(), color('--c-panel')),
        (plot) => kind === 'line' && drawDots(plot, props.current.data),
        (plot) => drawMarks(plot, props.current.marks ?? [], color),
        (plot) => drawLimit(plot, limit, color('--c-bad')),
      ],
      ready: [(plot) => listenToPointer(plot, props)],
    },
  };
}

/** A color of the theme. With forced colors it is one of the system's, by a name that a canvas may not know. */
function color(name: string): string {
  const value = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return value.startsWith('#') ? value : systemColor(value);
}

function systemColor(name: string): string {
  const probe = document.createElement('span');
  probe.style.color = name;
  document.body.append(probe);
  const { color: shown } = getComputedStyle(probe);
  probe.remove();
  return shown;
}

function axesOf(props: RefObject<TimeChartProps>): uPlot.Axis[] {
  const axis = { stroke: color('--c-faint'), font: AXIS_FONT, ticks: { show: false }, gap: AXIS_GAP };
  return [
    {
      ...axis,
      grid: { show: false },
      size: 24,
      space: 70,
      splits: (_, __, from, to, step) => timeTicks(from, to, step, props.current.timeZone),
      values: (plot, splits, _, __, step) =>
        splits.map((second) => unlessCut(plot, second, timeLabel(second * 1000, props.current.timeZone, step * 1000))),
    },
    {
      ...axis,
      size: yAxisWidth,
      space: (_, __, ___, ____, height) => axisSpace(height),
      grid: { stroke: color('--c-line'), width: 1 },
      incrs: axisSteps(props.current.unit),
      values: (_, splits) => axisLabels(props.current.unit, splits),
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
  // Between two gaps there is no line to be seen.
  points: { show: false, filter: (plot, index) => [...isolatedIndexes(plot.data[index] ?? [])], size: 5, fill: stroke },
});

/** Joins values of few measurements with their neighbors, across gaps. */
const thinOf = ({ label, color: stroke }: Series, unfinished: () => number | null): uPlot.Series => ({
  ...{ label, stroke, width: 1, alpha: 0.45, spanGaps: true },
  paths: finishedLine(unfinished),
  points: { show: false },
});

/** Previous period: faint and dashed, steps above bars, lines beside lines. */
const ghostOf = ({ label, color: stroke }: Series, kind: TimeChartProps['kind']): uPlot.Series => ({
  ...{ label, stroke: kind === 'stacked' ? color('--c-text') : stroke, alpha: kind === 'stacked' ? 0.55 : 0.5 },
  ...{ width: 1, dash: [3, 3], spanGaps: false },
  paths: kind === 'stacked' ? uPlot.paths.stepped?.({ align: 1 }) : uPlot.paths.linear?.(),
  points: { show: false },
});

function yRange(max: number | null, limit: number | undefined): [number, number] {
  const top = Math.max(max ?? 0, limit ?? 0);
  return [0, top === 0 ? 1 : top * 1.08];
}

/** Labels are centred below their time; one at the end of the axis may have no room. */
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

/** Highest drawn value of a bucket. */
function topOf({ data, kind }: TimeChartProps, index: number): number {
  const values = data.series.map((series) => series.values[index] ?? 0);
  return kind === 'stacked' ? values.reduce((sum, value) => sum + value, 0) : Math.max(0, ...values);
}

function hoverAt(plot: uPlot, chart: TimeChartProps): Hover | null {
  const index = bucketUnder(plot, chart);
  if (index === null) return null;
  const { left = 0 } = plot.cursor;
  const timeAt = (px: number) => plot.posToVal(px, 'x') * 1000;
  return {
    index,
    left: plot.valToPos(middleOf(chart.data.times[index] ?? 0, chart.intervalMs), 'x') + plot.over.offsetLeft,
    top: Math.max(0, plot.valToPos(topOf(chart, index), 'y')),
    width: plot.width,
    near: [timeAt(left - NEAR_PX), timeAt(left + NEAR_PX)],
    layer: plot.over.matches(':hover') ? layerUnder(plot, chart) : null,
  };
}

/** All in seconds, as the library has it. */
function timeTicks(from: number, to: number, step: number, timeZone: TimeZoneChoice): number[] {
  return prepareTicks({ fromMs: from * 1000, toMs: to * 1000, stepMs: step * 1000, offsetAt: offsetOf(timeZone) }).map(
    (ms) => ms / 1000,
  );
}

/** A line without its segment to the unfinished bucket, which is dotted. */
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
