import { formatCompact } from './format-number';

/** Rounded down, also below zero. */
const floorBy = (amount: bigint, unit: bigint) => (amount - (((amount % unit) + unit) % unit)) / unit;

/** Amounts in whole units that add up to their rounded sum: those with the largest rests are rounded up. */
export function roundParts(parts: readonly bigint[], unit: bigint): readonly bigint[] {
  const floors = parts.map((part) => floorBy(part, unit));
  const sum = parts.reduce((all, part) => all + part, 0n);
  const size = sum < 0n ? -sum : sum;
  // Half away from zero, as sums are rounded.
  const rounded = (size + unit / 2n) / unit;
  const missing = (sum < 0n ? -rounded : rounded) - floors.reduce((all, floor) => all + floor, 0n);
  const restOf = (index: number) => (parts[index] ?? 0n) - (floors[index] ?? 0n) * unit;
  const byRest = [...parts.keys()].sort((a, b) => Number(restOf(b) - restOf(a)));
  const raised = new Set(byRest.slice(0, Number(missing)));
  return floors.map((floor, index) => (raised.has(index) ? floor + 1n : floor));
}

/** Parts of a sum, as `formatCompact` shows it; they add up unless one needs a smaller unit. */
export function formatCompactParts(parts: readonly number[]): readonly string[] {
  const sum = parts.reduce((all, part) => all + part, 0);
  const unit = 1000 ** Math.floor(Math.log10(Math.max(sum, 1)) / 3);
  if (unit === 1 || parts.some((part) => part > 0 && part < unit)) return parts.map(formatCompact);
  const step = unit / 10;
  return roundParts(parts.map(BigInt), BigInt(step)).map((units) => formatCompact(Number(units) * step));
}
