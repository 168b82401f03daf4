import { afterEach, expect, test } from 'bun:test';
import { Worker } from 'node:worker_threads';
import { encodeLogRecord } from '@llm0/core/logs/decode-log-record';
import type { StoredRecords } from '@llm0/core/tracing/span';
import { type Collector, startCollector } from '@llm0/testing/fake-upstream/start-collector';
import { requestRow } from '../request-row.fixture';
import { ExportThread, type ExportThreadOptions } from './export-thread';

const EXPORT = new URL('./worker.ts', import.meta.url);
const rows = (count: number): StoredRecords => ({
  requests: Array.from({ length: count }, () => encodeLogRecord(requestRow())),
  calls: [],
});

const settingsOf = (endpoint: string): ExportThreadOptions['settings'] => ({
  ...{ endpoint, headers: {}, protocol: 'http/protobuf', traces: true, metrics: true },
  ...{ serviceName: 'gateway', resource: {}, content: false, onlyLatestNames: true },
  ...{ sampler: { name: 'always_on', ratio: 1 }, spanDelayMs: 20, metricsEveryMs: 60_000 },
});

let collector: Collector;
afterEach(() => collector.stop());

function open(more: Partial<ExportThreadOptions> = {}) {
  collector = startCollector();
  const counted: Record<string, number> = {};
  const count = (what: string, items: number) => {
    counted[what] = (counted[what] ?? 0) + items;
  };
  const workers: Worker[] = [];
  const thread = new ExportThread({
    settings: settingsOf(collector.url),
    ...{ version: '1.2.3', instanceId: 'one', isKnown: () => true, loadBodies: async () => new Map() },
    onTaken: (signal, items) => count(`${signal} taken`, items),
    onLost: (signal, { items, reason }) => count(`${signal} ${reason}`, items),
    onFailed: (signal, reason) => count(`${signal} failed ${reason}`, 1),
    firstBackOffMs: 100,
    start: () => {
      const worker = new Worker(EXPORT);
      workers.push(worker);
      return worker;
    },
    ...more,
  });
  return { thread, counted, workers, received: collector.received };
}

const until = async (isSo: () => boolean) => {
  for (let i = 0; i < 300 && !isSo(); i++) await Bun.sleep(10);
};

test('a thread that breaks loses what it had, which is counted, and the next rows start another', async () => {
  const { thread, counted, workers, received } = open();
  thread.take(rows(3));
  thread.sendMetrics([], { startMs: 1, nowMs: 2 });
  await workers[0]?.terminate();
  await until(() => counted['traces broken'] !== undefined);
  const [traces = 0, metrics = 0] = [counted['traces broken'], counted['metrics broken'] ?? counted['metrics taken']];
  expect([traces, metrics]).toEqual([3, 1]);
  thread.take(rows(2));
  expect([workers.length, counted['traces broken']]).toEqual([1, 5]);
  await Bun.sleep(120);
  thread.take(rows(4));
  await thread.close(5_000);
  expect([workers.length, counted['traces taken'], received.spans.length]).toEqual([2, 4, 8]);
});

test('a message that the thread cannot read costs its rows, and the gateway nothing', async () => {
  const { thread, counted, workers, received } = open();
  const [whole] = rows(1).requests;
  if (whole === undefined) throw new Error('no row');
  thread.take({ requests: [{ ...whole, json: '{' }], calls: [] });
  await until(() => counted['traces broken'] !== undefined);
  expect(counted['traces broken']).toBe(1);
  await Bun.sleep(120);
  thread.take(rows(1));
  await thread.close(5_000);
  expect([workers.length, received.spans.length]).toEqual([2, 2]);
});

test('a thread that stands still: what is on its way is bounded, the rest counted, and the end is on time', async () => {
  const deaf = "require('node:worker_threads').parentPort.on('message', () => {})";
  const { thread, counted } = open({ start: () => new Worker(deaf, { eval: true }) });
  for (let i = 0; i < 10; i++) thread.take(rows(1_000));
  expect(counted['traces queue_full']).toBeGreaterThanOrEqual(10_000 - 4_096);
  const startMs = performance.now();
  await thread.close(200);
  expect(performance.now() - startMs).toBeLessThan(1_500);
  expect((counted['traces queue_full'] ?? 0) + (counted['traces shutdown'] ?? 0)).toBe(10_000);
  thread.take(rows(1));
  expect((counted['traces queue_full'] ?? 0) + (counted['traces shutdown'] ?? 0)).toBe(10_001);
});

test.each([
  ['before', "port.postMessage({ type: 'failed', signal: 'traces', reason: 'unreachable', detail: 'no answer' })"],
  [
    'at',
    "if (type === 'close') port.postMessage({ type: 'failed', signal: 'traces', reason: 'unreachable', detail: '' })",
  ],
])('a collector that gives no answer %s the end is waited for two seconds at most', async (_when, says) => {
  const code = `const port = require('node:worker_threads').parentPort; port.on('message', ({ type }) => { ${says} })`;
  const { thread, counted } = open({ start: () => new Worker(code, { eval: true }) });
  thread.take(rows(2));
  if (_when === 'before') await until(() => counted['traces failed unreachable'] !== undefined);
  const startMs = performance.now();
  await thread.close(10_000);
  expect(performance.now() - startMs).toBeLessThan(2_000);
  expect(counted['traces shutdown']).toBe(2);
});

test('rows that nothing is made of start no thread, and one that cannot start costs rows alone', async () => {
  const { thread, workers } = open({ settings: { ...settingsOf(''), metrics: false } });
  thread.take({ requests: [encodeLogRecord(requestRow({ trace: undefined }))], calls: [] });
  await thread.close(100);
  expect(workers).toEqual([]);
  collector.stop();
  const start = () => {
    throw new Error('no threads left');
  };
  const { thread: other, counted } = open({ start });
  other.take(rows(2));
  await other.close(100);
  expect(counted).toEqual({ 'traces broken': 2 });
});

test('only models that the operator knows are told apart in metrics', async () => {
  const { thread, received } = open({ isKnown: (provider, model) => `${provider} ${model}` === 'openai gpt-one' });
  const requests = ['gpt-one', 'made-up'].map((model) => encodeLogRecord(requestRow({ model })));
  thread.take({ requests, calls: [] });
  await until(() => received.spans.length > 0);
  thread.sendMetrics([], { startMs: 1, nowMs: 2 });
  await thread.close(5_000);
  const duration = received.metrics.find(({ name }) => name === 'gen_ai.client.operation.duration');
  expect(duration?.points.map(({ attributes }) => attributes['gen_ai.request.model'])).toEqual(['gpt-one', 'other']);
});
