import { accumulate, type ChartData } from '../../charts/prepare-series';

/** Views of the same spend. */
export const VIEWS = { amounts: 'Amounts', shares: 'Shares', total: 'Running total' } as const;
export type View = keyof typeof VIEWS;

type Values = ChartData['series'][number]['values'];

const mapValues = (data: ChartData, change: (values: Values) => Values): ChartData => ({
  ...data,
  series: data.series.map((series) => ({ ...series, values: change(series.values) })),
});

/** Shares of each bucket; one without spend has none. */
export function toShares(data: ChartData): ChartData {
  const sums = data.times.map((_, index) => data.series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  return mapValues(data, (values) =>
    values.map((value, index) => {
      const sum = sums[index] ?? 0;
      return sum === 0 ? 0 : (value ?? 0) / sum;
    }),
  );
}

/** Sums since the start of the range. */
export const toRunningTotals = (data: ChartData): ChartData => mapValues(data, accumulate);

const CHANGES = {
  amounts: (data: ChartData) => data,
  shares: toShares,
  total: toRunningTotals,
} as const satisfies Record<View, (data: ChartData) => ChartData>;

export const toView = (data: ChartData | undefined, view: View): ChartData | undefined => data && CHANGES[view](data);
