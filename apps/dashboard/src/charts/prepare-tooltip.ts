import { NOTHING } from '../format/format-number';
import { formatStamp, zoneName } from '../format/format-time';
import { formatOf } from '../format/units';
import type { TimeChartProps } from './chart-props';
import { ghostsOf, valueBefore } from './prepare-ghost';
import { type ChartMark, describeMark, marksAt } from './prepare-marks';
import { type Series, unfinishedIndex } from './prepare-series';

export interface TooltipRow extends Pick<Series, 'name' | 'label' | 'color'> {
  readonly value: number | null;
  /** Value of the previous period; null if hidden or unknown. */
  readonly before: number | null;
}

export interface Tooltip {
  /** When, to the second where bars are so short. */
  readonly stamp: string;
  /** Number of requests behind the values; null if they are counts themselves. */
  readonly count: number | null;
  readonly rows: readonly TooltipRow[];
  /** Sum of all rows, hidden ones included; null where a sum is meaningless. */
  readonly sum: number | null;
  readonly sumBefore: number | null;
  /** Start of the bucket in the previous period; null if hidden. */
  readonly stampBefore: string | null;
  readonly marks: readonly ChartMark[];
}

const MAX_ROWS = 10;
const MINUTE_MS = 60_000;

/** Values of a bucket, with the marks near the pointer; null without one. */
export function prepareTooltip(chart: TimeChartProps, index: number, near?: readonly [number, number]): Tooltip | null {
  const { data, kind, intervalMs } = chart;
  const time = data.times[index];
  if (time === undefined) return null;
  const rows = data.series.map(({ name, label, color, values }) => ({
    ...{ name, label, color, value: values[index] ?? null, before: valueBefore(chart, name, index) },
  }));
  const isThere = (value: number | null) => value !== null && value !== 0;
  const shown = rows.filter(({ value, before }) => isThere(value) || isThere(before)).slice(0, MAX_ROWS);
  const isSoFar = unfinishedIndex(data.times, intervalMs, Date.now()) === index;
  const hasSum = kind === 'stacked' && rows.length > 1;
  const timeBefore = chart.previous?.times[index];
  return {
    stamp: `${stampOf(chart, time)}${isSoFar ? ', so far' : ''}`,
    count: data.counts?.[index] ?? null,
    rows: shown.length === 0 ? rows.slice(0, 1) : shown,
    sum: hasSum ? rows.reduce((total, { value }) => total + (value ?? 0), 0) : null,
    sumBefore: hasSum ? (ghostsOf(chart)[0]?.values[index] ?? null) : null,
    marks: marksAt(chart.marks ?? [], { fromMs: time, toMs: time + intervalMs, near }),
    stampBefore: timeBefore === undefined ? null : stampOf(chart, timeBefore),
  };
}

function stampOf({ timeZone, intervalMs }: TimeChartProps, time: number): string {
  const stamp = formatStamp(time, timeZone).slice(0, intervalMs < MINUTE_MS ? 19 : 16);
  return `${stamp} ${zoneName(timeZone)}`;
}

/** Target of a click, with the name of the series under the pointer if only its requests open. */
export function opensOf({ data, opens = 'these requests', hasOwn }: TimeChartProps, layer: string | null): string {
  const one = data.series.length > 1 && data.series.find(({ name }) => name === layer);
  return one && hasOwn?.(one.name) ? `${opens}: ${one.label}` : opens;
}

/** Format of its numbers. */
export const formatTooltip = ({ unit }: Pick<TimeChartProps, 'unit'>, { rows, sum, sumBefore }: Tooltip) =>
  formatOf(unit, [sum, sumBefore, ...rows.flatMap(({ value, before }) => [value, before])]);

/** Describes a bucket for screen readers. */
export function describeBucket(chart: TimeChartProps, index: number): string {
  const tooltip = prepareTooltip(chart, index);
  if (tooltip === null) return NOTHING;
  const format = formatTooltip(chart, tooltip);
  const say = (value: number | null, before: number | null) =>
    `${value === null ? 'no data' : format(value)}${before === null ? '' : ` (previously ${format(before)})`}`;
  const rows = tooltip.rows.map(({ label, value, before }) => `${label} ${say(value, before)}`);
  const sum = tooltip.sum === null ? [] : [`total ${say(tooltip.sum, tooltip.sumBefore)}`];
  const marks = tooltip.marks.map(describeMark);
  const count = tooltip.count === null ? '' : `, n = ${tooltip.count}`;
  return [`${tooltip.stamp}${count}: ${[...rows, ...sum].join(', ')}`, ...marks].join('. ');
}
