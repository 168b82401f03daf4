import { expect, test } from 'bun:test';
import { binOf, binValueMs } from '@llm0/core/logs/histogram';
import { describeChanges, prepareChange } from './prepare-change';

const stat = { better: 'less' } as const;

test('a percentile that moves by one bin has not changed for certain', () => {
  const isBinned = true;
  for (const ms of [2.24, 310, 14_180]) {
    const [own, next, far] = [0, 1, 2].map((bins) => binValueMs(binOf(ms) + bins));
    const changeTo = (now = 0, before = 0) => prepareChange({ ...stat, isBinned, now, before });
    expect(changeTo(own, own)).toMatchObject({ text: '≈ 0 %', tone: 'muted' });
    expect(changeTo(next, own)).toMatchObject({ text: '≈ 0 %', tone: 'muted' });
    expect(changeTo(own, next)).toMatchObject({ text: '≈ 0 %', tone: 'muted' });
    expect(changeTo(far, own)).toMatchObject({ text: '+8.3 %', tone: 'bad' });
    expect(changeTo(own, far)).toMatchObject({ text: '−7.7 %', tone: 'good' });
  }
});

test('other numbers change by what they are', () => {
  expect(prepareChange({ ...stat, now: 101, before: 100 })).toMatchObject({ text: '+1.0 %', tone: 'bad' });
  expect(prepareChange({ ...stat, better: 'more', now: 0.5, before: 0.4, isShare: true })).toMatchObject({
    tone: 'good',
  });
  expect(prepareChange({ ...stat, now: 1, before: null })).toBeNull();
});

test('nothing is said of changes before it is known whether there are any', () => {
  const [without, compared] = [[{ before: null }], [{ before: null }, { before: 3 }]];
  expect([describeChanges(without, true), describeChanges(compared, true)]).toEqual([
    null,
    'Changes compare with the same length of time before.',
  ]);
  expect(describeChanges(without, false)).toBe('No changes: the log has no whole period before this one.');
});
