import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import { ChartKeys } from './chart-keys';
import { chartOptions, type Hover } from './chart-options';
import type { TimeChartProps } from './chart-props';
import { ChartTooltip } from './chart-tooltip';
import { ghostsOf } from './prepare-ghost';
import { middleOf, splitFew } from './prepare-scale';
import { stackValues } from './prepare-series';

/** Draws prepared data; all charts of a page share their crosshair. */
export function TimeChart(props: TimeChartProps) {
  const { data, kind, height, label, intervalMs, previous } = props;
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const pointed = useRef<Point | null>(null);
  const [hover, setHover] = useState<Hover | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const isDark = useIsDark();
  const shape = `${kind} ${data.series.map(({ name, color }) => `${name}${color}`).join('|')} ${props.limit} ${isDark} ${props.timeZone} ${ghostsOf(props).length} ${data.counts !== undefined}`;
  const values = useMemo(() => toPlotData({ data, previous, kind, intervalMs }), [data, previous, kind, intervalMs]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the chart is built anew only when its shape changes
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const width = Math.max(200, element.clientWidth);
    const options = chartOptions({ props: latest, width, height, onHover: setHover });
    const made = new uPlot(options, values as uPlot.AlignedData, element);
    plot.current = made;
    // A resting pointer causes no move events, so set its place again.
    if (pointed.current !== null) made.setCursor(pointed.current);
    const observer = new ResizeObserver(() => made.setSize({ width: Math.max(200, element.clientWidth), height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      pointed.current = pointedAt(made);
      made.destroy();
      plot.current = null;
    };
  }, [shape, height]);

  useEffect(() => {
    plot.current?.setData(values as uPlot.AlignedData);
  }, [values]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: marks are drawn from the latest properties
  useEffect(() => {
    plot.current?.redraw(false);
  }, [props.marks]);

  return (
    <div className="relative" style={{ height }}>
      <div ref={frame} role="img" aria-label={label} className="absolute inset-0 overflow-hidden" />
      <ChartKeys chart={props} plot={plot} />
      {hover !== null && <ChartTooltip chart={props} {...hover} />}
    </div>
  );
}

/** Seconds and values as uPlot takes them; layers from the top down, so that each fills down to the one below. */
function toPlotData(
  chart: Pick<TimeChartProps, 'data' | 'previous' | 'kind' | 'intervalMs'>,
): (readonly (number | null)[])[] {
  const { times, series, counts } = chart.data;
  const ghosts = ghostsOf(chart).map(({ values }) => values);
  if (chart.kind === 'line') {
    const split = series.map(({ values }) => splitFew(values, counts));
    const few = counts === undefined ? [] : split.map(({ thin }) => thin);
    const middles = times.map((time) => middleOf(time, chart.intervalMs));
    return [middles, ...split.map(({ line }) => line), ...ghosts, ...few];
  }
  // The last bucket needs an end to be as wide as the others.
  const ends = [...times, (times.at(-1) ?? 0) + chart.intervalMs];
  const widened = (values: readonly (number | null)[]) => [...values, values.at(-1) ?? 0];
  return [ends.map((time) => time / 1000), ...stackValues(series).map(widened).toReversed(), ...ghosts.map(widened)];
}

type Point = { readonly left: number; readonly top: number };

function pointedAt({ cursor: { left = -1, top = -1 } }: uPlot): Point | null {
  return left < 0 ? null : { left, top };
}

const isDarkNow = () => document.documentElement.dataset.theme === 'dark';

function useIsDark(): boolean {
  const [isDark, setIsDark] = useState(isDarkNow);
  useEffect(() => {
    const observer = new MutationObserver(() => setIsDark(isDarkNow()));
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => observer.disconnect();
  }, []);
  return isDark;
}
