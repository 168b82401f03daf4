import uPlot from 'uplot';
import { type ChartMark, MARK_KINDS } from './prepare-marks';

const FLAG_PX = 5;

/** Draws a thin line with a flag at each mark; merges marks at one position. */
export function drawMarks(plot: uPlot, marks: readonly ChartMark[], color: (name: string) => string): void {
  const { ctx, bbox } = plot;
  const { pxRatio } = uPlot;
  const drawn = new Set<number>();
  ctx.save();
  ctx.lineWidth = pxRatio;
  for (const { atMs, kind } of marks) {
    const x = Math.round(plot.valToPos(atMs / 1000, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width || drawn.has(x)) continue;
    drawn.add(x);
    ctx.strokeStyle = ctx.fillStyle = color(MARK_KINDS[kind].color);
    ctx.globalAlpha = 0.6;
    ctx.setLineDash([2 * pxRatio, 2 * pxRatio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.globalAlpha = 1;
    const flag = FLAG_PX * pxRatio;
    ctx.beginPath();
    ctx.moveTo(x - flag, bbox.top);
    ctx.lineTo(x + flag, bbox.top);
    ctx.lineTo(x, bbox.top + flag);
    ctx.fill();
  }
  ctx.restore();
}
