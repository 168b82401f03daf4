import { describe, expect, test } from 'bun:test';
import { readConfig } from './config';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318/' };
const read = (env: Record<string, string>) => readConfig(env).telemetry;

describe('OTEL_*', () => {
  test('without an endpoint there is nothing, whatever else is set', () => {
    expect(read({})).toBeUndefined();
    expect(read({ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_SAMPLER: 'jaeger_remote' })).toBeUndefined();
    expect(read({ ...ENDPOINT, OTEL_SDK_DISABLED: 'true' })).toBeUndefined();
  });

  test('an endpoint alone: everything, sampled by the caller, without content', () => {
    expect(read(ENDPOINT)).toMatchObject({
      ...{ endpoint: 'http://localhost:4318', protocol: 'http/protobuf', traces: true, metrics: true, content: false },
      ...{ serviceName: 'llm0-gateway', headers: {}, sampler: { name: 'parentbased_always_on', ratio: 1 } },
      ...{ onlyLatestNames: false, spanDelayMs: 1_000, metricsEveryMs: 60_000 },
    });
  });

  test('the service is called what its own variable says, else what the resource says', () => {
    const resource = { OTEL_RESOURCE_ATTRIBUTES: 'service.name=zzz,service.version=7' };
    expect(read({ ...ENDPOINT, ...resource })?.serviceName).toBe('zzz');
    expect(read({ ...ENDPOINT, ...resource, OTEL_SERVICE_NAME: 'mine' })?.serviceName).toBe('mine');
    expect(read({ ...ENDPOINT, OTEL_RESOURCE_ATTRIBUTES: 'service.name=' })?.serviceName).toBe('llm0-gateway');
  });

  test('other values', () => {
    const settings = read({
      ...ENDPOINT,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20YTpi==, x-team = red ',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=prod,service.name=x',
      OTEL_SEMCONV_STABILITY_OPT_IN: 'http, gen_ai_latest_experimental',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'SPAN_ONLY',
      LOG_BODIES: 'true',
    });
    expect(settings).toMatchObject({
      headers: { authorization: 'Basic YTpi==', 'x-team': 'red' },
      resource: { 'deployment.environment.name': 'prod' },
      ...{ onlyLatestNames: true, sampler: { name: 'traceidratio', ratio: 0.25 }, metrics: false, content: true },
    });
  });

  test.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4317'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
    ['OTEL_TRACES_SAMPLER_ARG', '2'],
    ['OTEL_TRACES_EXPORTER', 'jaeger'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'hunter2'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'x=a%0d%0ahunter2: 1'],
    ['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT', 'true'],
  ])('%s=%s stops the start with one line', (name, value) => {
    let line = '';
    try {
      read({ ...ENDPOINT, [name]: value });
    } catch (error) {
      line = (error as Error).message;
    }
    expect(line).toStartWith(`${name}=`);
    expect(line).not.toContain('hunter2');
  });
});
