import { expect, test } from 'bun:test';
import { calendarRanges } from './calendar-ranges';

const shown = (now: string) =>
  calendarRanges(Date.parse(now), 'utc').map(({ label, fromMs, toMs }) => [
    ...[label, new Date(fromMs).toISOString().slice(0, 16), new Date(toMs).toISOString().slice(0, 16)],
  ]);

test('days and months end now, or where the next begins; over the ends of years', () => {
  expect(shown('2027-01-01T00:00:00Z')).toEqual([
    ['Today', '2027-01-01T00:00', '2027-01-01T00:01'],
    ['Yesterday', '2026-12-31T00:00', '2027-01-01T00:00'],
    ['This month', '2027-01-01T00:00', '2027-01-01T00:01'],
    ['Last month', '2026-12-01T00:00', '2027-01-01T00:00'],
  ]);
});

test('days of a local zone begin at its midnight', () => {
  for (const { fromMs, label } of calendarRanges(Date.parse('2026-11-27T12:30:10Z'), 'local')) {
    expect([label, new Date(fromMs).getHours(), new Date(fromMs).getMinutes()]).toEqual([label, 0, 0]);
  }
});
