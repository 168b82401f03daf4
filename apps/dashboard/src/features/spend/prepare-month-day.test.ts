import { expect, test } from 'bun:test';
import type { MonthCurve, MonthDay } from '../../charts/month/prepare-month';
import { cellsOfDay, describeDay } from './prepare-month-day';

const NONE = { spent: null, before: null, expected: null, low: null, high: null };
const DAY: MonthDay = { ...NONE, startMs: Date.parse('2026-11-19'), spent: 21.4035, before: 0.5867 };

test('amounts of a day have the decimals of the largest; a month before without data is not named', () => {
  const ahead: MonthDay = { ...DAY, spent: null, before: null, expected: 0.9314, low: 0.5, high: 1.25 };
  const curve = { days: [DAY, ahead, { ...DAY, before: null }], today: 2 } as unknown as MonthCurve;
  expect([0, 1, 2].map((index) => describeDay(curve, index))).toEqual([
    'Nov 19: $21.40 spent, $0.59 by then in the month before',
    'Nov 19: expected $0.93 ($0.50 to $1.25)',
    'Nov 19: $21.40 spent so far',
  ]);
  expect(cellsOfDay(DAY)).toEqual(['Nov 19', '$21.40', '$0.59', '–', '–', '–']);
});
