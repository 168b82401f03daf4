/** USD for people: cents for large amounts, enough digits for small ones. Never in exponent form. */
export function formatUsd(usd: number): string {
  const size = Math.abs(usd);
  const sign = usd < 0 ? '−' : '';
  if (size === 0) return '$0.00';
  if (size >= 100_000) return `${sign}$${compact(size)}`;
  if (size >= 1)
    return `${sign}$${size.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  if (size >= 0.01) return `${sign}$${size.toFixed(4).replace(/0{1,2}$/, '')}`;
  const digits = Math.min(9, 3 - Math.floor(Math.log10(size)));
  return `${sign}$${trimZeros(size.toFixed(digits))}`;
}

/** As many decimals as told, for amounts beside each other. */
export function formatPlaces(usd: number, places: number): string {
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
