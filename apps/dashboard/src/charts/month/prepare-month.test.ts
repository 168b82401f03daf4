import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { daysBetween } from '../../range/month';
import { heightOf, prepareMonth } from './prepare-month';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-11-10T12:00:00Z');
const NOVEMBER = Date.parse('2026-11-01T00:00:00Z');
const OCTOBER = Date.parse('2026-10-01T00:00:00Z');
const NOVEMBER_NOW = { startMs: NOVEMBER, nowMs: NOW };
const evenly = (usd: number) =>
  new Map(daysBetween(OCTOBER, Date.parse('2026-11-11T00:00:00Z')).map((day) => [day, usd]));
const forecast = daysBetween(Date.parse('2026-11-10T00:00:00Z'), Date.parse('2026-12-01T00:00:00Z')).map(
  (day, index) => ({
    date: new Date(day).toISOString().slice(0, 10),
    expected_usd: 20 + index * 2,
    low_usd: 20 + index,
    high_usd: 20 + index * 3,
  }),
);
const points = (path: string) =>
  [...path.matchAll(/[ML]([\d.-]+) ([\d.-]+)/g)].map(([, x, y]) => [Number(x), Number(y)] as const);

describe('the curve of a month', () => {
  const curve = prepareMonth({ ...NOVEMBER_NOW, spentOn: evenly(2), capUsd: 60, forecast });

  test('runs up to now, beside the month before, and on by the forecast', () => {
    expect([curve.days.length, curve.today]).toEqual([30, 9]);
    expect(curve.days[0]).toEqual({
      ...{ startMs: NOVEMBER, spent: 2, before: 2, expected: null, low: null, high: null },
    });
    expect(curve.days[9]).toMatchObject({ spent: 20, before: 20, expected: 20, high: 20 });
    expect(curve.days[29]).toMatchObject({ spent: null, before: 62, expected: 60, low: 40, high: 80 });
  });

  test('is continuous: the forecast and its band begin where the spend ends, at the current time', () => {
    const { spent, expected, band } = curve.paths;
    const now = points(spent).at(-1);
    expect(now?.[0]).toBeCloseTo((9.5 / 30) * 100, 1);
    expect(points(expected)[0]).toEqual(now);
    expect(points(band)[0]).toEqual(now);
    expect(points(expected).at(-1)?.[0]).toBe(100);
    expect([points(spent)[0], points(curve.paths.before)[0]]).toEqual([
      [0, 100],
      [0, 100],
    ]);
  });

  test('a month before is a gap where it has no data', () => {
    const from = (day: string) =>
      prepareMonth({ ...NOVEMBER_NOW, spentOn: evenly(2), capUsd: 60, forecast, dataFromMs: Date.parse(day) });
    const partly = from('2026-10-19');
    expect(partly.days.map(({ before }) => before).slice(16, 20)).toEqual([null, null, 38, 40]);
    expect(points(partly.paths.before)[0]).toEqual([60, 100]);
    const none = from('2026-11-01');
    expect([none.paths.before, none.days.every(({ before }) => before === null)]).toEqual(['', true]);
  });

  test('a month that the data begins in has no line before that day', () => {
    const october = (day: string) => {
      const dataFromMs = Date.parse(day);
      return prepareMonth({ spentOn: evenly(2), startMs: OCTOBER, nowMs: NOW, capUsd: null, forecast: [], dataFromMs });
    };
    const line = points(october('2026-10-19').paths.spent);
    expect([line.length, line[0]]).toEqual([14, [58.06, 100]]);
    expect(points(october('2026-09-30').paths.spent).length).toBe(32);
    expect(october('2026-11-03').paths.spent).toBe('');
  });

  test('a month before that was shorter ends, a longer one ends with its total on the last day of this one', () => {
    const nowMs = Date.parse('2027-03-02T00:00:00Z');
    const march = prepareMonth({
      spentOn: new Map(),
      startMs: Date.parse('2027-03-01T00:00:00Z'),
      nowMs,
      capUsd: null,
      forecast: [],
    });
    expect([march.days[27]?.before, march.days[28]?.before, march.days.length]).toEqual([0, null, 31]);
    expect(points(curve.paths.before).length).toBe(31);
  });

  test('a month that has ended runs to its end, without a current day', () => {
    const { days, today, paths } = prepareMonth({
      ...{ spentOn: evenly(2), startMs: OCTOBER, nowMs: NOW, capUsd: null, forecast: [] },
    });
    expect([days.length, today >= days.length, days[30]?.spent, days[30]?.before]).toEqual([31, true, 62, null]);
    expect([points(paths.spent).at(-1)?.[0], paths.expected]).toEqual([100, '']);
  });

  test('without a forecast nothing is drawn after now; without a band no band', () => {
    const { paths } = prepareMonth({ ...NOVEMBER_NOW, spentOn: evenly(2), capUsd: null, forecast: [] });
    expect([paths.expected, paths.band]).toEqual(['', '']);
    const unsure = forecast.map((day) => ({ ...day, low_usd: null, high_usd: null }));
    const line = prepareMonth({ ...NOVEMBER_NOW, spentOn: evenly(2), capUsd: null, forecast: unsure });
    expect([line.paths.band, line.paths.expected === '']).toEqual(['', false]);
  });

  test('a cap far above does not flatten the curves; a near one is in the picture', () => {
    expect([curve.cap, curve.topUsd >= 80]).toEqual([{ usd: 60, isDrawn: true }, true]);
    const far = prepareMonth({ ...NOVEMBER_NOW, spentOn: evenly(2), capUsd: 5000, forecast });
    expect([far.cap, far.topUsd]).toEqual([{ usd: 5000, isDrawn: false }, curve.topUsd]);
    const idle = prepareMonth({ ...NOVEMBER_NOW, spentOn: new Map(), capUsd: 5000, forecast: [] });
    expect([idle.cap?.isDrawn, idle.topUsd >= 5000]).toEqual([true, true]);
  });
});

test('any amounts: every point and tick is within the picture, and totals never fall', () => {
  const usd = fc.oneof(fc.constant(0), fc.double({ min: 1e-9, max: 1e7, noNaN: true }));
  const asked = fc.record({
    amounts: fc.array(usd, { minLength: 70, maxLength: 70 }),
    nowMs: fc.integer({ min: NOVEMBER, max: NOVEMBER + 30 * DAY_MS - 1 }),
    capUsd: fc.option(usd),
  });
  fc.assert(
    fc.property(asked, ({ amounts, nowMs, capUsd }) => {
      const spentOn = new Map(amounts.map((amount, index) => [OCTOBER + index * DAY_MS, amount]));
      const { days, today, paths, ticks, topUsd } = prepareMonth({
        spentOn,
        startMs: NOVEMBER,
        nowMs,
        capUsd,
        forecast: [],
      });
      for (const [x, y] of [...points(paths.spent), ...points(paths.before)]) {
        expect([x >= 0, x <= 100, y >= -0.01, y <= 100]).toEqual([true, true, true, true]);
      }
      expect([ticks[0], ticks.length >= 2, ticks.length <= 5]).toEqual([0, true, true]);
      for (const tick of ticks) expect(heightOf(tick, topUsd)).toBeGreaterThanOrEqual(-0.01);
      expect(days.filter(({ spent }) => spent !== null).length).toBe(today + 1);
      for (let index = 1; index <= today; index++) {
        expect(days[index]?.spent ?? -1).toBeGreaterThanOrEqual(days[index - 1]?.spent ?? 0);
      }
    }),
  );
});
