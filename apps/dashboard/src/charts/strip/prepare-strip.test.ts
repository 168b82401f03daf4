import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { ProviderHealth } from '../../api/stats';
import { PRESETS, type Preset, resolveRange } from '../../range/time-range';
import {
  asStep,
  type Bar,
  barTimes,
  describeBar,
  describeLength,
  describeStrip,
  heightOf,
  opensOf,
  pathOf,
  prepareStrips,
  requestsOfBar,
} from './prepare-strip';

const NOW = Date.parse('2026-11-26T05:02:17Z');
const MINUTE_MS = 60_000;

describe('bars', () => {
  test('any range has equal bars, 90 and a begun one at most, that start and end with it', () => {
    const ranges = fc.record({
      toMs: fc.integer({ min: 0, max: NOW }),
      lengthMs: fc.oneof(fc.integer({ min: 1, max: 3 * 3_600_000 }), fc.integer({ min: 1, max: 3000 * 86_400_000 })),
    });
    fc.assert(
      fc.property(ranges, ({ toMs, lengthMs }) => {
        const { startMs, intervalMs, count } = barTimes({ fromMs: toMs - lengthMs, toMs });
        const endMs = startMs + count * intervalMs;
        const fromMs = toMs - lengthMs;
        expect(count).toBeLessThanOrEqual(91);
        expect([startMs <= fromMs, startMs + intervalMs > fromMs]).toEqual([true, true]);
        expect([endMs >= toMs, endMs - intervalMs < toMs]).toEqual([true, true]);
        // As the gateway aligns its buckets.
        expect(startMs % intervalMs === 0).toBe(true);
        expect(asStep(intervalMs)).toMatch(/^\d{1,6}[sh]$/);
      }),
    );
  });

  test('ranges to choose from', () => {
    const shown = (Object.keys(PRESETS) as Preset[]).map((range) => {
      const { count, intervalMs } = barTimes(resolveRange({ range }, NOW));
      return `${range}: ${count} × ${describeLength(intervalMs)}`;
    });
    expect(shown).toEqual([
      ...['5m: 75 × 4 seconds', '15m: 90 × 10 seconds', '1h: 91 × 40 seconds', '6h: 91 × 4 minutes'],
      ...['24h: 91 × 16 minutes', '7d: 85 × 2 hours', '14d: 85 × 4 hours', '30d: 91 × 8 hours', '90d: 91 × 1 day'],
    ]);
  });
});

const times = { startMs: 0, intervalMs: MINUTE_MS, count: 90 };
const bucket = (minute: number, more: Partial<ProviderHealth> = {}): ProviderHealth => ({
  ...{ start: new Date(minute * MINUTE_MS).toISOString(), provider: 'openai', answered: 0, failed: 0 },
  ...{ failed_over: 0, answered_elsewhere: 0, main_failure: null, ...more },
});
const barOf = (more: Partial<ProviderHealth>): Bar => {
  const [strip] = prepareStrips([bucket(0, more)], times);
  return strip?.bars[0] as Bar;
};

describe('strips', () => {
  test('add up to their buckets, each bar to its own', () => {
    const buckets = fc.uniqueArray(
      fc.record({
        minute: fc.integer({ min: 0, max: 89 }),
        provider: fc.constantFrom('openai', 'anthropic', 'demo'),
        answered: fc.nat({ max: 500 }),
        failed: fc.integer({ min: 1, max: 50 }),
      }),
      { selector: ({ minute, provider }) => `${minute} ${provider}`, maxLength: 120 },
    );
    fc.assert(
      fc.property(buckets, (made) => {
        const strips = prepareStrips(
          made.map(({ minute, ...counts }) => bucket(minute, counts)),
          times,
        );
        expect(strips.length).toBe(new Set(made.map(({ provider }) => provider)).size);
        for (const { provider, bars, requests, failed } of strips) {
          const own = made.filter((one) => one.provider === provider);
          const sum = (of: (one: (typeof own)[number]) => number) => own.reduce((total, one) => total + of(one), 0);
          expect([requests, failed]).toEqual([sum((one) => one.answered + one.failed), sum((one) => one.failed)]);
          expect(bars.map(({ startMs }) => startMs)).toEqual(bars.map((_, index) => index * MINUTE_MS));
          for (const { minute, failed: failures } of own) expect(bars[minute]?.failed).toBe(failures);
          expect(bars.filter(({ health }) => health !== 'none').length).toBe(own.length);
        }
      }),
    );
  });

  test('providers with the most failures come first, then the busiest; those without requests not at all', () => {
    const strips = prepareStrips(
      [
        bucket(1, { answered: 90 }),
        bucket(2, { provider: 'anthropic', answered: 5, failed: 1 }),
        bucket(3, { provider: 'demo', answered: 100 }),
        bucket(4, { provider: 'idle' }),
      ],
      times,
    );
    expect(strips.map(({ provider }) => provider)).toEqual(['anthropic', 'demo', 'openai']);
  });

  test('health is the share of failures; height tells it without color', () => {
    const healthOf = (answered: number, failed: number) => barOf({ answered, failed }).health;
    const healths: readonly string[] = [
      healthOf(9, 0),
      healthOf(99, 1),
      healthOf(51, 49),
      healthOf(50, 50),
      healthOf(0, 20),
    ];
    expect(healths).toEqual(['fine', 'some', 'some', 'mostly', 'mostly']);
    const empty = { health: 'none', requests: 0, failed: 0 } as const;
    const bars = [empty, ...[0, 1, 20, 49, 50].map((failed) => barOf({ answered: 100 - failed, failed }))];
    const heights = bars.map(heightOf);
    expect(heights).toEqual([3, 9, 12, 14, 18, 20]);
    const drawn = [barOf({ answered: 20 }), barOf({ failed: 20 }), barOf({ answered: 20 })];
    expect([pathOf(drawn, 'fine'), pathOf(drawn, 'none')]).toEqual(['M1 20v-9h8v9zM21 20v-9h8v9z', '']);
  });

  test('a bar of few requests is apart, and never the worst', () => {
    const few = [barOf({ failed: 1 }), barOf({ answered: 9, failed: 10 }), barOf({ answered: 19 })];
    expect(few.map(({ health }) => health)).toEqual(['some', 'some', 'fine']);
    expect(few.map(heightOf)).toEqual([18, 18, 9]);
    const drawn = [...few, barOf({ answered: 20 }), { health: 'none', requests: 0, failed: 0 } as const];
    expect([pathOf(drawn, 'fine'), pathOf(drawn, 'fine', true)]).toEqual(['M31 20v-9h8v9z', 'M21 20v-9h8v9z']);
    expect([pathOf(drawn, 'none') !== '', pathOf(drawn, 'none', true)]).toEqual([true, '']);
  });
});

test('a strip in words names its base: requests sent there, not requests that failed in the end', () => {
  const failing = { requests: 4060, failed: 120, rescued: 57, skipped: 0 };
  const sent = '120 of 4,060 sent failed (3.0 %)';
  expect(describeStrip(failing)).toEqual([sent, '57 answered elsewhere']);
  // Requests that skipped it are neither among those sent nor among those that failed.
  expect(describeStrip({ ...failing, skipped: 10 })).toEqual([
    sent,
    '67 answered elsewhere: 57 failed there, 10 skipped it while paused',
  ]);
  expect(describeStrip({ ...failing, rescued: 0, skipped: 10 })).toEqual([
    sent,
    '10 answered elsewhere: skipped it while paused',
  ]);
  expect(describeStrip({ requests: 8, failed: 0, rescued: 0, skipped: 0 })).toEqual(['8 sent, none failed', '']);
});

describe('a bar in words', () => {
  const say = (more: Partial<ProviderHealth>, intervalMs = 16 * MINUTE_MS) =>
    describeBar(
      { ...barOf({ answered: 1, ...more }), startMs: Date.parse('2026-11-25T23:44:00Z') },
      { intervalMs, timeZone: 'utc' },
    );

  test('when, how many, how many failed, and how most of them failed', () => {
    const failing = { answered: 28, failed: 12, main_failure: 'upstream_timeout' };
    expect(say(failing)).toBe(
      '2026-11-25 23:44 to 2026-11-26 00:00 UTC: 40 requests, 12 failed (30.0 %), mostly upstream_timeout',
    );
    expect(say({ ...failing, failed_over: 9, answered_elsewhere: 11 }, 4 * MINUTE_MS)).toBe(
      '2026-11-25 23:44 to 23:48 UTC: 40 requests, 12 failed (30.0 %), mostly upstream_timeout; ' +
        '11 answered elsewhere: 9 failed there, 2 skipped it while paused',
    );
    expect(say({}, 10_000)).toBe('2026-11-25 23:44:00 to 23:44:10 UTC: 1 request, none failed');
    const empty = { ...barOf({ answered: 1 }), startMs: 0, requests: 0 };
    expect(describeBar(empty, { intervalMs: MINUTE_MS, timeZone: 'utc' })).toBe(
      '1970-01-01 00:00 to 00:01 UTC: no requests',
    );
    // Paused: all of them skipped it.
    expect(describeBar({ ...empty, skipped: 7 }, { intervalMs: MINUTE_MS, timeZone: 'utc' })).toBe(
      '1970-01-01 00:00 to 00:01 UTC: none sent, 7 skipped it while paused',
    );
  });

  test('it opens the requests it counts, or in a pause those that others answered', () => {
    const [sent, paused] = [barOf({ answered: 9, failed: 4, answered_elsewhere: 5 }), barOf({ answered_elsewhere: 5 })];
    expect(requestsOfBar('openai', sent)).toEqual({ sent_to: 'openai' });
    expect(requestsOfBar('openai', paused)).toEqual({ failover_from: 'openai' });
    expect([opensOf(sent), opensOf(paused)]).toEqual(['these requests', 'the requests that others answered']);
  });
});
