import { afterEach, beforeEach, expect, test } from 'bun:test';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { RefusalFolder } from './fold-refusals';
import type { LogRecord } from './log-record';

let nowMs: number;
let settled: LogRecord[];
let folder: RefusalFolder;
beforeEach(() => {
  nowMs = 1000;
  settled = [];
  folder = new RefusalFolder({ settle: (record) => settled.push(record), monotonicMs: () => nowMs });
});
afterEach(() => folder.flush());

const refusal = (given: Partial<LogRecord> = {}) =>
  sampleRecord({
    ...{ id: crypto.randomUUID(), status: 'rate_limited', errorCode: 'rate_limit_exceeded', refusedCount: 1 },
    ...{ apiKeyId: 'a', model: 'm', requestedModel: 'm', customerId: 'ann', labels: { team: 'x' }, ...given },
  });
const refuse = (count: number, given: Partial<LogRecord> = {}) =>
  Array.from({ length: count }, () => folder.fold(refusal(given))).filter(Boolean).length;

test('ten a second of a key have rows of their own, the others one together; every key for itself', () => {
  expect(refuse(60)).toBe(50);
  expect(refuse(10, { apiKeyId: 'b' })).toBe(0);
  nowMs += 999;
  expect(refuse(1)).toBe(1);
  expect(settled).toEqual([]);
  nowMs += 1;
  expect(refuse(11)).toBe(1);
  expect(settled.map(({ apiKeyId, refusedCount }) => [apiKeyId, refusedCount])).toEqual([['a', 51]]);
  folder.flush();
  expect(settled.map(({ refusedCount }) => refusedCount)).toEqual([51, 1]);
});

test('other refusals keep their rows, whatever their number', () => {
  expect(refuse(40, { errorCode: 'spend_cap_exceeded', status: 'cap_exceeded' })).toBe(0);
});

test('a key that is refused again and again has to wait: 300 at once, then ten a second; every key for itself', () => {
  const fail = (count: number, key = 'a') =>
    Array.from({ length: count }, () => folder.mayFail(key)).filter(Boolean).length;
  expect(fail(1000)).toBe(300);
  expect(fail(5, 'b')).toBe(5);
  nowMs += 1000;
  expect(fail(100)).toBe(10);
  nowMs += 3_600_000;
  expect(fail(1000)).toBe(300);
});

test('keys without end are not remembered without end', () => {
  for (let n = 0; n < 12_000; n++) folder.mayFail(`key ${n}`);
  expect((folder as unknown as { failing: { clients: { size: number } } }).failing.clients.size).toBe(10_000);
});

test('a shared row says what all have in common, under the id of the first', () => {
  refuse(10);
  const first = refusal({ id: 'first' });
  folder.fold(first);
  folder.fold(refusal({ customerId: 'bob' }));
  folder.fold(refusal({ model: 'n', requestedModel: 'n' }));
  folder.flush();
  expect(settled).toEqual([
    { ...first, refusedCount: 3, model: '', requestedModel: '', customerId: undefined, labels: undefined },
  ]);
});

test('expired entries are handed over and forgotten', async () => {
  const settle = (record: LogRecord) => void settled.push(record);
  const real = new RefusalFolder({ settle, monotonicMs: () => performance.now(), windowMs: 20 });
  for (let n = 0; n < 15; n++) real.fold(refusal());
  while (settled.length === 0) await Bun.sleep(5);
  expect(settled.map(({ refusedCount }) => refusedCount)).toEqual([5]);
  expect((real as unknown as { windows: Map<string, unknown> }).windows.size).toBe(0);
});
