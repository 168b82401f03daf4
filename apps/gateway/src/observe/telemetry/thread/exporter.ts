// The collector slow, down or refusing: spans and metrics wait within bounds, are dropped then, and counted.
import { hostname } from 'node:os';
import type { LogRecord } from '@llm0/core/logs/log-record';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import { OtlpEncoder } from '../encode-otlp';
import { GenAiMetrics } from '../gen-ai-metrics';
import { MetricsExport } from '../metrics-export';
import { type LossReason, OtlpClient, type TryFailure } from '../otlp-client';
import { modelKey } from '../rows';
import { SpanExport } from '../span-export';
import type { Bodies, ExportSettings, FromThread, Signal, ToThread } from './messages';

export interface ExporterNeeds extends ExportSettings {
  readonly post: (message: FromThread) => void;
  readonly fetch: typeof globalThis.fetch;
  readonly nowMs: () => number;
  /** Called with the number of encoded rows. */
  readonly onEncoded?: (rows: number) => void;
}

type Given<T extends ToThread['type']> = Extract<ToThread, { type: T }>;

/** The thread's work: builds spans and metrics from rows, and sends them. */
export class Exporter {
  private readonly genAi: GenAiMetrics;
  private readonly spans: SpanExport | undefined;
  private readonly metrics: MetricsExport | undefined;
  private readonly asked = new Map<number, (bodies: Bodies) => void>();
  private known: ReadonlySet<string> = new Set();
  private readonly clients: OtlpClient[] = [];
  private nextId = 0;

  constructor(private readonly needs: ExporterNeeds) {
    const { settings, version, nowMs } = needs;
    const { onlyLatestNames, headers, protocol } = settings;
    const encoder = new OtlpEncoder({ protocol, resource: resourceOf(needs), version });
    const clientOf = (signal: Signal) => {
      const to = { url: `${settings.endpoint}/v1/${signal}`, headers, contentType: encoder.contentType };
      const onFailed = (reason: TryFailure, detail: string) => needs.post({ type: 'failed', signal, reason, detail });
      const client = new OtlpClient({ ...to, fetch: needs.fetch, onFailed });
      this.clients.push(client);
      return client;
    };
    const isKnown = (provider: string, model: string) => this.known.has(modelKey(provider, model));
    this.genAi = new GenAiMetrics({ isKnown, onlyLatestNames });
    if (settings.traces) {
      this.spans = new SpanExport({
        ...{ encoder, client: clientOf('traces'), onlyLatestNames, ...this.tellOf('traces') },
        loadContent: settings.content ? (requestIds) => this.askForBodies(requestIds) : undefined,
        delayMs: settings.spanDelayMs,
        onEncoded: needs.onEncoded,
      });
    }
    if (settings.metrics) {
      const { histograms } = this.genAi;
      const client = clientOf('metrics');
      this.metrics = new MetricsExport({ encoder, client, histograms, nowMs, ...this.tellOf('metrics') });
    }
  }

  take({ id, requests, calls, known }: Given<'rows'>): void {
    const rows = {
      requests: JSON.parse(requests) as readonly LogRecord[],
      calls: JSON.parse(calls) as readonly ToolCallRecord[],
    };
    this.known = new Set(known);
    if (this.metrics !== undefined) this.genAi.take(rows);
    this.spans?.take(rows);
    this.needs.post({ type: 'received', id });
  }

  sendMetrics({ families, window }: Given<'metrics'>): void {
    this.metrics?.send(families, window);
  }

  giveBodies({ id, bodies }: Given<'bodies'>): void {
    this.asked.get(id)?.(bodies);
    this.asked.delete(id);
  }

  async close({ timeoutMs }: Given<'close'>): Promise<void> {
    for (const client of this.clients) client.close();
    await Promise.all([this.spans?.close(timeoutMs), this.metrics?.close(timeoutMs)]);
    this.needs.post({ type: 'closed' });
  }

  private askForBodies(requestIds: readonly string[]): Promise<Bodies> {
    const { promise, resolve } = Promise.withResolvers<Bodies>();
    const id = this.nextId++;
    this.asked.set(id, resolve);
    this.needs.post({ type: 'wanted', id, requestIds });
    return promise;
  }

  private tellOf(signal: Signal) {
    const { post } = this.needs;
    return {
      onTaken: (items: number) => post({ type: 'taken', signal, items }),
      onLost: (items: number, reason: LossReason, detail: string) =>
        post({ type: 'lost', signal, items, reason, detail }),
    };
  }
}

function resourceOf({ settings, version, instanceId }: ExportSettings): Readonly<Record<string, string>> {
  return {
    'service.version': version,
    'host.name': hostname(),
    ...settings.resource,
    'service.name': settings.serviceName,
    'service.instance.id': settings.resource['service.instance.id'] ?? instanceId,
  };
}
