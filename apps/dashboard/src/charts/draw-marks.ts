import uPlot from 'uplot';
import { type ChartMark, MARK_KINDS, uncovered } from './prepare-marks';

const FLAG_PX = 5;

/** Draws a thin line with a flag at each mark; of marks too close to each other, the first. */
export function drawMarks(plot: uPlot, marks: readonly ChartMark[], color: (name: string) => string): void {
  const { ctx, bbox } = plot;
  const { pxRatio } = uPlot;
  const flag = FLAG_PX * pxRatio;
  const placed = marks
    .map(({ atMs, kind }) => ({ x: Math.round(plot.valToPos(atMs / 1000, 'x', true)), kind }))
    .filter(({ x }) => x >= bbox.left && x <= bbox.left + bbox.width);
  ctx.save();
  ctx.lineWidth = pxRatio;
  for (const { x, kind } of uncovered(placed, 2 * flag)) {
    ctx.strokeStyle = ctx.fillStyle = color(MARK_KINDS[kind].color);
    ctx.globalAlpha = 0.6;
    ctx.setLineDash([2 * pxRatio, 2 * pxRatio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.globalAlpha = 1;
    ctx.beginPath();
    ctx.moveTo(x - flag, bbox.top);
    ctx.lineTo(x + flag, bbox.top);
    ctx.lineTo(x, bbox.top + flag);
    ctx.fill();
  }
  ctx.restore();
}
