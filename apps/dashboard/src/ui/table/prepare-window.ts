/** Rows that are drawn beyond the visible ones, on either side. */
const BEYOND = 8;
/** Scrolling draws anew only after so many rows. */
export const STEP = 4;

export interface WindowQuestion {
  readonly count: number;
  readonly rowPx: number;
  /** Height above the frame's upper edge. */
  readonly scrolledPx: number;
  readonly framePx: number;
  /** Rows that are drawn wherever they are, each with its neighbors: a key steps to them. */
  readonly kept: readonly number[];
}

/** Drawn rows, or the height of rows that are left out. */
export type WindowPart =
  | { readonly from: number; readonly to: number; readonly gapPx?: undefined }
  | { readonly from: number; readonly gapPx: number };

/** The part of a long table that a reader can see, and gaps of the height of the rest. */
export function prepareWindow({ count, rowPx, scrolledPx, framePx, kept }: WindowQuestion): readonly WindowPart[] {
  const first = Math.floor(Math.max(0, scrolledPx) / rowPx / STEP) * STEP;
  const seen = { from: first - BEYOND, to: first + Math.ceil(framePx / rowPx) + STEP + BEYOND };
  const wanted = [seen, ...kept.map((at) => ({ from: at - 1, to: at + 2 }))]
    .map(({ from, to }) => ({ from: Math.max(0, from), to: Math.min(count, to) }))
    .filter(({ from, to }) => from < to)
    .sort((a, b) => a.from - b.from);
  const parts: WindowPart[] = [];
  let at = 0;
  for (const { from, to } of wanted) {
    if (to <= at) continue;
    if (from > at) parts.push({ from: at, gapPx: (from - at) * rowPx });
    parts.push({ from: Math.max(from, at), to });
    at = to;
  }
  if (at < count) parts.push({ from: at, gapPx: (count - at) * rowPx });
  return parts;
}
