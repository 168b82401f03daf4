// The collector slow, down or refusing: spans and metrics wait within bounds, are dropped then, and counted. Requests and the
// log's drain never wait for it: all that has to do with it is in a thread of its own.

import { inTime } from '@llm0/core/async/in-time';
import { makeSpans, passTraces } from '@llm0/core/tracing/request-trace';
import { createSampler } from '@llm0/core/tracing/sampler';
import { noObserver } from '@llm0/core/tracing/span';
import type { Logger } from 'pino';
import type { Metrics } from '../metrics';
import type { TelemetrySettings } from './encode-otlp';
import { MetricsRounds } from './metrics-rounds';
import type { Telemetry } from './telemetry';
import { ExportThread, type ExportThreadOptions } from './thread/export-thread';

export interface TelemetryNeeds extends Pick<ExportThreadOptions, 'isKnown' | 'loadBodies'> {
  readonly settings: TelemetrySettings;
  readonly version: string;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  readonly metrics: Metrics;
  readonly nowMs: () => number;
}

/** Spans of stored rows and metrics, over OTLP. */
export function createTelemetry({ log, metrics, nowMs, ...needs }: TelemetryNeeds): Telemetry {
  const { settings } = needs;
  const troubles = new Troubles(log);
  const thread = new ExportThread({
    ...needs,
    instanceId: crypto.randomUUID(),
    onTaken: (signal, items) => {
      metrics.otlpExported.inc({ signal }, items);
      troubles.over(signal);
    },
    onLost: (signal, { items, reason, detail }) => {
      metrics.otlpDrops.inc({ signal, reason }, items);
      troubles.note(signal, detail);
    },
    onFailed: (signal, reason, detail) => {
      metrics.otlpFailures.inc({ signal, reason });
      if (reason !== 'refused') troubles.note(signal, detail, 'telemetry waits for the collector');
    },
  });
  const rounds = settings.metrics
    ? new MetricsRounds({ thread, registry: metrics.registry, everyMs: settings.metricsEveryMs, nowMs })
    : undefined;
  const { name, ratio } = settings.sampler;
  return {
    tracing: settings.traces ? makeSpans(createSampler(name, ratio), nowMs) : passTraces,
    observer: settings.traces || settings.metrics ? thread : noObserver,
    start: (refresh) => rounds?.start(refresh),
    close: async (timeoutMs) => {
      const untilMs = performance.now() + timeoutMs;
      // Gauges that are being asked for may hang with their store.
      if (rounds !== undefined) await inTime(rounds.close(), timeoutMs / 2, () => {});
      await thread.close(Math.max(0, untilMs - performance.now()));
    },
  };
}

/** Logs the start, change and end of a failure, not each batch. */
class Troubles {
  private readonly noted = new Map<string, Set<string>>();

  constructor(private readonly log: Pick<Logger, 'warn' | 'info'>) {}

  note(signal: string, detail: string, what = 'telemetry was dropped'): void {
    const noted = this.noted.get(signal) ?? new Set();
    const said = `${what}: ${detail}`;
    if (noted.has(said)) return;
    this.noted.set(signal, noted.add(said));
    this.log.warn({ signal, reason: detail }, what);
  }

  over(signal: string): void {
    if (this.noted.delete(signal)) this.log.info({ signal }, 'the collector takes telemetry again');
  }
}
