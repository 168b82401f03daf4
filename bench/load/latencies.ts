export const PERCENTILES = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99, p999: 0.999 } as const;
export type PercentileName = keyof typeof PERCENTILES;

/** Milliseconds by name. */
export type Percentiles = Readonly<Record<PercentileName, number>>;

/** Latencies as they were measured; exact percentiles over everything recorded. */
export class Latencies {
  private readonly values: number[] = [];

  add(milliseconds: number): void {
    this.values.push(milliseconds);
  }

  get count(): number {
    return this.values.length;
  }

  /** By nearest rank; null when nothing was recorded. */
  percentiles(): Percentiles | null {
    const { length } = this.values;
    if (length === 0) return null;
    const sorted = Float64Array.from(this.values).sort();
    const at = (share: number) => sorted[Math.max(0, Math.ceil(share * length) - 1)] ?? 0;
    const { p50, p90, p95, p99, p999 } = PERCENTILES;
    return { p50: at(p50), p90: at(p90), p95: at(p95), p99: at(p99), p999: at(p999) };
  }
}
