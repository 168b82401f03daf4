// The collector slow, down or refusing: spans and metrics wait within bounds, are dropped then, and counted. Requests and the
// log's drain never wait for it.
import { hostname } from 'node:os';
import { makeSpans, passTraces } from '@llm0/core/tracing/request-trace';
import { createSampler } from '@llm0/core/tracing/sampler';
import type { StoredRecords } from '@llm0/core/tracing/span';
import type { Logger } from 'pino';
import type { Metrics } from '../metrics';
import type { KnownModel } from '../record-metrics';
import { OtlpEncoder, type TelemetrySettings } from './encode-otlp';
import { GenAiMetrics } from './gen-ai-metrics';
import { MetricsExport } from './metrics-export';
import { OtlpClient } from './otlp-client';
import { type LoadContent, SpanExport } from './span-export';
import type { Telemetry } from './telemetry';

export interface TelemetryNeeds {
  readonly settings: TelemetrySettings;
  readonly version: string;
  readonly fetch: typeof globalThis.fetch;
  readonly log: Pick<Logger, 'warn' | 'info'>;
  readonly metrics: Metrics;
  readonly isKnown: KnownModel;
  readonly nowMs: () => number;
  /** Prompts and answers of requests, as LOG_BODIES kept them. */
  readonly loadContent: LoadContent;
}

/** Spans of stored rows and metrics, over OTLP. */
export function createTelemetry(needs: TelemetryNeeds): Telemetry {
  const { settings, version, metrics, nowMs } = needs;
  const encoder = new OtlpEncoder({ protocol: settings.protocol, resource: resourceOf(needs), version });
  const clientOf = (path: string) =>
    new OtlpClient({
      url: `${settings.endpoint}${path}`,
      headers: settings.headers,
      contentType: encoder.contentType,
      fetch: needs.fetch,
    });
  const troubles = new Troubles(needs.log);
  const noteOf = (signal: 'traces' | 'metrics') => ({
    onTaken: (items: number) => {
      metrics.otlpExported.inc({ signal }, items);
      troubles.over(signal);
    },
    onLost: (items: number, reason: string, detail: string) => {
      metrics.otlpDrops.inc({ signal, reason }, items);
      troubles.note(signal, detail);
    },
  });
  const genAi = new GenAiMetrics({ isKnown: needs.isKnown, onlyLatestNames: settings.onlyLatestNames });
  const spans = settings.traces
    ? new SpanExport({
        ...{ encoder, client: clientOf('/v1/traces'), onlyLatestNames: settings.onlyLatestNames },
        loadContent: settings.content ? needs.loadContent : undefined,
        ...noteOf('traces'),
        onHeld: (detail) => troubles.note('traces', detail, 'telemetry waits for the collector'),
      })
    : undefined;
  const metricsExport = settings.metrics
    ? new MetricsExport({
        ...{ encoder, client: clientOf('/v1/metrics'), registry: metrics.registry, histograms: genAi.histograms },
        ...{ everyMs: settings.metricsEveryMs, nowMs, ...noteOf('metrics') },
      })
    : undefined;
  const { name, ratio } = settings.sampler;
  return {
    tracing: spans === undefined ? passTraces : makeSpans(createSampler(name, ratio), nowMs),
    observer: {
      take: (stored: StoredRecords) => {
        if (metricsExport !== undefined) genAi.take(stored);
        spans?.take(stored);
      },
    },
    start: (refresh) => metricsExport?.start(refresh),
    close: async (timeoutMs) => {
      await Promise.all([spans?.close(timeoutMs), metricsExport?.close(timeoutMs)]);
    },
  };
}

function resourceOf({ settings, version }: TelemetryNeeds): Readonly<Record<string, string>> {
  return {
    'service.version': version,
    'host.name': hostname(),
    ...settings.resource,
    'service.name': settings.serviceName,
    'service.instance.id': settings.resource['service.instance.id'] ?? crypto.randomUUID(),
  };
}

/** A line when it begins and one when it is over: not one a batch. */
class Troubles {
  private readonly noted = new Map<string, string>();

  constructor(private readonly log: Pick<Logger, 'warn' | 'info'>) {}

  note(signal: string, detail: string, what = 'telemetry was dropped'): void {
    const noted = `${what}: ${detail}`;
    if (this.noted.get(signal) === noted) return;
    this.noted.set(signal, noted);
    this.log.warn({ signal, reason: detail }, what);
  }

  over(signal: string): void {
    if (this.noted.delete(signal)) this.log.info({ signal }, 'the collector takes telemetry again');
  }
}
