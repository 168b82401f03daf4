// The collector away: a round is given up after its tries; the next one says all that it would have said.
import { inTime } from '@llm0/core/waits/in-time';
import type { Registry } from 'prom-client';
import type { OtlpEncoder } from './encode-otlp';
import type { ExportQueueOptions } from './export-queue';
import type { GenAiHistogram } from './gen-ai-metrics';
import type { OtlpClient } from './otlp-client';
import { genAiMetrics, registryMetrics } from './registry-metrics';

export interface MetricsExportOptions extends Pick<ExportQueueOptions<unknown>, 'onTaken' | 'onLost'> {
  readonly encoder: Pick<OtlpEncoder, 'encodeMetrics'>;
  readonly client: Pick<OtlpClient, 'deliver'>;
  readonly registry: Registry;
  readonly histograms: readonly GenAiHistogram[];
  readonly everyMs: number;
  readonly nowMs: () => number;
}

/** Sends all metrics of this process, again and again. */
export class MetricsExport {
  private readonly startMs: number;
  private readonly stopped = new AbortController();
  private timer: ReturnType<typeof setInterval> | undefined;
  private sending: Promise<void> | undefined;
  private refresh: () => Promise<void> = async () => {};

  constructor(private readonly options: MetricsExportOptions) {
    this.startMs = options.nowMs();
  }

  start(refresh: () => Promise<void>): void {
    this.refresh = refresh;
    this.timer = setInterval(() => void this.send(), this.options.everyMs);
    this.timer.unref();
  }

  /** Sends a last round. */
  async close(timeoutMs: number): Promise<void> {
    clearInterval(this.timer);
    const sendLast = async () => {
      await this.sending;
      // The stores are closing: gauges stay as they were.
      this.refresh = async () => {};
      await this.send();
    };
    await inTime(sendLast(), timeoutMs, () => this.stopped.abort());
    this.stopped.abort();
    await this.sending;
  }

  /** One round at a time: one that takes longer than the interval takes the next one's place. */
  private send(): Promise<void> {
    this.sending ??= this.sendRound().finally(() => {
      this.sending = undefined;
    });
    return this.sending;
  }

  private async sendRound(): Promise<void> {
    const { encoder, client, registry, histograms, nowMs, onTaken, onLost } = this.options;
    try {
      await this.refresh();
      const window = { startMs: this.startMs, nowMs: nowMs() };
      const metrics = [...(await registryMetrics(registry, window)), ...genAiMetrics(histograms, window)];
      const delivery = await client.deliver(encoder.encodeMetrics(metrics), this.stopped.signal);
      if (delivery.type === 'taken') onTaken(1);
      else onLost(1, delivery.reason, delivery.detail);
    } catch (error) {
      onLost(1, 'refused', `metrics could not be encoded: ${error instanceof Error ? error.name : 'unknown'}`);
    }
  }
}
