import { NOTHING } from '../../format/format-number';

export const NANO_DIGITS = 9;

/** Exact nano-USD of a number from the API. */
export function toNano(usd: number): bigint {
  const [whole = '0', fraction = ''] = Math.abs(usd).toFixed(NANO_DIGITS).split('.');
  const nano = BigInt(whole + fraction);
  return usd < 0 ? -nano : nano;
}

const abs = (nano: bigint) => (nano < 0n ? -nano : nano);

/** Nano-USD of the last decimal shown. */
export const unitOf = (decimals: number) => 10n ** BigInt(NANO_DIGITS - decimals);

/** In units of the last decimal shown, half away from zero. */
export function roundTo(nano: bigint, decimals: number): bigint {
  const unit = unitOf(decimals);
  const rounded = (abs(nano) + unit / 2n) / unit;
  return nano < 0n ? -rounded : rounded;
}

export function drawUnits(units: bigint, decimals: number): string {
  const digits = abs(units)
    .toString()
    .padStart(decimals + 1, '0');
  const whole = BigInt(digits.slice(0, -decimals)).toLocaleString('en-US');
  return `${units < 0n ? '−' : ''}${whole}.${digits.slice(-decimals)}`;
}

/** Fixed decimals for any amount: `1,234.50`. */
export const formatFixed = (usd: number | null, decimals: number): string =>
  usd === null ? NOTHING : drawUnits(roundTo(toNano(usd), decimals), decimals);
