import uPlot from 'uplot';
import { coveringOf, splitFew } from './prepare-scale';
import type { ChartData } from './prepare-series';

const RADIUS_PX = 1.75;
const RIM_PX = 1.5;
const RING_PX = 1.25;

/** Draws values of few measurements as dots, the first series on top. One below others has a rim around them. */
export function drawDots(plot: uPlot, { series, counts }: ChartData): void {
  const { ctx } = plot;
  const { pxRatio } = uPlot;
  const dots = series.map(({ values }) => splitFew(values, counts).dots);
  ctx.save();
  ctx.lineWidth = RING_PX * pxRatio;
  for (const [at, second] of plot.data[0].entries()) {
    const x = plot.valToPos(second, 'x', true);
    const places = dots.map((values) => {
      const value = values[at] ?? null;
      return value === null ? null : plot.valToPos(value, 'y', true);
    });
    for (const [index, y] of [...places.entries()].reverse()) {
      if (y === null) continue;
      const { color = '', hasRings = false } = series[index] ?? {};
      const rims = coveringOf(places, index, RADIUS_PX * pxRatio);
      ctx.fillStyle = color;
      ctx.strokeStyle = color;
      ctx.beginPath();
      ctx.arc(x, y, (RADIUS_PX + rims * RIM_PX) * pxRatio, 0, 2 * Math.PI);
      if (hasRings) ctx.stroke();
      else ctx.fill();
    }
  }
  ctx.restore();
}
