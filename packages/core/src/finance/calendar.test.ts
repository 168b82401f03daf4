import { describe, expect, test } from 'bun:test';
import { daysLeft, instantOf, isTimeZone, monthOf, monthRange, sameShareBefore, shiftMonth } from './calendar';

const iso = (ms: number) => new Date(ms).toISOString();
const HOUR_MS = 3_600_000;

describe('months of a zone', () => {
  test.each([
    ['UTC', '2026-10', '2026-10-01T00:00:00.000Z', '2026-11-01T00:00:00.000Z', 744],
    // One hour longer: clocks go back on the 25th.
    ['Europe/Berlin', '2026-10', '2026-09-30T22:00:00.000Z', '2026-10-31T23:00:00.000Z', 745],
    ['Europe/Berlin', '2026-03', '2026-02-28T23:00:00.000Z', '2026-03-31T22:00:00.000Z', 743],
    ['America/Los_Angeles', '2026-11', '2026-11-01T07:00:00.000Z', '2026-12-01T08:00:00.000Z', 721],
    ['Asia/Tokyo', '2026-10', '2026-09-30T15:00:00.000Z', '2026-10-31T15:00:00.000Z', 744],
    ['Asia/Kolkata', '2026-02', '2026-01-31T18:30:00.000Z', '2026-02-28T18:30:00.000Z', 672],
    ['Pacific/Kiritimati', '2024-02', '2024-01-31T10:00:00.000Z', '2024-02-29T10:00:00.000Z', 696],
  ])('%s %s', (zone, month, from, to, hours) => {
    const { fromMs, toMs } = monthRange(zone, month);
    expect([iso(fromMs), iso(toMs), (toMs - fromMs) / HOUR_MS]).toEqual([from, to, hours]);
    expect([fromMs - 1, fromMs, toMs - 1, toMs].map((ms) => monthOf(zone, ms))).toEqual([
      ...[shiftMonth(month, -1), month, month, shiftMonth(month, 1)],
    ]);
  });

  test('a midnight that is left out in spring, and one that comes twice in autumn', () => {
    // In Beirut the clocks go from 24:00 to 1:00.
    expect(iso(instantOf('Asia/Beirut', Date.UTC(2026, 2, 29)))).toBe('2026-03-28T22:00:00.000Z');
    // In Havana from 1:00 back to 0:00.
    expect(iso(instantOf('America/Havana', Date.UTC(2026, 10, 1)))).toBe('2026-11-01T04:00:00.000Z');
  });

  test('the months follow each other, over years', () => {
    expect([shiftMonth('2026-01', -1), shiftMonth('2026-12', 1), shiftMonth('2026-03', -14)]).toEqual([
      ...['2025-12', '2027-01', '2025-01'],
    ]);
  });

  test('invalid zones', () => {
    expect([isTimeZone('Europe/Berlin'), isTimeZone('UTC'), isTimeZone('Mars/Olympus'), isTimeZone('')]).toEqual([
      ...[true, true, false, false],
    ]);
  });
});

describe('a month that is not over', () => {
  test('is compared with the month before up to the same moment', () => {
    const at = (iso: string) => Date.parse(iso);
    const { fromMs, toMs } = sameShareBefore('Europe/Berlin', '2026-11', at('2026-11-23T13:20:00Z'));
    expect([iso(fromMs), iso(toMs)]).toEqual(['2026-09-30T22:00:00.000Z', '2026-10-23T12:20:00.000Z']);
    // The 31st has no like in February.
    expect(iso(sameShareBefore('UTC', '2026-03', at('2026-03-31T10:00:00Z')).toMs)).toBe('2026-03-01T00:00:00.000Z');
  });

  test('has the rest of today and whole days left', () => {
    const left = daysLeft('America/Los_Angeles', '2026-11', Date.parse('2026-11-29T02:00:00Z'));
    expect(left.map(({ date, share }) => [date, Math.round(share * 100) / 100])).toEqual([
      ['2026-11-28', 0.25],
      ['2026-11-29', 1],
      ['2026-11-30', 1],
    ]);
  });
});
