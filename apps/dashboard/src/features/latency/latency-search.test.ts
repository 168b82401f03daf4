import { expect, test } from 'bun:test';
import { readLatencySearch, readRegion, writeRegion } from './latency-search';

const range = { fromMs: 1_000_000, toMs: 2_000_000 };
const region = { fromMs: 1_200_000, toMs: 1_300_000, minMs: 12.582912, maxMs: 400 };

test('a region comes back from the address, for its duration and within the range alone', () => {
  const search = readLatencySearch({ region: writeRegion('ttft', region), other: 1 });
  expect(Object.keys(search)).toEqual(['region']);
  expect(readRegion(search, { metric: 'ttft', range })).toEqual(region);
  expect(readRegion(search, { metric: 'latency', range })).toBeNull();
  expect(readRegion(search, { metric: 'ttft', range: { fromMs: 1_300_000, toMs: 2_000_000 } })).toBeNull();
  expect(readRegion({}, { metric: 'ttft', range })).toBeNull();
});

test('what is no region is dropped', () => {
  for (const bad of ['ttft_1_2_3', 'ttft_1_2_3_x', 7, 'ttft_-1_2_3_4', `${'1'.repeat(99)}_1_2_3_4`]) {
    expect(readLatencySearch({ region: bad })).toEqual({});
  }
  expect(readRegion({ region: 'ttft_1500000_1400000_3_4' }, { metric: 'ttft', range })).toBeNull();
});
