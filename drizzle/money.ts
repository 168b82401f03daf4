/** Exact money at the SQL boundary: integer nano-USD in the program, `numeric(20,9)` text in Postgres. No floats. */

const NANO_DIGITS = 9;

/** Integer nano-USD → decimal text with 9 decimals, e.g. `1500` → `0.000001500`. */
export function usdFromNano(nanoUsd: number): string {
  if (!Number.isSafeInteger(nanoUsd)) throw new RangeError(`not an exact amount in nano-USD: ${nanoUsd}`);
  const digits = Math.abs(nanoUsd)
    .toString()
    .padStart(NANO_DIGITS + 1, '0');
  const cut = digits.length - NANO_DIGITS;
  return `${nanoUsd < 0 ? '-' : ''}${digits.slice(0, cut)}.${digits.slice(cut)}`;
}

/** Decimal text as Postgres prints a numeric → integer nano-USD; exact below 2^53 ($9 M), nearest beyond. */
export function nanoFromUsd(usd: string): number {
  const match = /^(-?)(\d+)(?:\.(\d{1,9})0*)?$/.exec(usd);
  if (match === null) throw new RangeError(`not an amount in USD with at most 9 decimals: ${usd}`);
  const [, sign, whole = '0', fraction = ''] = match;
  const value = Number(whole + fraction.padEnd(NANO_DIGITS, '0'));
  return sign === '-' && value !== 0 ? -value : value;
}
