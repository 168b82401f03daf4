import { useEffect, useMemo, useRef, useState } from 'react';
import uPlot from 'uplot';
import { chartOptions } from './chart-options';
import type { TimeChartProps } from './chart-props';
import { ChartTooltip } from './chart-tooltip';
import { type ChartData, stackValues } from './prepare-series';

/** Draws prepared data; all charts of a page share their crosshair. */
export function TimeChart(props: TimeChartProps) {
  const { data, kind, height, label, intervalMs } = props;
  const frame = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [hover, setHover] = useState<{ index: number; left: number } | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const isDark = useIsDark();
  const shape = `${kind} ${data.series.map(({ name, color }) => `${name}${color}`).join('|')} ${props.limit} ${isDark} ${props.timeZone}`;
  const values = useMemo(() => toPlotData(data, kind, intervalMs), [data, kind, intervalMs]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the chart is built anew only when its shape changes
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const width = Math.max(200, element.clientWidth);
    const options = chartOptions({ props: latest, width, height, onHover: setHover });
    const made = new uPlot(options, values as uPlot.AlignedData, element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: Math.max(200, element.clientWidth), height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape, height]);

  useEffect(() => {
    plot.current?.setData(values as uPlot.AlignedData);
  }, [values]);

  return (
    <div className="relative" style={{ height }}>
      <div ref={frame} role="img" aria-label={label} className="absolute inset-0 overflow-hidden" />
      {hover !== null && <ChartTooltip chart={props} {...hover} />}
    </div>
  );
}

/** Seconds and values as uPlot takes them; layers from the top down, so that each fills down to the one below. */
function toPlotData(
  { times, series }: ChartData,
  kind: TimeChartProps['kind'],
  intervalMs: number,
): (readonly (number | null)[])[] {
  if (kind === 'line') return [times.map((time) => time / 1000), ...series.map(({ values }) => values)];
  // The last bucket needs an end to be as wide as the others.
  const ends = [...times, (times.at(-1) ?? 0) + intervalMs];
  const layers = stackValues(series).map((values) => [...values, values.at(-1) ?? 0]);
  return [ends.map((time) => time / 1000), ...layers.toReversed()];
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
