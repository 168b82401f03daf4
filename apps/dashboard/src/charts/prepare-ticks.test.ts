import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { axisLabels, axisSpace, axisSteps, prepareTicks, timeLabel, timeLabels } from './prepare-ticks';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** How far the clocks of a place are ahead of UTC. */
function offsetsOf(timeZone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  return (ms) => {
    const [, sign, hours, minutes] = /GMT(?:([+-])(\d+):(\d+))?/.exec(format.format(ms)) ?? [];
    return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * HOUR + Number(minutes ?? 0) * 60_000);
  };
}

const clockIn = (timeZone: string) => (ms: number) =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(ms);

const ticks = (timeZone: string, from: string, to: string, stepMs: number) =>
  prepareTicks({ fromMs: Date.parse(from), toMs: Date.parse(to), stepMs, offsetAt: offsetsOf(timeZone) });

describe('ticks', () => {
  test.each(['UTC', 'Europe/Berlin', 'Asia/Tokyo', 'America/Los_Angeles'])('days begin at midnight in %s', (zone) => {
    const found = ticks(zone, '2026-03-01T05:00:00Z', '2026-04-05T05:00:00Z', DAY).map(clockIn(zone));
    expect(found.length).toBe(35);
    expect(found.filter((clock) => !clock.endsWith(' 00:00'))).toEqual([]);
  });

  test('the hour that a change to summer time leaves out has no tick, those after it stand where clocks say', () => {
    const found = ticks('Europe/Berlin', '2026-03-28T23:00:00Z', '2026-03-29T04:00:00Z', HOUR);
    expect(found.map(clockIn('Europe/Berlin')).map((clock) => clock.slice(11))).toEqual([
      '00:00',
      '01:00',
      '03:00',
      '04:00',
      '05:00',
      '06:00',
    ]);
    const sixHours = ticks('America/Los_Angeles', '2026-11-01T00:00:00Z', '2026-11-03T00:00:00Z', 6 * HOUR);
    expect(sixHours.map(clockIn('America/Los_Angeles')).filter((clock) => !/ (00|06|12|18):00$/.test(clock))).toEqual(
      [],
    );
  });

  test('steps of months stand at their first days', () => {
    const found = ticks('Europe/Berlin', '2026-01-10T00:00:00Z', '2026-06-10T00:00:00Z', 30 * DAY);
    expect(found.map(clockIn('Europe/Berlin'))).toEqual([
      '2026-02-01 00:00',
      '2026-03-01 00:00',
      '2026-04-01 00:00',
      '2026-05-01 00:00',
      '2026-06-01 00:00',
    ]);
    const years = ticks('UTC', '2025-05-10T00:00:00Z', '2027-06-10T00:00:00Z', 365 * DAY);
    expect(years.map(clockIn('UTC'))).toEqual(['2026-01-01 00:00', '2027-01-01 00:00']);
  });

  test('minutes are counted from the full hour in zones of half hours', () => {
    const found = ticks('Asia/Kolkata', '2026-01-10T00:00:00Z', '2026-01-10T02:00:00Z', HOUR);
    expect(found.map(clockIn('Asia/Kolkata'))).toEqual(['2026-01-10 06:00', '2026-01-10 07:00']);
  });
});

test('labels of a time axis are few, at whole steps, and at their places', () => {
  const toMs = Date.parse('2026-11-26T08:00:00Z');
  const labels = (hours: number, on: 'phone' | 'wide' = 'phone') =>
    timeLabels({ fromMs: toMs - hours * HOUR, toMs, timeZone: 'utc' }, on).map(({ label }) => label);
  expect(labels(1)).toEqual(['07:00', '07:15', '07:30', '07:45', '08:00']);
  expect(labels(24)).toEqual(['12:00', '18:00', 'Nov 26', '06:00']);
  for (const days of [1, 7, 14, 30, 90]) expect(labels(24 * days).length).toBeWithin(2, 8);
  for (const days of [1, 7, 14, 30, 90]) expect(labels(24 * days, 'wide').length).toBeWithin(8, 16);
  const [first] = timeLabels({ fromMs: toMs - 24 * HOUR, toMs, timeZone: 'utc' }, 'phone');
  expect(first?.share).toBeCloseTo(4 / 24, 9);
});

test('ticks closer than a minute show their seconds', () => {
  const labels = (from: string, to: string, stepMs: number) =>
    ticks('UTC', from, to, stepMs).map((ms) => timeLabel(ms, 'utc', stepMs));
  expect(labels('2026-11-26T09:22:00Z', '2026-11-26T09:22:15Z', 5000)).toEqual([
    ...['09:22:00', '09:22:05', '09:22:10', '09:22:15'],
  ]);
  expect(labels('2026-11-25T23:59:30Z', '2026-11-26T00:00:30Z', 30_000)).toEqual(['23:59:30', 'Nov 26', '00:00:30']);
  expect(labels('2026-11-26T09:22:00Z', '2026-11-26T09:23:00Z', 60_000)).toEqual(['09:22', '09:23']);
});

test('counts have whole ticks', () => {
  expect(axisSteps('count')?.every(Number.isInteger)).toBe(true);
  expect(axisSteps('count')?.slice(0, 5)).toEqual([1, 2, 5, 10, 20]);
  expect(axisSteps('usd')).toBeUndefined();
});

test('counts of any size have a tick besides zero in a chart of any height', () => {
  const charts = fc.record({ height: fc.integer({ min: 30, max: 400 }), most: fc.integer({ min: 1, max: 1e9 }) });
  fc.assert(
    fc.property(charts, ({ height, most }) => {
      // The chart library takes the first step that has enough room.
      const step = axisSteps('count')?.find((one) => (height * one) / (most * 1.08) >= axisSpace(height));
      expect(step).toBeLessThanOrEqual(most);
    }),
    { examples: [3, 4, 8, 9, 30, 80].map((most) => [{ height: 52, most }]) },
  );
});

test('money has two decimals or more, as many on the whole axis', () => {
  expect(axisLabels('usd', [0, 0.05, 0.1])).toEqual(['$0.00', '$0.05', '$0.10']);
  expect(axisLabels('usd', [0, 0.0005, 0.001])).toEqual(['$0.0000', '$0.0005', '$0.0010']);
  expect(axisLabels('usd', [0, 0.1, 0.2, 0.30000000000000004])).toEqual(['$0.00', '$0.10', '$0.20', '$0.30']);
  expect(axisLabels('usd', [0, 5, 10])).toEqual(['$0', '$5', '$10']);
  expect(axisLabels('usd', [0, 2500, 5000])).toEqual(['$0', '$2.5K', '$5K']);
});

test('durations have one unit on the whole axis', () => {
  expect(axisLabels('ms', [0, 500, 1000])).toEqual(['0', '0.5 s', '1 s']);
  expect(axisLabels('ms', [0, 200, 400])).toEqual(['0', '200 ms', '400 ms']);
});
