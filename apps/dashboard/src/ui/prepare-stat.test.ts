import { expect, test } from 'bun:test';
import { describeChanges } from './prepare-stat';

test('nothing is said of changes before it is known whether there are any', () => {
  const [without, compared] = [[{ before: null }], [{ before: null }, { before: 3 }]];
  expect([describeChanges(without, true), describeChanges(compared, true)]).toEqual([
    null,
    'Changes compare with the same length of time before.',
  ]);
  expect(describeChanges(without, false)).toBe('No changes: the log has no whole period before this one.');
});
