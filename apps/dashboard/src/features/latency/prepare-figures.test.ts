import { expect, test } from 'bun:test';
import { prepareHeatMap } from '../../charts/durations/prepare-heat-map';
import { figuresOf } from './prepare-figures';

test('columns with requests, each with its most frequent duration and percentiles', () => {
  const startMs = Date.parse('2026-11-26T12:00:00Z');
  const times = [startMs, startMs + 60_000, startMs + 120_000];
  const bins = Array.from({ length: 8 }, (_, row) => ({
    ...{ from_ms: 10 * 2 ** row, to_ms: 10 * 2 ** (row + 1), requests: 1, cache_hits: 0 },
  }));
  const buckets = [
    { start: '2026-11-26T12:00:00.000Z', requests: [0, 5, 7, 0, 0, 0, 0, 0] },
    { start: '2026-11-26T12:02:00.000Z', requests: [1, 0, 0, 0, 0, 0, 0, 0] },
  ];
  const percentiles = [{ requests: 12, values: { p50: 41, p95: 79.5, p99: null } }];
  const map = prepareHeatMap({ bins, buckets }, times, 60_000);
  expect(figuresOf({ map, percentiles, timeZone: 'utc' }).map(({ cells }) => cells)).toEqual([
    ['2026-11-26 12:00 to 12:01 UTC', '12', '40.0 ms to 80.0 ms', '≈ 41 ms', '≈ 80 ms', '–'],
    ['2026-11-26 12:02 to 12:03 UTC', '1', '10.0 ms to 20.0 ms', '–', '–', '–'],
  ]);
});
