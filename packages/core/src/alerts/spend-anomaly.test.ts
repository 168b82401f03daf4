import { expect, test } from 'bun:test';
import { anomalyHours, describeDeviation, findSpendAnomaly } from './spend-anomaly';

const HOUR_MS = 3_600_000;
const USD = 1e9;
const NOW_MS = Date.UTC(2026, 2, 31, 14, 20);
const [over = 0, running = 0] = [
  Math.floor(NOW_MS / HOUR_MS) * HOUR_MS - HOUR_MS,
  Math.floor(NOW_MS / HOUR_MS) * HOUR_MS,
];

/** Ten dollars an hour, a little more or less. */
const usual = () => new Map(anomalyHours(NOW_MS).map((hourMs, index) => [hourMs, (10 + Math.sin(index)) * USD]));
const firstMs = NOW_MS - 60 * 24 * HOUR_MS;

test('usual hours are no anomaly, an hour of three times as much is one, and so is one that runs', () => {
  expect(findSpendAnomaly(NOW_MS, { byHour: usual(), firstMs })?.z).toBeLessThan(3);
  const dear = usual().set(over, 30 * USD);
  expect(findSpendAnomaly(NOW_MS, { byHour: dear, firstMs })).toMatchObject({ hourMs: over, costNanoUsd: 30 * USD });
  expect(findSpendAnomaly(NOW_MS, { byHour: dear, firstMs })?.z).toBeGreaterThan(10);
  const soon = usual().set(running, 40 * USD);
  expect(findSpendAnomaly(NOW_MS, { byHour: soon, firstMs })?.hourMs).toBe(running);
});

test('an hour that has only begun is not compared downwards, and less than usual is none', () => {
  const begun = usual().set(running, 0).set(over, 0);
  expect(findSpendAnomaly(NOW_MS, { byHour: begun, firstMs })?.z).toBeLessThan(0);
});

test('a deviation reads as one, above and below', () => {
  expect([3.26, -1.7].map(describeDeviation)).toEqual([
    '3.3 deviations above the usual',
    '1.7 deviations below the usual',
  ]);
});

test('less than a week says nothing', () => {
  expect(findSpendAnomaly(NOW_MS, { byHour: usual(), firstMs: NOW_MS - 5 * 24 * HOUR_MS })).toBeNull();
  expect(findSpendAnomaly(NOW_MS, { byHour: new Map(), firstMs: null })).toBeNull();
});
