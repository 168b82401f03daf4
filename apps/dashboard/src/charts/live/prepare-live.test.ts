import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  addNews,
  describeErrors,
  formatRate,
  liveFigures,
  NO_TRAFFIC,
  prepareLive,
  type TrafficNews,
} from './prepare-live';

const NOW_MS = Date.parse('2026-11-26T12:00:00.400Z');
const news = (
  nowMs: number,
  batches: readonly (readonly [
    agoMs: number,
    requests: number,
    failed: number,
    callerErrors?: number,
    refused?: number,
  ])[],
): TrafficNews => ({
  now: new Date(nowMs).toISOString(),
  in_flight: 3,
  batches: batches.map(([agoMs, requests, failed, callerErrors = 0, refused = 0]) => ({
    at: new Date(nowMs - agoMs).toISOString(),
    ...{ requests, failed, caller_errors: callerErrors, refused },
  })),
});

describe('a minute', () => {
  test('has every request of its seconds, however they came in', () => {
    const batch = fc.tuple(fc.integer({ min: 3000, max: 60_000 }), fc.nat({ max: 90 }), fc.nat({ max: 5 }));
    fc.assert(
      fc.property(fc.array(batch, { maxLength: 40 }), fc.nat({ max: 40 }), (made, cut) => {
        const batches = made.map(([ago, others, failed]) => [ago, others + failed, failed] as const);
        const first = addNews(NO_TRAFFIC, news(NOW_MS, batches.slice(0, cut)), NOW_MS);
        const minute = prepareLive(addNews(first, news(NOW_MS, batches.slice(cut)), NOW_MS), NOW_MS);
        expect(minute.bars).toHaveLength(60);
        expect(minute.requests).toBe(batches.reduce((sum, [, requests]) => sum + requests, 0));
        expect(minute.failed).toBe(batches.reduce((sum, [, , failed]) => sum + failed, 0));
      }),
    );
  });

  test('ends two seconds ago by the clock of the gateway, and moves on without news', () => {
    const atMs = NOW_MS + 3_600_000;
    const traffic = addNews(NO_TRAFFIC, news(atMs, [[2000, 8, 2]]), NOW_MS);
    const bars = (laterMs: number) => prepareLive(traffic, NOW_MS + laterMs).bars;
    expect(bars(0).at(-1)).toEqual({ requests: 8, failed: 2, callerErrors: 0, refused: 0 });
    expect(bars(5000).at(-6)).toEqual({ requests: 8, failed: 2, callerErrors: 0, refused: 0 });
    expect(prepareLive(traffic, NOW_MS + 61_000).requests).toBe(0);
  });

  test('forgets what is no longer shown', () => {
    const before = addNews(NO_TRAFFIC, news(NOW_MS, [[5000, 1, 0]]), NOW_MS);
    expect(addNews(before, news(NOW_MS + 120_000, []), NOW_MS + 120_000).seconds.size).toBe(0);
  });

  test('bars are as high as their requests, failures at the bottom', () => {
    const traffic = addNews(
      NO_TRAFFIC,
      news(NOW_MS, [
        [2000, 8, 2],
        [3000, 4, 0],
      ]),
      NOW_MS,
    );
    const { paths, perSecond } = prepareLive(traffic, NOW_MS);
    expect(paths).toEqual({ failed: 'M236 24v-6h3v6z', others: 'M232 24v-12h3v12zM236 18v-18h3v18z' });
    expect(perSecond).toBe(1.2);
  });
});

test('in words and figures', () => {
  expect([formatRate(0), formatRate(12.34), formatRate(1234.5)]).toEqual(['0.0', '12.3', '1,235']);
  const minute = prepareLive(
    addNews(
      NO_TRAFFIC,
      news(NOW_MS, [
        [2000, 40, 2],
        [3000, 0, 0, 1],
        [55_000, 10, 0, 13],
      ]),
      NOW_MS,
    ),
    NOW_MS,
  );
  expect(describeErrors(minute)).toBe('2 failed, 14 caller errors');
  expect(describeErrors({ ...minute, failed: 0 })).toBe('0 failed, 14 caller errors');
  expect(describeErrors({ ...minute, callerErrors: 0 })).toBe('2 failed');
  expect(describeErrors({ ...minute, callerErrors: 1, refused: 5 })).toBe('2 failed, 1 caller error, 5 refused');
  expect(describeErrors({ ...minute, failed: 0, callerErrors: 0 })).toBe('0 failed');
  const figures = liveFigures(minute).map(({ cells }) => cells);
  expect([figures.length, figures[0], figures[5]]).toEqual([
    ...[6, ['60 to 50 seconds ago', '10', '0'], ['10 to 0 seconds ago', '40', '2']],
  ]);
});
