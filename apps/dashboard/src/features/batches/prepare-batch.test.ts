import { expect, test } from 'bun:test';
import { describeLines, isCancellable, progressOf, reasonOf, statusOf, toneOf } from './prepare-batch';
import { readReason } from './read-reason';

const counts = { total: 1500, completed: 1200, failed: 3, expired: 0, cancelled: 0 };

test('progress counts every line that was run, and a batch without lines has none', () => {
  expect(progressOf({ ...counts, completed: 1497 })).toBe(1);
  expect(progressOf({ ...counts, total: 200, completed: 72, failed: 0, cancelled: 128 })).toBe(0.36);
  expect(progressOf({ ...counts, total: 200, completed: 50, failed: 0, expired: 150 })).toBe(0.25);
  expect(progressOf({ ...counts, failed: 0 })).toBe(0.8);
  expect(progressOf({ ...counts, total: 0 })).toBeNull();
});

test('lines are told by their ends; absent ends are not', () => {
  expect(describeLines(counts)).toBe('1,200 of 1,500 lines completed, 3 failed');
  expect(describeLines({ ...counts, failed: 0, expired: 1, cancelled: 2 })).toBe(
    '1,200 of 1,500 lines completed, 1 expired, 2 cancelled',
  );
});

test('an unusual end has a reason', () => {
  expect(reasonOf({ status: 'expired', failed: 0 })).toContain('ran out of time');
  expect(reasonOf({ status: 'completed', failed: 2 })).toContain('error file');
  expect(reasonOf({ status: 'completed', failed: 0 })).toBeNull();
});

test('only a batch that goes on can be cancelled, and once', () => {
  expect(isCancellable({ status: 'in_progress' })).toBe(true);
  expect(isCancellable({ status: 'cancelling' })).toBe(false);
});

test('a batch with failed lines is not plainly completed', () => {
  expect([statusOf({ status: 'completed', failed: 1 }), toneOf({ status: 'completed', failed: 1 })]).toEqual([
    ...['completed, 1 failed', 'warn'],
  ]);
  expect([statusOf({ status: 'completed', failed: 0 }), toneOf({ status: 'completed', failed: 0 })]).toEqual([
    ...['completed', 'good'],
  ]);
});

test('a failed line tells its reason, whichever part of it holds it', () => {
  const line = (rest: object) => readReason(JSON.stringify({ custom_id: 'a', ...rest }));
  expect(line({ error: null, response: { body: { error: { message: 'No.' } } } })).toBe('a: No.');
  expect(line({ error: { message: 'Late.' }, response: null })).toBe('a: Late.');
  expect(line({ result: { type: 'errored', error: { error: { message: 'Bad.' } } } })).toBe('a: Bad.');
  expect([line({ response: { body: {} } }), readReason('{"cut')]).toEqual([null, null]);
});
