/** A row of small bars: SVG paths in pixels. */
export interface Spark {
  readonly bars: string;
  /** The last bar, which is not over yet. */
  readonly last: string;
  /** Parts of the bars that are marked, such as failures; from the bottom. */
  readonly marks: string;
}

export const SPARK = { width: 84, height: 20 } as const;
const GAP = 1.5;
/** Any amount can be seen. */
const LEAST = 1.5;

interface Values {
  readonly values: readonly number[];
  readonly marked?: readonly number[];
}

/** Bars on a scale of their own: the largest value is as high as the row. */
export function prepareSpark({ values, marked = [] }: Values): Spark {
  const most = Math.max(0, ...values);
  const pitch = SPARK.width / Math.max(1, values.length);
  const bar = (value: number, index: number) => {
    if (value <= 0 || most === 0) return '';
    const height = Math.max(LEAST, (value / most) * SPARK.height);
    return `M${round(index * pitch)} ${SPARK.height}v${-round(height)}h${round(pitch - GAP)}v${round(height)}z`;
  };
  const paths = values.map(bar);
  return {
    bars: paths.slice(0, -1).join(''),
    last: paths.at(-1) ?? '',
    marks: marked.map((value, index) => bar(Math.min(value, values[index] ?? 0), index)).join(''),
  };
}

const round = (value: number) => Math.round(value * 100) / 100;
