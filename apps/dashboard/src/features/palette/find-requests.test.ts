import { expect, test } from 'bun:test';
import { REQUEST_LISTS, toRequests } from './find-requests';
import { findCommands, PAGE_COMMANDS } from './prepare-palette';

const found = (typed: string) => findCommands([...PAGE_COMMANDS, ...REQUEST_LISTS, ...toRequests(typed)], typed, []);
const first = (typed: string) => found(typed)[0];

test('a request is found by its id', () => {
  const id = '01a222a5-875d-74b1-b3e8-7da028943241';
  expect(found(id)).toMatchObject([{ to: '/requests', search: { open: id } }]);
});

test('requests are found by status, error code and what is wrong with them', () => {
  expect(first('429')).toMatchObject({ to: '/requests', filter: { http_status: '429' } });
  expect(first('upstream_timeout')).toMatchObject({ filter: { error_code: 'upstream_timeout' } });
  expect(first('timeout')).toMatchObject({ filter: { error_code: 'upstream_timeout' } });
  expect(first('context length')).toMatchObject({ filter: { error_code: 'context_length_exceeded' } });
  expect(first('failed')).toMatchObject({ filter: { outcome: 'error' } });
  expect(first('expensive')).toMatchObject({ filter: { sort: '-cost_usd' } });
  // Pages come before lists that only mention the text.
  expect(first('cap')).toMatchObject({ label: 'Projects & keys' });
  expect(found('rate limit').map(({ label }) => label)).toEqual(
    expect.arrayContaining(['Rate limited requests', 'rate_limit_exceeded']),
  );
});

test('whatever nothing else has is looked for in requests, below all that has it', () => {
  expect(found('xyzzy')).toMatchObject([{ filter: { q: 'xyzzy' }, label: 'Search requests for “xyzzy”' }]);
  expect(found('latency')[0]?.label).toBe('Latency');
  expect(found('latency').at(-1)?.filter).toEqual({ q: 'latency' });
  expect(toRequests('x')).toEqual([]);
});
