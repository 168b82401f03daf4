import { type KeyboardEvent, type RefObject, useEffect, useId, useState } from 'react';
import type uPlot from 'uplot';
import type { TimeChartProps } from './chart-props';
import { hideSelection, showSelection } from './listen-to-pointer';
import { describeBucket } from './prepare-tooltip';
import { type KeyPlace, moveByKey, selectedStretch } from './prepare-zoom';

interface Props {
  readonly chart: TimeChartProps;
  readonly plot: RefObject<uPlot | null>;
}

/** A chart by keyboard: arrows move the cross-hair, with Shift they select; Enter zooms in, or asks for the requests. */
export function ChartKeys({ chart, plot }: Props) {
  const { times } = chart.data;
  const hintId = useId();
  const [place, setPlace] = useState<KeyPlace | null>(null);
  const now = place !== null && place.index < times.length ? place : { index: times.length - 1, anchor: null };
  const show = (next: KeyPlace | null) => {
    setPlace(next);
    if (plot.current !== null) drawPlace(plot.current, chart, next);
  };
  // A chart that was drawn anew knows of no place.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when what is shown changes
  useEffect(() => setPlace(null), [times.length, times[0]]);
  const onKeyDown = (event: KeyboardEvent) => {
    const next = event.ctrlKey || event.metaKey || event.altKey ? null : moveByKey(now, event, times.length);
    if (next !== null) show(next);
    else if (event.key === 'Enter') confirm(chart, now);
    else if (event.key === 'Escape' && place !== null) show(null);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <div
        role="slider"
        tabIndex={0}
        aria-label={`${chart.title}: point in time`}
        aria-orientation="horizontal"
        aria-valuemin={0}
        aria-valuemax={Math.max(0, times.length - 1)}
        aria-valuenow={now.index}
        aria-valuetext={describeBucket(chart, now.index)}
        aria-describedby={hintId}
        onKeyDown={onKeyDown}
        onBlur={() => place !== null && show(null)}
        className="pointer-events-none absolute inset-0 rounded"
      />
      <span id={hintId} className="sr-only">
        {hintOf(chart)}
      </span>
    </>
  );
}

/** Key hints for sighted and screen reader users. */
export const hintOf = ({ onZoom, onSelect }: TimeChartProps): string =>
  [
    'Use the arrow keys to move.',
    onZoom && 'Hold Shift to select a range, then press Enter to zoom in.',
    onSelect && 'Press Enter to see the requests.',
  ]
    .filter(Boolean)
    .join(' ');

function confirm({ data, intervalMs, onZoom, onSelect }: TimeChartProps, place: KeyPlace): void {
  const { fromMs, toMs } = selectedStretch(data.times, place, intervalMs);
  if (place.anchor !== null) onZoom?.(fromMs, toMs);
  else onSelect?.(fromMs, data.series.length === 1 ? (data.series[0]?.name ?? null) : null);
}

/** Cross-hair in the middle of a bucket; a selection covers whole buckets. */
function drawPlace(plot: uPlot, chart: TimeChartProps, place: KeyPlace | null): void {
  hideSelection(plot);
  if (place === null) {
    plot.setCursor({ left: -10, top: -10 });
    return;
  }
  const { data, intervalMs } = chart;
  const x = (ms: number) => plot.valToPos(ms / 1000, 'x');
  const start = data.times[place.index] ?? 0;
  plot.setCursor({ left: x(start + intervalMs / 2), top: plot.over.clientHeight / 2 });
  if (place.anchor === null || chart.onZoom === undefined) return;
  const { fromMs, toMs } = selectedStretch(data.times, place, intervalMs);
  showSelection(plot, x(fromMs), Math.min(plot.over.clientWidth, x(toMs)));
}
