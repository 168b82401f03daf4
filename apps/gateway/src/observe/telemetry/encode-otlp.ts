import type { Span } from '@llm0/core/tracing/span';
import type { Config } from '../../config/config';
import type { Sender } from './otlp/encode-attributes';
import { encodeMetrics, type OtlpMetric } from './otlp/encode-metrics';
import { encodeSpans } from './otlp/encode-spans';
import type { MessageWriter } from './otlp/fields';
import { JsonWriter } from './otlp/json-writer';
import { ProtoWriter } from './otlp/proto-writer';
import { readRejectedSpans } from './otlp/read-rejected';

export type TelemetrySettings = NonNullable<Config['telemetry']>;
export type OtlpProtocol = TelemetrySettings['protocol'];

const CONTENT_TYPES = {
  'http/protobuf': 'application/x-protobuf',
  'http/json': 'application/json',
} as const satisfies Record<OtlpProtocol, string>;

export interface EncoderOptions extends Sender {
  readonly protocol: OtlpProtocol;
}

/** Spans and metrics as OTLP requests, and the collector's response. */
export class OtlpEncoder {
  readonly contentType: string;
  private readonly writer: MessageWriter;

  constructor(private readonly options: EncoderOptions) {
    this.contentType = CONTENT_TYPES[options.protocol];
    this.writer = options.protocol === 'http/json' ? new JsonWriter() : new ProtoWriter();
  }

  encodeSpans(spans: readonly Span[]): Uint8Array<ArrayBuffer> {
    return encodeSpans(this.writer, this.options, spans);
  }

  encodeMetrics(metrics: readonly OtlpMetric[]): Uint8Array<ArrayBuffer> {
    return encodeMetrics(this.writer, this.options, metrics);
  }

  /** Spans that a collector refused although it took the request. */
  rejectedSpans(response: Uint8Array): number {
    return readRejectedSpans(response, this.contentType);
  }
}
