import { UNITS, type Unit } from '../format/units';

const COUNTS: ReadonlySet<Unit> = new Set<Unit>(['count', 'compact']);
const MAX_POWER = 15;
const WHOLE_STEPS = Array.from({ length: MAX_POWER }, (_, power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
).flat();
const CENTS = 2;
const MOST_DECIMALS = 9;
const SHORT_FROM_USD = 1000;

/** Steps of a value axis: whole ones for counts; undefined: those of the chart library. */
export const axisSteps = (unit: Unit): number[] | undefined => (COUNTS.has(unit) ? WHOLE_STEPS : undefined);

/** Labels of a value axis: one unit, and as many decimals, for all. */
export function axisLabels(unit: Unit, ticks: readonly number[]): string[] {
  const top = Math.max(0, ...ticks.map(Math.abs));
  if (unit === 'usd' && top < SHORT_FROM_USD && ticks.some((usd) => !Number.isInteger(usd))) {
    const decimals = Math.max(CENTS, ...ticks.map(decimalsOf));
    return ticks.map((usd) => `$${usd.toFixed(decimals)}`);
  }
  if (unit === 'ms' && top >= 1000)
    return ticks.map((ms) => (ms === 0 ? '0' : `${Number((ms / 1000).toPrecision(3))} s`));
  return ticks.map(UNITS[unit].short);
}

const decimalsOf = (value: number) =>
  Number(value.toFixed(MOST_DECIMALS)).toString().includes('e')
    ? MOST_DECIMALS
    : (Number(value.toFixed(MOST_DECIMALS)).toString().split('.')[1]?.length ?? 0);
