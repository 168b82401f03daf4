/** Amounts from here are short: `$2.5M`. */
const SHORT_FROM = 100_000;
/** Rounds to a dollar. */
const DOLLAR = 0.99995;
const CENT = 0.01;
/** Four decimals have two digits of such an amount. */
const TENTH_OF_CENT = 0.001;
const CENTS = 2;
const PARTS = 4;
const NANO = 9;

/**
 * USD for people, never in exponent form: cents from a dollar on, and for whole cents. Four decimals below a dollar, or
 * as many as two digits need.
 */
export function formatUsd(usd: number): string {
  const size = Math.abs(usd);
  if (size >= SHORT_FROM) return `${usd < 0 ? '−' : ''}$${compact(size)}`;
  if (size >= DOLLAR || isWholeCents(size)) return formatPlaces(usd, CENTS);
  if (size >= TENTH_OF_CENT) return formatPlaces(usd, PARTS);
  return formatPlaces(usd, Math.min(NANO, 1 - Math.floor(Math.log10(size))));
}

/** In nano-USD, which are exact. */
const isWholeCents = (size: number) => Math.round(size * 1e9) % 1e7 === 0;

/** Formats sums beside each other: cents where one is a dollar or more. Sums too small for that stay as they are. */
export function formatBeside(sums: readonly number[]): (usd: number) => string {
  const sizes = sums.map(Math.abs);
  const hasDollars = sizes.some((size) => size >= DOLLAR);
  const hasParts = sizes.some((size) => size >= TENTH_OF_CENT && !isWholeCents(size));
  const [places, least] = hasDollars || !hasParts ? [CENTS, CENT] : [PARTS, TENTH_OF_CENT];
  return (usd) => {
    const size = Math.abs(usd);
    return size < least || size >= SHORT_FROM ? formatUsd(usd) : formatPlaces(usd, places);
  };
}

function formatPlaces(usd: number, places: number): string {
  const digits = { minimumFractionDigits: places, maximumFractionDigits: places };
  return `${usd < 0 ? '−' : ''}$${Math.abs(usd).toLocaleString('en-US', digits)}`;
}

export function formatCents(usd: number): string {
  const size = Math.abs(usd);
  if (size > 0 && size < 0.005) return usd < 0 ? '>−$0.01' : '<$0.01';
  return formatPlaces(usd, 2);
}

/** Every decimal there is (at most 9). */
export function formatUsdExact(usd: number): string {
  const sign = usd < 0 ? '−' : '';
  const text = Math.abs(usd).toFixed(9);
  const [whole = '0', fraction = ''] = text.split('.');
  const digits = fraction.replace(/0+$/, '').padEnd(2, '0');
  return `${sign}$${Number(whole).toLocaleString('en-US')}.${digits}`;
}

/** For axes: short. */
export function formatUsdShort(usd: number): string {
  if (usd === 0) return '$0';
  const size = Math.abs(usd);
  if (size >= 1000) return `$${compact(usd)}`;
  if (size >= 1) return `$${trimZeros(usd.toFixed(2))}`;
  return `$${trimZeros(usd.toPrecision(2).includes('e') ? usd.toFixed(9) : usd.toPrecision(2))}`;
}

const compact = (value: number) =>
  new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 2 }).format(value);
const trimZeros = (text: string) => (text.includes('.') ? text.replace(/0+$/, '').replace(/\.$/, '') : text);
