import { NOTHING } from '../format/format-number';
import type { Stat } from './stat-card';

interface StatSpec<T> extends Omit<Stat, 'value' | 'now' | 'before'> {
  readonly pick: (numbers: T) => number | null;
  readonly show: (value: number) => string;
}

/** Cards of numbers with the previous period; both are undefined while loading. */
export const statsOf =
  <T>(now: T | undefined, before: T | undefined) =>
  ({ pick, show, ...rest }: StatSpec<T>): Stat => {
    const of = (numbers: T | undefined) => (numbers === undefined ? null : pick(numbers));
    const value = of(now);
    return { ...rest, value: value === null ? NOTHING : show(value), now: value, before: of(before) };
  };
