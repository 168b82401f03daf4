import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { encodeProto, startCollector } from '@llm0/testing/fake-upstream/start-collector';
import type { CollectorSetting } from '../config/sinks';
import { storedRow } from './stored-row.fixture';
import { createWriteSpans } from './write-spans';

const collector = startCollector();
afterAll(() => collector.stop());

let nowMs = 0;
let rejected: unknown[] = [];
beforeEach(() => {
  nowMs = 1_000_000;
  rejected = [];
  collector.told.answer = () => new Response();
  Object.assign(collector.received, { spans: [], headers: [], posts: 0 });
});

const sink: CollectorSetting = {
  ...{ kind: 'otlp', name: 'otlp+http://c/v1/traces', url: `${collector.url}/v1/traces`, everyMs: 1000 },
  ...{ headers: { 'dd-api-key': 's3cret' }, withBodies: true },
};
const writer = () =>
  createWriteSpans({
    ...{ fetch, version: '1', serviceName: 'gw', nowMs: () => nowMs },
    onRejected: (...given) => rejected.push(given),
  });
const partOf = (...rows: readonly object[]) => ({
  key: 'x',
  texts: (async function* () {
    yield `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`;
  })(),
});

test('each row arrives as a span, with the headers, in requests of 200', async () => {
  const rows = Array.from({ length: 450 }, () => storedRow());
  await writer()(sink, partOf(...rows));
  expect(collector.received.posts).toBe(3);
  expect(collector.received.headers[0]?.get('dd-api-key')).toBe('s3cret');
  expect(collector.received.spans.map(({ attributes }) => attributes['llm0.request.id'])).toEqual(
    rows.map(({ id }) => id),
  );
  const [span] = collector.received.spans;
  expect(span).toMatchObject({ kind: 3, resource: { 'service.name': 'gw', 'service.version': '1' } });
  expect(span?.endMs).toBeCloseTo(Date.parse('2026-11-26T10:33:37.123Z') + 123.456, 2);
  expect(span?.doubles).toContain('llm0.cost_usd');
});

test('requests stay below a megabyte, however long the texts are', async () => {
  const sizes: number[] = [];
  collector.told.answer = async (request) => {
    sizes.push((await request.bytes()).length);
    return new Response();
  };
  const messages = Array.from({ length: 9 }, () => ({ role: 'user', content: '語'.repeat(8000) }));
  const rows = Array.from({ length: 60 }, () => storedRow({ request_body: { messages } }));
  await writer()(sink, partOf(...rows));
  expect(collector.received.spans.length).toBe(60);
  expect(sizes.length).toBeGreaterThan(1);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1_000_000);
});

describe('a request that fails', () => {
  test.each([400, 401, 413, 429, 500, 503, 302])('with %d is tried once, and names no secret', async (status) => {
    collector.told.answer = () => new Response('s3cret', { status, headers: { location: 'http://127.0.0.1:1/' } });
    const failure = await writer()(sink, partOf(storedRow())).catch((error: Error) => error);
    expect(String(failure)).toBe(`Error: the collector answered with status ${status}`);
    expect(collector.received.posts).toBe(1);
  });

  test('nobody listens: so it says', async () => {
    const away = { ...sink, url: 'http://127.0.0.1:1/v1/traces?s3cret' };
    const failure = await writer()(away, partOf(storedRow())).catch((error: Error) => error);
    expect(String(failure)).toMatch(/^Error: the collector cannot be reached( \(\w+\))?$/);
  });

  test('is not repeated before its Retry-After, or five minutes', async () => {
    const write = writer();
    const tryIt = () => write(sink, partOf(storedRow())).catch((error: Error) => error.message);
    collector.told.answer = () => new Response('', { status: 429, headers: { 'retry-after': '86400' } });
    const problem = 'the collector answered with status 429';
    expect([await tryIt(), await tryIt()]).toEqual([problem, problem]);
    expect(collector.received.posts).toBe(1);
    nowMs += 300_000;
    collector.told.answer = () => new Response();
    expect(await tryIt()).toBeUndefined();
    expect(collector.received.spans.length).toBe(1);
  });
});

test('spans that the collector threw away are told, and not sent again', async () => {
  const answer = encodeProto('response', { partialSuccess: { rejectedSpans: 2 } });
  collector.told.answer = () => new Response(new Uint8Array(answer));
  await writer()(sink, partOf(storedRow(), storedRow()));
  expect(rejected).toEqual([[sink.name, 2]]);
  expect(collector.received.posts).toBe(1);
});
