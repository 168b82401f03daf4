import { formatUsdExact } from '../../format/format-usd';
import { type FieldSpec, type FormValues, readUsd } from '../forms/prepare-form';

type Understood = NonNullable<FieldSpec['understood']>;

/** `$5.00 a day`. */
export const per = (period: string) => (usd: unknown) => `${formatUsdExact(Number(usd))} ${period}`;

interface Longer {
  /** Field of a limit for a longer time. */
  readonly name: string;
  /** As the hint calls it. */
  readonly label: string;
  /** Most stretches of the longer time that one of the shorter time touches: a week can touch two months. */
  readonly touched?: number;
}

/** An amount for a time, and whether a limit for a longer time is always reached first. */
export const perWithin =
  (period: string, longer: (values: FormValues) => readonly Longer[]): Understood =>
  (usd, values) => {
    const first = longer(values).find(({ name, touched = 1 }) => Number(usd) > touched * usdOf(values[name]));
    const warning = first === undefined ? '' : `. No effect: the ${first.label} is lower and reached first.`;
    return `${per(period)(usd)}${warning}`;
  };

/** NaN, which nothing exceeds, for an empty field or a wrong one. */
function usdOf(value: FormValues[string] | undefined): number {
  try {
    return Number(readUsd(String(value ?? '').trim()));
  } catch {
    return Number.NaN;
  }
}
