import { expect, test } from 'bun:test';
import { describeLines, isCancellable, progressOf, reasonOf } from './prepare-batch';

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
