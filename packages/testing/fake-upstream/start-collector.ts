import root from 'otlp-messages/build/src/generated/root.js';

/** A span as it stands on the wire, ids in hex. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly name: string;
  readonly kind: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly status: { readonly code: number; readonly message: string };
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Names of the attributes that are doubles on the wire. */
  readonly doubles: readonly string[];
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly kind: string;
  readonly points: readonly { readonly attributes: Readonly<Record<string, unknown>>; readonly value: unknown }[];
}

export type Answer = (request: Request) => Response | Promise<Response>;

// biome-ignore lint/suspicious/noExplicitAny: what a generated decoder gives is looked at field by field
type Json = any;

const { trace, metrics } = (root as Json).opentelemetry.proto.collector;
const AS_JSON = { longs: Number, enums: Number, bytes: String, defaults: true };

/** A collector: reads OTLP by OpenTelemetry's own message definitions, and answers as it is told. */
export function startCollector(answer: Answer = () => new Response()) {
  const received = { spans: [] as ReceivedSpan[], metrics: [] as ReceivedMetric[], headers: [] as Headers[], posts: 0 };
  const told = { answer };
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    fetch: async (request) => {
      received.posts += 1;
      received.headers.push(request.headers);
      const bytes = await request.clone().bytes();
      const response = await told.answer(request);
      if (response.ok) take(new URL(request.url).pathname, request.headers.get('content-type'), bytes);
      return response;
    },
  });
  const take = (path: string, type: string | null, bytes: Uint8Array) => {
    const isJson = type === 'application/json';
    if (path === '/v1/traces')
      received.spans.push(
        ...spansOf(isJson ? parse(bytes) : decode(trace.v1.ExportTraceServiceRequest, bytes), isJson),
      );
    else if (path === '/v1/metrics')
      received.metrics.push(
        ...metricsOf(isJson ? parse(bytes) : decode(metrics.v1.ExportMetricsServiceRequest, bytes)),
      );
    else throw new Error(`nothing is at ${path}`);
  };
  return { url: `http://127.0.0.1:${server.port}`, received, told, stop: () => server.stop(true) };
}

export type Collector = ReturnType<typeof startCollector>;

const MESSAGES = {
  traces: trace.v1.ExportTraceServiceRequest,
  metrics: metrics.v1.ExportMetricsServiceRequest,
  response: trace.v1.ExportTraceServiceResponse,
} as const;
const EXACT = { ...AS_JSON, longs: String };

/** All fields of a message in Protocol Buffers. */
export const decodeProto = (kind: keyof typeof MESSAGES, bytes: Uint8Array): unknown =>
  MESSAGES[kind].toObject(MESSAGES[kind].decode(bytes), EXACT);

/** All fields of a message in JSON, where ids are hex digits. */
export const decodeJson = (kind: keyof typeof MESSAGES, bytes: Uint8Array): unknown => {
  const json = JSON.parse(new TextDecoder().decode(bytes), (key, value) =>
    /^(traceId|spanId|parentSpanId)$/.test(key) ? Buffer.from(value, 'hex').toString('base64') : value,
  );
  return MESSAGES[kind].toObject(MESSAGES[kind].fromObject(json), EXACT);
};

export const encodeProto = (kind: keyof typeof MESSAGES, message: object): Uint8Array =>
  MESSAGES[kind].encode(MESSAGES[kind].fromObject(message)).finish();

/** The spans of a request in Protocol Buffers. */
export const readSpans = (bytes: Uint8Array): readonly ReceivedSpan[] =>
  spansOf(decode(trace.v1.ExportTraceServiceRequest, bytes), false);

const parse = (bytes: Uint8Array): Json => JSON.parse(new TextDecoder().decode(bytes));
const decode = (type: Json, bytes: Uint8Array): Json => type.toObject(type.decode(bytes), AS_JSON);
const hex = (id: string, isJson: boolean) => (isJson ? (id ?? '') : Buffer.from(id ?? '', 'base64').toString('hex'));

function readValue(value: Json): unknown {
  if (value === null || value === undefined) return undefined;
  if (value.arrayValue) return value.arrayValue.values.map(readValue);
  const kind = kindOf(value);
  return kind === 'intValue' ? Number(value.intValue) : value[kind];
}

/** The decoder's defaults fill in the other members of the oneof: the one that was set is named. */
const kindOf = (value: Json): string =>
  value.value ?? ['stringValue', 'boolValue', 'intValue', 'doubleValue'].find((name) => name in value);

const attributesOf = (list: Json[]): Record<string, unknown> =>
  Object.fromEntries((list ?? []).map(({ key, value }) => [key, readValue(value)]));

function spansOf(request: Json, isJson: boolean): ReceivedSpan[] {
  return request.resourceSpans.flatMap(({ resource, scopeSpans }: Json) =>
    scopeSpans.flatMap(({ spans }: Json) =>
      spans.map((span: Json) => ({
        traceId: hex(span.traceId, isJson),
        spanId: hex(span.spanId, isJson),
        parentSpanId: hex(span.parentSpanId, isJson),
        ...{ traceState: span.traceState ?? '', name: span.name, kind: span.kind },
        ...{ startMs: Number(span.startTimeUnixNano) / 1e6, endMs: Number(span.endTimeUnixNano) / 1e6 },
        status: { code: span.status?.code ?? 0, message: span.status?.message ?? '' },
        attributes: attributesOf(span.attributes),
        doubles: span.attributes.flatMap(({ key, value }: Json) => (kindOf(value) === 'doubleValue' ? [key] : [])),
        resource: attributesOf(resource.attributes),
      })),
    ),
  );
}

function metricsOf(request: Json): ReceivedMetric[] {
  return request.resourceMetrics.flatMap(({ scopeMetrics }: Json) =>
    scopeMetrics.flatMap((scope: Json) =>
      scope.metrics.map((metric: Json) => {
        const kind = ['sum', 'gauge', 'histogram'].find((name) => metric[name]) ?? '';
        const points = metric[kind].dataPoints.map((point: Json) => ({
          attributes: attributesOf(point.attributes),
          value: kind === 'histogram' ? { ...point } : Number(point.asDouble ?? point.asInt),
        }));
        return { name: metric.name, unit: metric.unit, kind, points };
      }),
    ),
  );
}
