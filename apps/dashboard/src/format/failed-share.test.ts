import { expect, test } from 'bun:test';
import { describeFailedShare } from './failed-share';

test('a share of failures is that of the numbers beside it, or names its base', () => {
  expect(describeFailedShare({ requests: 171, success: 148, failures: 23 })).toBe('13.5 %');
  expect(describeFailedShare({ requests: 171, success: 144, failures: 23 })).toBe('13.8 % of 167 answered or failed');
  expect(describeFailedShare({ requests: 9_000, success: 4_000, failures: 0 })).toBe(
    '0.0 % of 4,000 answered or failed',
  );
  expect(describeFailedShare({ requests: 3, success: 0, failures: 0 })).toBe('–');
});
