import { describe, expect, test } from 'bun:test';
import { daysLeft } from './calendar';
import { capReachedOn, type DayHistory, forecastDays, forecastMonth } from './forecast';

const DAY_MS = 86_400_000;
/** 2026-10-15 is a Thursday. */
const NOON = Date.parse('2026-10-15T12:00:00Z');
const MIDNIGHT = Date.parse('2026-10-15T00:00:00Z');
const left = daysLeft('UTC', '2026-10', MIDNIGHT);

/** Days up to yesterday, each as its weekday and number say. */
function historyOf(days: number, nanoOf: (weekday: number, index: number) => number): DayHistory {
  const first = new Date(MIDNIGHT - days * DAY_MS).getUTCDay();
  const nanoUsd = Array.from({ length: days }, (_, index) => nanoOf((first + index) % 7, index));
  return { firstWeekday: first, nanoUsd };
}

describe('forecast of a month', () => {
  test('a series that is the same every day is forecast to the nano-dollar, with a band of nothing', () => {
    const history = historyOf(84, () => 1_000);
    expect(forecastMonth({ spentNanoUsd: 14_000, history, left })).toEqual({
      expectedNanoUsd: 31_000,
      lowNanoUsd: 31_000,
      highNanoUsd: 31_000,
    });
  });

  test('weekends cost what weekends cost', () => {
    const history = historyOf(84, (weekday) => (weekday === 0 || weekday === 6 ? 100 : 1_000));
    // 15 to 31 October 2026: 12 working days (15, 16, 19–23, 26–30) and 5 days of weekends.
    expect(left.length).toBe(17);
    expect(forecastMonth({ spentNanoUsd: 0, history, left })?.expectedNanoUsd).toBe(12 * 1_000 + 5 * 100);
  });

  test('only the rest of today counts', () => {
    const history = historyOf(84, () => 1_000);
    const half = daysLeft('UTC', '2026-10', NOON);
    expect(forecastMonth({ spentNanoUsd: 14_500, history, left: half })?.expectedNanoUsd).toBe(14_500 + 16_500);
  });

  test('days before the first spend are none: a project of ten days is forecast by its own', () => {
    const history = historyOf(84, (_weekday, index) => (index < 74 ? 0 : 700));
    expect(forecastMonth({ spentNanoUsd: 7_000, history, left })).toEqual({
      ...{ expectedNanoUsd: 7_000 + 17 * 700, lowNanoUsd: null, highNanoUsd: null },
    });
  });

  test('the last four weeks count, not what was before', () => {
    const history = historyOf(84, (_weekday, index) => (index < 56 ? 9_000 : 1_000));
    expect(forecastMonth({ spentNanoUsd: 0, history, left })?.expectedNanoUsd).toBe(17_000);
  });

  test('the band is as wide as forecasts were off: weeks of 500 and of 1,500 by turns', () => {
    const history = historyOf(84, (_weekday, index) => (Math.floor(index / 7) % 2 === 0 ? 500 : 1_500));
    const found = forecastMonth({ spentNanoUsd: 0, history, left: left.slice(0, 7) });
    expect(found?.expectedNanoUsd).toBe(7_000);
    expect(found?.lowNanoUsd).toBeLessThan(5_500);
    expect(found?.highNanoUsd).toBeGreaterThan(8_500);
  });

  test('most of what came to be lies in the bands that were given', () => {
    let seed = 7;
    const random = () => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    let inside = 0;
    for (let run = 0; run < 200; run += 1) {
      const draw = (weekday: number) => Math.round((weekday === 0 ? 300 : 1_000) * (0.5 + random()));
      const history = historyOf(84, draw);
      const found = forecastMonth({ spentNanoUsd: 0, history, left });
      const spent = left.reduce((sum, { weekday }) => sum + draw(weekday), 0);
      if (spent >= (found?.lowNanoUsd ?? 0) && spent <= (found?.highNanoUsd ?? 0)) inside += 1;
    }
    // From the 10 % to the 90 % quantile: eight of ten are meant, of windows that overlap a little fewer.
    expect(inside / 200).toBeGreaterThan(0.6);
  });

  test('too little is known: nothing is said', () => {
    expect(forecastMonth({ spentNanoUsd: 5, history: historyOf(84, () => 0), left })).toBeNull();
    expect(forecastMonth({ spentNanoUsd: 5, history: historyOf(2, () => 10), left })).toBeNull();
  });
});

describe('when a cap is reached', () => {
  const history = historyOf(84, () => 1_000);
  test.each([
    [14_000, 20_000, '2026-10-20'],
    [14_000, 31_000, '2026-10-31'],
    [14_000, 31_001, null],
    [14_000, 14_000, '2026-10-15'],
  ])('%i spent of %i', (spentNanoUsd, capNanoUsd, date) => {
    const monthNanoUsd = spentNanoUsd + 17_000;
    expect(capReachedOn({ spentNanoUsd, history, left, capNanoUsd, monthNanoUsd })).toBe(date);
  });

  test('in a dear month it is reached earlier', () => {
    const input = { spentNanoUsd: 14_000, history, left, capNanoUsd: 32_000 };
    expect(capReachedOn({ ...input, monthNanoUsd: 31_000 })).toBeNull();
    expect(capReachedOn({ ...input, monthNanoUsd: 14_000 + 34_000 })).toBe('2026-10-23');
  });
});

describe('the way to the forecast', () => {
  const weekly = historyOf(84, (weekday, index) => (weekday === 0 ? 100 : 1_000) + (index % 5) * 37);
  const input = { spentNanoUsd: 14_001, history: weekly, left };

  test('begins today, ends at the forecast with its band, and never falls', () => {
    const days = forecastDays(input);
    const [first, last] = [days[0], days.at(-1)];
    expect([days.length, first?.date, last?.date]).toEqual([17, '2026-10-15', '2026-10-31']);
    expect(last).toEqual({ date: '2026-10-31', ...forecastMonth(input) } as typeof last);
    for (const [index, { expectedNanoUsd, lowNanoUsd, highNanoUsd }] of days.entries()) {
      expect(expectedNanoUsd).toBeGreaterThanOrEqual(days[index - 1]?.expectedNanoUsd ?? input.spentNanoUsd);
      expect(lowNanoUsd ?? Infinity).toBeLessThanOrEqual(expectedNanoUsd);
      expect(highNanoUsd ?? 0).toBeGreaterThanOrEqual(expectedNanoUsd);
    }
  });

  test('passes a cap on the day on which it is reached', () => {
    const { expectedNanoUsd: monthNanoUsd = 0 } = forecastMonth(input) ?? {};
    for (const capNanoUsd of [14_002, 17_500, 20_000, 25_555, monthNanoUsd, monthNanoUsd + 1]) {
      const day = forecastDays(input).find(({ expectedNanoUsd }) => expectedNanoUsd >= capNanoUsd);
      expect(day?.date ?? null).toBe(capReachedOn({ ...input, capNanoUsd, monthNanoUsd }));
    }
  });

  test('without a forecast there is no way, and without enough errors no band', () => {
    expect(forecastDays({ ...input, history: historyOf(2, () => 10) })).toEqual([]);
    const [short] = forecastDays({ ...input, history: historyOf(10, () => 700) });
    expect(short).toMatchObject({ lowNanoUsd: null, highNanoUsd: null });
    expect(forecastDays({ ...input, left: [] })).toEqual([]);
  });
});
