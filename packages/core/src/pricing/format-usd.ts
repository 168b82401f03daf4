const NANO_PER_USD = 1e9;

/** Integer nano-USD → decimal USD with exactly 9 places (`0.000123000`), without floating point. */
export function formatUsd(nanoUsd: number): string {
  const size = Math.abs(nanoUsd);
  const whole = Math.floor(size / NANO_PER_USD);
  // The leading 1 keeps the zeros behind it.
  const places = String(NANO_PER_USD + (size - whole * NANO_PER_USD)).slice(1);
  return `${nanoUsd < 0 ? '-' : ''}${whole}.${places}`;
}

/** Integer nano-USD → the shortest exact decimal (`0.000123`), valid as a JSON number. */
export function formatUsdShort(nanoUsd: number): string {
  return formatUsd(nanoUsd).replace(/\.?0+$/, '');
}

/** Digits after the first non-zero one. */
const DIGITS = 3;

/** Nano-USD for a sentence: cents, or enough digits below one cent (`$0.000123`). */
export function formatUsdText(nanoUsd: number): string {
  const size = Math.abs(nanoUsd) / NANO_PER_USD;
  const decimals = size === 0 || size >= 1 ? 2 : Math.min(9, DIGITS - Math.floor(Math.log10(size)));
  const [whole, fraction = ''] = size.toFixed(decimals).split('.');
  return `${nanoUsd < 0 ? '-' : ''}$${whole}.${fraction.replace(/0{1,9}$/, '').padEnd(2, '0')}`;
}

/** Decimal USD text or number with ≤ 9 places → integer nano-USD; undefined when it is not one. */
export function parseUsd(value: string | number): number | undefined {
  const text = typeof value === 'number' ? numberText(value) : value.trim();
  const match = /^(-?)(\d{1,7})(?:\.(\d{1,9}))?$/.exec(text);
  if (match === null) return undefined;
  const nano = Number(`${match[2]}${(match[3] ?? '').padEnd(9, '0')}`);
  if (!Number.isSafeInteger(nano)) return undefined;
  return match[1] === '-' ? -nano : nano;
}

/** The shortest decimal of a double, never in exponent form. */
function numberText(value: number): string {
  const text = String(value);
  return text.includes('e') ? value.toFixed(9).replace(/\.?0+$/, '') : text;
}
