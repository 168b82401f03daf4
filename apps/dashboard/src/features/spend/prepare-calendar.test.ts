import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { describeCalendar, prepareCalendar, shortUsd, weekStart } from './prepare-calendar';

const DAY_MS = 86_400_000;
/** A Thursday. */
const TODAY = Date.parse('2026-11-26T00:00:00Z');
const on = (date: string) => Date.parse(`${date}T00:00:00Z`);
const days = new Map([
  [on('2026-11-02'), { cost_usd: 3, requests: 10 }],
  [on('2026-11-26'), { cost_usd: 1.5, requests: 1 }],
  [on('2026-09-08'), { cost_usd: 40, requests: 4 }],
  [on('2026-11-03'), { cost_usd: 0, requests: 7 }],
]);

describe('a month', () => {
  const weeks = prepareCalendar({ span: 'month', todayMs: TODAY, days });
  const cell = (week: number, weekday: number) => weeks[week]?.cells[weekday];

  test('stands in weeks from Monday; other months and days to come have no amount', () => {
    // November 2026 begins on a Sunday.
    expect(weeks.map(({ startMs }) => new Date(startMs).toISOString().slice(5, 10))).toEqual([
      ...['10-26', '11-02', '11-09', '11-16', '11-23', '11-30'],
    ]);
    expect([cell(0, 5), cell(0, 6)?.corner, cell(5, 1)]).toEqual([null, '1', null]);
    expect(cell(4, 4)).toMatchObject({ text: '', corner: '27', link: null, title: 'Fri, Nov 27, 2026: not yet' });
    expect(describeCalendar(weeks, 'month')).toBe('$4.50 this month. Highest day: Nov 2, $3.00.');
  });

  test('a day leads to its requests, the dearest first; one without requests leads nowhere', () => {
    expect(cell(1, 0)).toMatchObject({ text: '$3.00', title: 'Mon, Nov 2, 2026: $3.00, 10 requests', amount: 3 });
    const search = cell(1, 0)?.link?.search as (kept: object) => object;
    expect(search({ by: 'key', days: 'weeks', project: 'p', range: '7d' })).toMatchObject({
      ...{ from: '2026-11-02T00:00:00.000Z', to: '2026-11-03T00:00:00.000Z', sort: '-cost_usd', project: 'p' },
      ...{ range: '7d', by: undefined, days: undefined },
    });
    expect(cell(1, 2)).toMatchObject({ text: '$0.00', link: null, title: 'Wed, Nov 4, 2026: $0.00, 0 requests' });
    expect([cell(1, 1)?.link === null, cell(4, 3)?.title]).toEqual([false, 'Thu, Nov 26, 2026: $1.50, 1 request']);
  });
});

test('twelve weeks end today', () => {
  const weeks = prepareCalendar({ span: 'weeks', todayMs: TODAY, days });
  expect([weeks.length, weeks[0]?.startMs]).toEqual([12, on('2026-09-07')]);
  expect([weeks[11]?.cells[3]?.amount, weeks[11]?.cells[4], weeks[0]?.cells[1]?.amount]).toEqual([1.5, null, 40]);
  expect(describeCalendar(weeks, 'weeks')).toBe('$44.50 in 12 weeks. Highest day: Sep 8, $40.00.');
  expect(describeCalendar(prepareCalendar({ span: 'weeks', todayMs: TODAY, days: new Map() }), 'weeks')).toBe(
    'Nothing was spent in 12 weeks.',
  );
});

test('any day is in the week of its Monday, and each of its days is there once', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 30_000 }),
      fc.constantFrom('month' as const, 'weeks' as const),
      (day, span) => {
        const todayMs = day * DAY_MS;
        expect(new Date(weekStart(todayMs)).getUTCDay()).toBe(1);
        expect(todayMs - weekStart(todayMs)).toBeLessThan(7 * DAY_MS);
        const cells = prepareCalendar({ span, todayMs, days: new Map() }).flatMap((week) => week.cells);
        expect(cells.length % 7).toBe(0);
        const shown = cells.filter((cell) => cell !== null);
        expect(new Set(shown.map(({ title }) => title)).size).toBe(shown.length);
      },
    ),
  );
});

test('an amount has at most six characters', () => {
  expect([0, 0.001, 0.053, 0.5, 1.234, 99.99, 99.996, 123.4, 1234, 123_456, 1_234_567].map(shortUsd)).toEqual([
    ...['$0.00', '<$0.01', '$0.05', '$0.50', '$1.23', '$99.99', '$100', '$123', '$1.23K', '$123K', '$1.23M'],
  ]);
  fc.assert(
    fc.property(fc.double({ min: 0, max: 9e8, noNaN: true }), (usd) => {
      expect(shortUsd(usd).length).toBeLessThanOrEqual(6);
    }),
  );
});
