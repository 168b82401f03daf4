import { expect, test } from 'bun:test';
import { readConnectSearch } from './connect-search';

test('an address names a local port, a mark and days, and nothing else', () => {
  const state = 'a'.repeat(32);
  expect(readConnectSearch({ port: 40_123, state, days: '7', more: 'x' })).toEqual({ port: '40123', state, days: '7' });
  for (const port of ['0', '70000', '80@evil.test', '-1', '1e3']) expect(readConnectSearch({ port })).toEqual({});
  for (const days of ['0', '31', 'x']) expect(readConnectSearch({ days })).toEqual({});
  expect(readConnectSearch({ state: 'short' })).toEqual({});
});
