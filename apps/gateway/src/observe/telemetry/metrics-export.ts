// Without the collector, a round ends after its tries; the next one includes its values.
import { inTime } from '@llm0/core/async/in-time';
import type { OtlpEncoder } from './encode-otlp';
import type { ExportQueueOptions } from './export-queue';
import type { GenAiHistogram } from './gen-ai-metrics';
import type { Window } from './otlp/encode-metrics';
import type { OtlpClient } from './otlp-client';
import { type Family, genAiMetrics, registryMetrics } from './registry-metrics';

export interface MetricsExportOptions extends Pick<ExportQueueOptions<unknown>, 'onTaken' | 'onLost'> {
  readonly encoder: Pick<OtlpEncoder, 'encodeMetrics'>;
  readonly client: Pick<OtlpClient, 'deliver'>;
  /** Built from rows; they start with this object. */
  readonly histograms: readonly GenAiHistogram[];
  readonly nowMs: () => number;
}

/** Sends rounds of metrics, one after the other. */
export class MetricsExport {
  private readonly startMs: number;
  private readonly stopped = new AbortController();
  private sending: Promise<void> = Promise.resolve();

  constructor(private readonly options: MetricsExportOptions) {
    this.startMs = options.nowMs();
  }

  /** Sends the registry's current values and the histograms. */
  send(families: readonly Family[], window: Window): void {
    this.sending = this.sending.then(() => this.sendRound(families, window));
  }

  /** Ends the rounds under way, for at most `timeoutMs`. */
  async close(timeoutMs: number): Promise<void> {
    await inTime(this.sending, timeoutMs, () => this.stopped.abort());
    this.stopped.abort();
    await this.sending;
  }

  private async sendRound(families: readonly Family[], window: Window): Promise<void> {
    const { encoder, client, histograms, onTaken, onLost } = this.options;
    try {
      const own = genAiMetrics(histograms, { ...window, startMs: this.startMs });
      const metrics = [...registryMetrics(families, window), ...own];
      const delivery = await client.deliver(encoder.encodeMetrics(metrics), this.stopped.signal);
      if (delivery.type === 'taken') onTaken(1);
      else onLost(1, delivery.reason, delivery.detail);
    } catch (error) {
      onLost(1, 'refused', `metrics could not be encoded: ${error instanceof Error ? error.name : 'unknown'}`);
    }
  }
}
