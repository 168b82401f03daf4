/** Latencies in microsecond resolution; exact percentiles over everything recorded. */
export class Latencies {
  private readonly values: number[] = [];

  add(milliseconds: number): void {
    this.values.push(milliseconds);
  }

  get count(): number {
    return this.values.length;
  }

  /** Milliseconds at each percentile; empty = null. */
  percentiles(): Percentiles | null {
    if (this.values.length === 0) return null;
    const sorted = Float64Array.from(this.values).sort();
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
    return { p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99), p999: at(0.999) };
  }
}

export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly p999: number;
}
