/** Milliseconds by name. */
export type Percentiles = Readonly<Record<'p50' | 'p90' | 'p95' | 'p99' | 'p999', number>>;

/** Exact ones over everything that was measured, by nearest rank; null of nothing. */
export function percentilesOf(values: readonly number[]): Percentiles | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const at = (share: number) => sorted[Math.max(0, Math.ceil(share * values.length) - 1)] ?? 0;
  return { p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99), p999: at(0.999) };
}
