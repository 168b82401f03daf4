import { percentilesOf } from './latencies';
import type { LoadResult } from './load-job';

/** What a load counts while it runs. */
export class Tally {
  /** Milliseconds of what was answered as expected. */
  readonly latenciesMs: number[] = [];
  readonly firstBytesMs: number[] = [];
  private readonly kinds: Record<string, number> = {};
  private readonly startMs = performance.now();
  private readonly fromMs = Date.now();
  private readonly cpu = process.cpuUsage();

  fail(kind: string): void {
    this.kinds[kind] = (this.kinds[kind] ?? 0) + 1;
  }

  /** `seconds`: how long requests were sent, where somebody else knows it better. */
  result(seconds = (performance.now() - this.startMs) / 1000): LoadResult {
    const { user, system } = process.cpuUsage(this.cpu);
    return {
      requests: this.latenciesMs.length,
      requestsPerSecond: this.latenciesMs.length / seconds,
      latencyMs: percentilesOf(this.latenciesMs),
      ttfbMs: percentilesOf(this.firstBytesMs),
      errors: Object.values(this.kinds).reduce((sum, count) => sum + count, 0),
      errorKinds: this.kinds,
      clientCpuSeconds: (user + system) / 1e6,
      fromMs: this.fromMs,
      toMs: Date.now(),
    };
  }
}
