import type { Page } from 'playwright-core';

declare global {
  interface HTMLCanvasElement {
    /** What was written since it was last wiped, in device pixels. */
    written?: { text: string; x: number }[];
  }
}

/** Lets a page remember what its charts write; before it is opened. */
export const watchCanvas = (page: Page) =>
  page.addInitScript(() => {
    const { fillText, clearRect } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.clearRect = function (...box) {
      if (this.canvas instanceof HTMLCanvasElement) this.canvas.written = [];
      return clearRect.apply(this, box);
    };
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
      if (this.canvas instanceof HTMLCanvasElement) this.canvas.written?.push({ text, x });
      return fillText.call(this, text, x, y);
    };
  });

/** Labels of the time axis of a chart, each with where it stands (0: the left end of the plot, 1: its right end). */
export async function timeLabels(page: Page, chart: RegExp): Promise<{ text: string; share: number }[]> {
  const found = await page.getByRole('img', { name: chart }).evaluate((frame) => {
    const canvas = frame.querySelector('canvas');
    const over = frame.querySelector('.u-over')?.getBoundingClientRect();
    if (canvas === null || over === undefined) return [];
    const box = canvas.getBoundingClientRect();
    return (canvas.written ?? []).map(({ text, x }) => ({
      text,
      share: ((x * box.width) / canvas.width + box.left - over.left) / over.width,
    }));
  });
  // Those of the other axis stand left of the plot.
  return found.filter(({ text, share }) => text !== '' && share >= -0.001);
}
