import { expect, test } from 'bun:test';
import { slowestBy } from './prepare-latency';

test('a point opens the requests that it counts: no cache hits and no failures, except for the overhead', () => {
  expect(slowestBy('latency')).toEqual({ cache: 'miss', outcome: 'success', sort: '-latency_ms' });
  expect(slowestBy('overhead')).toEqual({ sort: '-overhead_ms' });
});
