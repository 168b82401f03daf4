import { expect, test } from 'bun:test';
import type { Differences } from '../../api/stats';
import { type Difference, describeRead, nameOf, requestsOf, shownOf } from './prepare-differences';

const row = (field: Difference['field'], value: string, inside: number | null, outside: number | null): Difference => ({
  ...{ field, value, inside_share: inside, outside_share: outside },
});
const answer = (given: Partial<Differences>): Differences => ({
  ...{ inside_requests: 1, outside_requests: 1, sampled: false, data: [] },
  ...given,
});
const keyName = (id: string) => `key ${id}`;

test('only what differs is shown, in the order of the gateway, and nothing twice', () => {
  const shown = [row('model', 'a', 0.9, 0.1), row('stream', 'true', null, 0.3)];
  const rarer = row('model', 'b', 0.1, 0.9);
  const alike = [row('cache', 'miss', 0.5, 0.5), row('key', '7', 0.52, 0.5)];
  expect(shownOf(answer({ data: [rarer, ...shown, ...alike] }))).toEqual(shown);
  // A slow region has misses only, which tells nothing.
  const slow = [row('cache', 'miss', 1, 0.4), row('cache', 'exact', 0, 0.6)];
  expect(shownOf(answer({ data: [...slow, ...shown] }))).toEqual(shown);
});

test('values have names', () => {
  const names = [
    ...[row('model', 'a', 1, 0), row('provider', '', 1, 0), row('key', '7', 1, 0), row('cache', 'exact', 1, 0)],
    ...[row('stream', 'false', 1, 0), row('size', '1000', 1, 0), row('size', '0', 1, 0)],
  ].map((one) => nameOf(one, keyName));
  expect(names).toEqual(['a', 'None', 'key 7', 'Exact hit', 'Not streamed', '1,000 to 9,999', '0']);
});

test('a row leads to its requests in the region', () => {
  const region = { fromMs: 0, toMs: 60_000, minMs: 10, maxMs: 20 };
  const filterOf = (field: Difference['field'], value: string) => requestsOf({ field, value }, region, 'ttft');
  const same = { min_latency: '10', max_latency: '20', latency_of: 'ttft', sort: '-ttft_ms' };
  expect(filterOf('key', 'k')).toMatchObject({ ...same, api_key_id: 'k', from: '1970-01-01T00:00:00.000Z' });
  expect(filterOf('size', '1000')).toMatchObject({ ...same, min_tokens: '1000', max_tokens: '9999' });
  expect(filterOf('size', '0')).toMatchObject({ min_tokens: '0', max_tokens: '0' });
  expect(filterOf('stream', 'true')).toMatchObject({ stream: 'true' });
  expect(filterOf('provider', '')).toBeUndefined();
});

test('what was read is said, and whether it is a sample', () => {
  expect(describeRead(answer({ inside_requests: 12, outside_requests: 3456 }))).toBe(
    'All 12 requests inside, 3,456 outside.',
  );
  expect(describeRead(answer({ sampled: true, inside_requests: 12, outside_requests: 3456 }))).toStartWith(
    'A sample of 12 requests inside, 3,456 outside. ',
  );
  expect(describeRead(answer({ inside_requests: 0 }))).toBe('No stored request is in this region.');
  expect(describeRead(answer({ outside_requests: 0 }))).toContain('nothing to compare');
});
