/** A key with its spend by day. */
interface Spending {
  readonly spend_by_day: readonly number[] | null;
}

/** Days of all keys together. */
export function addDays(keys: readonly Spending[]): readonly number[] {
  const sums: number[] = [];
  for (const { spend_by_day: days } of keys) {
    for (const [index, usd] of (days ?? []).entries()) sums[index] = (sums[index] ?? 0) + usd;
  }
  return sums;
}
