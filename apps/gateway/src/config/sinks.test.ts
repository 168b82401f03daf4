import { expect, test } from 'bun:test';
import { readSinks } from './sinks';
import { EnvReader } from './values';

const read = (LOG_SINKS: string, logBodies = false) => readSinks(new EnvReader({ LOG_SINKS }), { logBodies }).sinks;

test('sinks of the environment', () => {
  expect(read('')).toEqual([]);
  expect(read('s3://logs')).toEqual([
    { kind: 's3', name: 's3://logs', bucket: 'logs', prefix: '', everyMs: 3_600_000, withBodies: false },
  ]);
  expect(read(' s3://logs/a/b/?every=5m&bodies=true, kafka://broker/llm.rows', true)).toEqual([
    { kind: 's3', name: 's3://logs/a/b', bucket: 'logs', prefix: 'a/b/', everyMs: 300_000, withBodies: true },
    {
      ...{ kind: 'kafka', name: 'kafka://broker:9092/llm.rows', broker: 'broker:9092', topic: 'llm.rows' },
      ...{ tls: false, sasl: undefined, everyMs: 1000, withBodies: false },
    },
  ]);
  expect(read('kafka://me:p%40ss@broker:9093/t?tls=true&sasl=scram-sha-512')).toMatchObject([
    {
      ...{ name: 'kafka://broker:9093/t', tls: true },
      sasl: { mechanism: 'SCRAM-SHA-512', username: 'me', password: 'p@ss' },
    },
  ]);
});

test('a database of ClickHouse: credentials are no part of its name', () => {
  const options = { everyMs: 5000, withBodies: false };
  expect(read('clickhouse://me:p%40ss@host:9000/logs?every=9s,clickhouse://host/logs?tls=true')).toEqual([
    {
      ...{ kind: 'clickhouse', name: 'clickhouse://host:9000/logs', url: 'http://host:9000', database: 'logs' },
      ...{ username: 'me', password: 'p@ss', ...options, everyMs: 9000 },
    },
    {
      ...{ kind: 'clickhouse', name: 'clickhouse://host:8443/logs', url: 'https://host:8443', database: 'logs' },
      ...{ username: 'default', password: '', ...options },
    },
  ]);
  for (const wrong of ['clickhouse://host', 'clickhouse://host/a-b', 'clickhouse://host/logs?cluster=one']) {
    expect(() => read(wrong)).toThrow('LOG_SINKS');
  }
});

test('a collector: credentials and headers are no part of its name', () => {
  const langfuse = 'otlp+https://pk-lf-1:sk%2F1@Cloud.Langfuse.com:443/api/public/otel/v1/traces';
  const datadog = 'otlp+https://otlp.datadoghq.com?header=DD-API-Key:k%2Cx&header=dd-otlp-source:llmobs&every=5s';
  const options = { everyMs: 1000, withBodies: false };
  expect(read(`${langfuse},${datadog}`)).toEqual([
    {
      ...{ kind: 'otlp', name: 'otlp+https://cloud.langfuse.com/api/public/otel/v1/traces' },
      url: 'https://cloud.langfuse.com/api/public/otel/v1/traces',
      headers: { authorization: `Basic ${btoa('pk-lf-1:sk/1')}` },
      ...options,
    },
    {
      ...{ kind: 'otlp', name: 'otlp+https://otlp.datadoghq.com/v1/traces' },
      url: 'https://otlp.datadoghq.com/v1/traces',
      headers: { 'dd-api-key': 'k,x', 'dd-otlp-source': 'llmobs' },
      ...{ ...options, everyMs: 5000 },
    },
  ]);
  const twice = read('otlp+https://pk1:sk1@host/v1/traces?every=9s#one,otlp+https://pk2:sk2@host/v1/traces#two');
  expect(twice.map(({ name }) => name)).toEqual(['otlp+https://host/v1/traces#one', 'otlp+https://host/v1/traces#two']);
  expect(read('otlp+http://[::1]:4318/v1/traces?bodies=true', true)).toMatchObject([
    { url: 'http://[::1]:4318/v1/traces', headers: {}, withBodies: true },
  ]);
});

test.each([
  ['nats://broker/topic', 'such as s3://'],
  ['s3://', 'such as s3://'],
  ['logs', 'such as s3://'],
  ['s3://key:secret@logs', 'has no user'],
  ['s3://logs?every=2h', '1s to 60m'],
  ['s3://logs?every=0s', '1s to 60m'],
  ['s3://logs?format=parquet', 'no option "format"'],
  ['s3://logs?bodies=true', 'needs LOG_BODIES=true'],
  ['s3://logs,s3://logs?every=5m', 'may stand once'],
  ['kafka://u:p%zz@broker/t', 'percent-encoded'],
  ['otlp+http://u:p%zz@127.0.0.1:1/x', 'percent-encoded'],
  ['kafka://broker', 'needs a topic'],
  ['kafka://broker/t?sasl=PLAIN', 'user:password@'],
  ['kafka://me:secret@broker/t?sasl=GSSAPI', 'sasl must be one of'],
  ['kafka://me:secret@broker/t?tls=yes', 'tls must be true or false'],
  ['otlp://host/v1/traces', 'otlp+https://host/path'],
  ['otlp+https://', 'such as s3://'],
  ['otlp+https://me:secret@host:99999/', 'such as s3://'],
  ['otlp+https://host?header=secret@', 'header must be name:value'],
  ['otlp+https://host?header=a%20b:secret@', 'header must be name:value'],
  ['otlp+https://host?header=a:secret@%0Ab', 'header must be name:value'],
  ['otlp+https://me:secret@host?headers=a:b', 'no option "headers"'],
  ['otlp+https://me:secret@host?bodies=true', 'needs LOG_BODIES=true'],
  ['otlp+https://a:secret@host,otlp+https://b:secret@host/v1/traces', 'may stand once'],
  ['otlp+https://a:secret@host#a,otlp+https://b:secret@host/v1/traces#a', 'may stand once'],
  ['otlp+https://me:secret@host#a%20b', '#name may hold'],
])('LOG_SINKS=%s is refused, without its secrets', (text, reason) => {
  expect(() => read(text)).toThrow(reason);
  expect(() => read(text)).not.toThrow(/secret@/);
});
