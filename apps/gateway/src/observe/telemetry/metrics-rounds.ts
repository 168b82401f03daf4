// Without the thread, or during the last round, this one is skipped; the next one includes its values.
import type { Registry } from 'prom-client';
import type { Family } from './registry-metrics';
import type { ExportThread } from './thread/export-thread';

export interface MetricsRoundsOptions {
  readonly thread: Pick<ExportThread, 'isSendingMetrics' | 'sendMetrics'>;
  readonly registry: Registry;
  readonly everyMs: number;
  readonly nowMs: () => number;
}

/** Hands all metrics of this process to the export, again and again. */
export class MetricsRounds {
  private readonly startMs: number;
  private timer: ReturnType<typeof setInterval> | undefined;
  private collecting: Promise<void> | undefined;
  private refresh: () => Promise<void> = async () => {};

  constructor(private readonly options: MetricsRoundsOptions) {
    this.startMs = options.nowMs();
  }

  start(refresh: () => Promise<void>): void {
    const { thread, everyMs } = this.options;
    this.refresh = refresh;
    this.timer = setInterval(() => {
      if (!thread.isSendingMetrics) this.collecting ??= this.collect();
    }, everyMs);
    this.timer.unref();
  }

  /** Hands over a last round. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.collecting;
    // The stores are closing: gauges stay as they were.
    this.refresh = async () => {};
    await this.collect();
  }

  private async collect(): Promise<void> {
    const { thread, registry, nowMs } = this.options;
    try {
      // An unavailable value stays as it was.
      await this.refresh().catch(() => {});
      const families = (await registry.getMetricsAsJSON()) as unknown as readonly Family[];
      thread.sendMetrics(families, { startMs: this.startMs, nowMs: nowMs() });
    } finally {
      this.collecting = undefined;
    }
  }
}
