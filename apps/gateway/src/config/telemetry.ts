import { SAMPLERS } from '@llm0/core/tracing/sampler';
import { ConfigError, type EnvReader } from './values';

const PROTOCOLS = ['http/protobuf', 'http/json'] as const;
const CONTENT = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT';
const NAMES = [
  ...['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_TRACES_EXPORTER', 'OTEL_METRICS_EXPORTER'],
  ...['OTEL_SERVICE_NAME', 'OTEL_RESOURCE_ATTRIBUTES', 'OTEL_TRACES_SAMPLER', 'OTEL_TRACES_SAMPLER_ARG'],
  ...['OTEL_SEMCONV_STABILITY_OPT_IN', 'OTEL_METRIC_EXPORT_INTERVAL', 'OTEL_BSP_SCHEDULE_DELAY', 'OTEL_SDK_DISABLED'],
  CONTENT,
] as const;
const EXPORTERS = ['otlp', 'none'] as const;
/** The newest names alone, without those that they replaced. */
const LATEST_GEN_AI = 'gen_ai_latest_experimental';

/**
 * Reads the OpenTelemetry variables; undefined disables export. Source:
 * https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export function readTelemetry(read: EnvReader, { logBodies }: { readonly logBodies: boolean }) {
  const endpoint = read.url('OTEL_EXPORTER_OTLP_ENDPOINT');
  // Other programs may use them: without an endpoint they aren't validated.
  for (const name of NAMES) read.text(name);
  if (endpoint === undefined || read.flag('OTEL_SDK_DISABLED', false)) return undefined;
  const content = readContent(read);
  if (content && !logBodies) {
    throw new ConfigError(CONTENT, 'true', 'needs LOG_BODIES=true: only stored bodies can be exported');
  }
  return { ...readSettings(read), endpoint, content };
}

export type TelemetrySettings = NonNullable<ReturnType<typeof readTelemetry>>;

function readSettings(read: EnvReader) {
  const resource = Object.fromEntries(readPairs(read, 'OTEL_RESOURCE_ATTRIBUTES'));
  return {
    headers: Object.fromEntries(readPairs(read, 'OTEL_EXPORTER_OTLP_HEADERS', checkHeader)),
    protocol: read.oneOf('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/protobuf', PROTOCOLS),
    traces: read.oneOf('OTEL_TRACES_EXPORTER', 'otlp', EXPORTERS) === 'otlp',
    metrics: read.oneOf('OTEL_METRICS_EXPORTER', 'otlp', EXPORTERS) === 'otlp',
    serviceName: read.text('OTEL_SERVICE_NAME') ?? (resource['service.name'] || 'llm0-gateway'),
    resource,
    sampler: {
      name: read.oneOf('OTEL_TRACES_SAMPLER', 'parentbased_always_on', SAMPLERS),
      ratio: readRatio(read),
    },
    spanDelayMs: read.integer('OTEL_BSP_SCHEDULE_DELAY', 1_000, { min: 0, max: 60_000 }),
    metricsEveryMs: read.integer('OTEL_METRIC_EXPORT_INTERVAL', 60_000, { min: 100, max: 86_400_000 }),
    /** Without names that newer ones replaced. */
    onlyLatestNames: (read.text('OTEL_SEMCONV_STABILITY_OPT_IN') ?? '')
      .split(',')
      .some((one) => one.trim() === LATEST_GEN_AI),
  };
}

/** Exports prompts and answers only by explicit setting. */
function readContent(read: EnvReader): boolean {
  const text = read.text(CONTENT)?.toLowerCase();
  // Other languages distinguish destinations; here only spans exist.
  if (text === 'span_only' || text === 'span_and_event') return true;
  if (text === 'no_content' || text === 'event_only') return false;
  return read.flag(CONTENT, false);
}

function readRatio(read: EnvReader): number {
  const text = read.text('OTEL_TRACES_SAMPLER_ARG');
  if (text === undefined) return 1;
  const ratio = Number(text);
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw new ConfigError('OTEL_TRACES_SAMPLER_ARG', text, 'a number from 0 to 1 is needed');
}

type Pair = readonly [name: string, value: string];

/** Comma-separated, percent-encoded `name=value` pairs. Messages never show values, which may be secrets. */
function readPairs(read: EnvReader, variable: string, check: (pair: Pair) => boolean = () => true): readonly Pair[] {
  const parts = (read.text(variable) ?? '').split(',').filter((part) => part.trim() !== '');
  return parts.map((part) => {
    const at = part.indexOf('=');
    const pair: Pair = [decode(part.slice(0, at)), decode(part.slice(at + 1))];
    if (at > 0 && pair[0] !== '' && check(pair)) return pair;
    throw new ConfigError(variable, '***', 'name=value pairs separated by commas are needed, values percent-encoded');
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.trim());
  } catch {
    return text.trim();
  }
}

/** True for a header that may be sent. */
export function checkHeader([name, value]: Pair): boolean {
  return /^[a-z0-9!#$%&'*+.^_`|~-]+$/i.test(name) && /^[\x20-\x7e]*$/.test(value);
}
