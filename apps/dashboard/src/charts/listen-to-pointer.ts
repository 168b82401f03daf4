import type { RefObject } from 'react';
import type uPlot from 'uplot';
import type { TimeChartProps } from './chart-props';
import { bucketAt, layerAt } from './prepare-scale';
import { stretchBetween } from './prepare-zoom';

/** Distance before a drag starts; fingers tremble more. */
const DRAG_PX = { mouse: 5, pen: 8, touch: 12 } as const;

/**
 * A drag zooms into the buckets under it. A click leads to the requests of a bucket (and of the layer under the pointer); a
 * first touch only shows its values.
 */
export function listenToPointer(plot: uPlot, props: RefObject<TimeChartProps>): void {
  const hasDragged = listenToDrags(plot, props);
  let isTouch = false;
  let shown: number | undefined;
  plot.over.addEventListener('pointerdown', ({ pointerType }) => {
    isTouch = pointerType === 'touch';
  });
  plot.over.addEventListener('click', () => {
    if (hasDragged()) return;
    const { data, onSelect } = props.current;
    const time = data.times[bucketUnder(plot, props.current) ?? -1];
    if (time === undefined || onSelect === undefined) return;
    const isFirstTouch = isTouch && shown !== time;
    shown = time;
    if (isFirstTouch) return;
    onSelect(time, layerUnder(plot, props.current));
  });
  plot.over.style.cursor = props.current.onSelect === undefined ? 'crosshair' : 'pointer';
}

/** Returns a function that tells if a click ends a drag. */
function listenToDrags(plot: uPlot, props: RefObject<TimeChartProps>): () => boolean {
  const { over } = plot;
  let startedAt: number | null = null;
  let isDragging = false;
  const offset = (event: PointerEvent) =>
    Math.min(over.clientWidth, Math.max(0, event.clientX - over.getBoundingClientRect().left));
  const end = () => {
    startedAt = null;
    hideSelection(plot);
  };
  over.addEventListener('pointerdown', (event) => {
    isDragging = false;
    startedAt = event.button === 0 && event.isPrimary && props.current.onZoom !== undefined ? offset(event) : null;
  });
  over.addEventListener('pointermove', (event) => {
    if (startedAt === null) return;
    const at = offset(event);
    const far = DRAG_PX[event.pointerType as keyof typeof DRAG_PX] ?? DRAG_PX.mouse;
    if (!isDragging && Math.abs(at - startedAt) < far) return;
    if (!isDragging) over.setPointerCapture(event.pointerId);
    isDragging = true;
    showSelection(plot, startedAt, at);
  });
  over.addEventListener('pointerup', (event) => {
    const from = startedAt;
    end();
    if (from === null || !isDragging) return;
    const [one, other] = [from, offset(event)].map((px) => plot.posToVal(px, 'x') * 1000);
    const { fromMs, toMs } = stretchBetween(one ?? 0, other ?? 0, props.current.intervalMs);
    props.current.onZoom?.(fromMs, toMs);
  });
  over.addEventListener('pointercancel', end);
  // A finger that moves sideways selects; up and down it scrolls the page.
  if (props.current.onZoom !== undefined) over.style.touchAction = 'pan-y pinch-zoom';
  return () => isDragging;
}

const SELECTION = 'chart-selection';

/** Marks the range of a zoom, in CSS pixels. The library's own mark vanishes with every move. */
export function showSelection(plot: uPlot, one: number, other: number): void {
  hideSelection(plot);
  const mark = document.createElement('div');
  mark.className = SELECTION;
  mark.style.left = `${Math.min(one, other)}px`;
  mark.style.width = `${Math.abs(one - other)}px`;
  plot.over.append(mark);
}

export const hideSelection = (plot: uPlot): void => plot.over.querySelector(`.${SELECTION}`)?.remove();

/** Bucket under the cursor; null for none. */
export function bucketUnder(plot: uPlot, { data }: Pick<TimeChartProps, 'data'>): number | null {
  const { left = -1 } = plot.cursor;
  return left < 0 ? null : bucketAt(data, plot.posToVal(left, 'x') * 1000);
}

/** Name of the layer under the cursor; null above the stack, and for lines. */
export function layerUnder(plot: uPlot, chart: TimeChartProps): string | null {
  const index = bucketUnder(plot, chart);
  if (chart.kind === 'line' || index === null) return null;
  return layerAt(chart.data.series, index, plot.posToVal(plot.cursor.top ?? 0, 'y'))?.name ?? null;
}
