import type { TimeChartProps } from './chart-props';
import { ENOUGH } from './prepare-scale';
import { type ChartData, type Series, stackValues } from './prepare-series';

type Chart = Pick<TimeChartProps, 'data' | 'previous' | 'kind'>;

export const BEFORE = 'Previous period';

/** Series of the previous period: the sum of stacked layers, or the visible lines. Empty while off. */
export function ghostsOf({ data, previous, kind }: Chart): readonly Series[] {
  if (previous === undefined) return [];
  const cut = (values: Series['values']) => data.times.map((_, index) => values[index] ?? null);
  if (kind === 'line') {
    return data.series.map((series) => ({ ...series, values: cut(valuesOf(previous, series.name)) }));
  }
  const sums = stackValues(previous.series).at(-1) ?? [];
  return [{ name: '', label: BEFORE, color: '', values: data.times.map((_, index) => sums[index] ?? 0) }];
}

/** Highest value that a scale of lines must hold. Earlier values of few requests may leave it: they would flatten the rest. */
export function highestLine({ data, previous }: Pick<Chart, 'data' | 'previous'>): number {
  const isMeant = (index: number) => (previous?.counts?.[index] ?? ENOUGH) >= ENOUGH;
  const earlier = ghostsOf({ data, previous, kind: 'line' }).flatMap(({ values }) =>
    values.filter((_, index) => isMeant(index)),
  );
  return Math.max(0, ...[...data.series.flatMap(({ values }) => values), ...earlier].map((value) => value ?? 0));
}

const valuesOf = (previous: ChartData, name: string): Series['values'] =>
  previous.series.find((one) => one.name === name)?.values ?? [];

/** Value of the same bucket in the previous period; null if unknown. */
export function valueBefore({ previous, kind }: Chart, name: string, index: number): number | null {
  if (previous === undefined) return null;
  const value = valuesOf(previous, name)[index] ?? null;
  // A stacked count without a value is zero.
  return value === null && kind === 'stacked' ? 0 : value;
}
