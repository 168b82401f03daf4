import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  changeOf,
  formatBytes,
  formatChange,
  formatEstimate,
  formatMs,
  formatMsShort,
  formatPoints,
  formatShare,
  pointsOf,
} from './format-number';
import {
  formatAgo,
  formatClock,
  formatDays,
  formatInstant,
  formatLength,
  formatStamp,
  parseStamp,
} from './format-time';
import { formatBeside, formatUsd, formatUsdExact, formatUsdShort } from './format-usd';

describe('money', () => {
  test.each([
    [0, '$0.00', '$0.00'],
    [0.000000001, '$0.000000001', '$0.000000001'],
    [0.0000238, '$0.000024', '$0.0000238'],
    [0.000530222, '$0.00053', '$0.000530222'],
    [0.001, '$0.0010', '$0.001'],
    [0.00339, '$0.0034', '$0.00339'],
    [0.0123456, '$0.0123', '$0.0123456'],
    [0.192586, '$0.1926', '$0.192586'],
    [0.99996, '$1.00', '$0.99996'],
    [28.2796299, '$28.28', '$28.2796299'],
    [1234.5, '$1,234.50', '$1,234.50'],
    [2_500_000, '$2.5M', '$2,500,000.00'],
    [-0.5, '−$0.50', '−$0.50'],
    [0.123, '$0.1230', '$0.123'],
    [0.02, '$0.02', '$0.02'],
  ])('%p', (usd, shown, exact) => {
    expect([formatUsd(usd), formatUsdExact(usd)]).toEqual([shown, exact]);
  });

  test('sums beside each other have the decimals of the largest, whatever the smallest is', () => {
    const beside = (...sums: number[]) => sums.map(formatBeside(sums));
    expect(beside(28.2796299, 0.9156, 0.0154, 0)).toEqual(['$28.28', '$0.92', '$0.02', '$0.00']);
    expect(beside(0.010633947, 0.008522, 0)).toEqual(['$0.0106', '$0.0085', '$0.00']);
    expect(beside(0.010633947, 0.0000238, 0.02)).toEqual(['$0.0106', '$0.000024', '$0.0200']);
    expect(beside(-5.0837, 0.0003)).toEqual(['−$5.08', '$0.00030']);
    expect(beside(0.4, 0.05)).toEqual(['$0.40', '$0.05']);
    expect(beside(2_500_000, 123.456)).toEqual(['$2.5M', '$123.46']);
    expect(beside()).toEqual([]);
  });

  test('never an exponent, never NaN', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), (nanoUsd) => {
        for (const format of [formatUsd, formatUsdExact, formatUsdShort])
          expect(format(nanoUsd / 1e9)).not.toMatch(/e|NaN/);
      }),
    );
  });
});

test('the days of a range are whole UTC days, both named', () => {
  const days = (from: string, to: string) => formatDays(`${from}Z`, `${to}Z`);
  expect(days('2026-11-25T09:15', '2026-11-26T09:15')).toBe('Nov 25–26');
  expect(days('2026-11-26T08:15', '2026-11-26T09:15')).toBe('Nov 26');
  expect(days('2026-10-27T23:59', '2026-11-26T00:00')).toBe('Oct 27–Nov 26');
});

describe('numbers', () => {
  test('durations have the unit that suits; nothing is a dash, zero is zero', () => {
    expect([null, 0, 0.4, 42, 999.4, 999.6, 9083, 11_500, 150_000].map((ms) => formatMs(ms))).toEqual([
      ...['–', '0.00 ms', '0.40 ms', '42.0 ms'],
      ...['999 ms', '1.00 s', '9.08 s', '11.50 s', '2.5 min'],
    ]);
    // A percentile is known to 2 %: further digits would say more than that.
    const estimates = [null, 0.042, 0.996, 2.3, 42, 702, 998, 12_023, 118_000, 150_000].map(formatEstimate);
    expect(estimates).toEqual([
      ...['–', '≈ 0.04 ms', '≈ 1.0 ms', '≈ 2.3 ms', '≈ 42 ms', '≈ 700 ms', '≈ 1.0 s', '≈ 12 s', '≈ 120 s'],
      '≈ 2.5 min',
    ]);
    expect([0, 500, 5000, 12_500].map(formatMsShort)).toEqual(['0', '500 ms', '5 s', '12.5 s']);
  });

  test('shares, sizes and changes', () => {
    expect([formatShare(0.1234), formatShare(null), formatShare(Number.NaN)]).toEqual(['12.3 %', '–', '–']);
    expect([formatBytes(0), formatBytes(1536), formatBytes(32 * 1024 ** 2)]).toEqual(['0 B', '1.50 KiB', '32.0 MiB']);
    expect([changeOf(3, 2), changeOf(1, 0), changeOf(null, 1), changeOf(0, 2)]).toEqual([0.5, null, null, -1]);
    expect([formatChange(8.9), formatChange(150), formatChange(1e9)]).toEqual(['+890 %', '151×', 'over 1M×']);
    expect([formatChange(0.5), formatChange(-0.031), formatChange(0.0001)]).toEqual(['+50 %', '−3.1 %', '0 %']);
    const points = [pointsOf(0.98, 0.945), pointsOf(0, 0.176), pointsOf(0.5, 0.5)].map((one) => formatPoints(one ?? 9));
    expect([...points, pointsOf(null, 0.5)]).toEqual(['+3.5 pts', '−18 pts', '0 pts', null]);
  });
});

describe('times', () => {
  const ms = Date.UTC(2026, 2, 1, 14, 5, 9);
  test('in UTC whatever the machine', () => {
    expect(formatInstant(ms, 'utc')).toBe('2026-03-01 14:05:09 UTC');
    expect(formatInstant(ms, 'local')).toEndWith(` ${Intl.DateTimeFormat().resolvedOptions().timeZone}`);
    expect(formatClock(ms, 'utc')).toBe('14:05');
    expect(formatClock(Date.UTC(2026, 2, 1), 'utc')).toBe('00:00');
  });
  test('how long ago', () => {
    expect(formatAgo(ms, ms + 3 * 60_000)).toBe('3 minutes ago');
    expect(formatAgo(ms, ms - 2 * 86_400_000)).toBe('in 2 days');
  });

  test('a typed time is read in its zone; days that are not there are refused', () => {
    expect(parseStamp('2026-03-01 14:05', 'utc')).toBe(Date.UTC(2026, 2, 1, 14, 5));
    expect(parseStamp(' 2026-03-01T14:05:09 ', 'utc')).toBe(Date.UTC(2026, 2, 1, 14, 5, 9));
    expect(parseStamp('2026-03-01', 'local')).toBe(new Date(2026, 2, 1).getTime());
    for (const text of [
      '',
      '03/01/2026 2:05 PM',
      '2026-02-30 10:00',
      '2026-03-01 24:00',
      '2026-3-1 14:05',
      '2026-03-01 14',
    ])
      expect(parseStamp(text, 'utc')).toBeNull();
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), (ms) => {
        const whole = Math.floor(ms / 1000) * 1000;
        expect(parseStamp(formatStamp(whole, 'utc'), 'utc')).toBe(whole);
      }),
    );
  });
});

test('a set length has the largest unit without decimals', () => {
  expect([0, 250, 30_000, 90_000, 600_000, 3_600_000, 604_800_000].map(formatLength)).toEqual([
    ...['0 ms', '250 ms', '30 s', '90 s', '10 min', '1 h', '7 d'],
  ]);
});
