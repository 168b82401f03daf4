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
  ['kafka://broker', 'needs a topic'],
  ['kafka://broker/t?sasl=PLAIN', 'user:password@'],
  ['kafka://me:secret@broker/t?sasl=GSSAPI', 'sasl must be one of'],
  ['kafka://me:secret@broker/t?tls=yes', 'tls must be true or false'],
])('LOG_SINKS=%s is refused, without its secrets', (text, reason) => {
  expect(() => read(text)).toThrow(reason);
  expect(() => read(text)).not.toThrow(/secret@/);
});
