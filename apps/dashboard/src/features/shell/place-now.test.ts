import { expect, test } from 'bun:test';
import { placeNow } from './place-now';

test('addresses of earlier versions lead to their pages, with their parameters', () => {
  expect(placeNow('/spend', { by: 'customer', range: '7d' })).toEqual({
    to: '/money',
    search: { by: 'customer', range: '7d' },
  });
  expect(placeNow('/finance/', { month: '2026-10', by: 'label.team' })).toEqual({
    to: '/money',
    search: { month: '2026-10', by: 'label.team', tab: 'statement' },
  });
  expect(placeNow('/settings', { tab: 'alerts', open: 'new' })).toEqual({
    to: '/alerts',
    search: { open: 'new', tab: undefined },
  });
  const moved = [
    ['/settings', 'backends'],
    ['/settings', 'audit'],
    ['/projects', 'customers'],
  ] as const;
  expect(moved.map(([path, tab]) => placeNow(path, { tab })?.to)).toEqual(['/backends', '/audit', '/customers']);
});

test('other addresses stay', () => {
  for (const tab of [undefined, 'jobs', 'constructor', '__proto__', 7]) {
    expect([placeNow('/settings', { tab }), placeNow('/projects', { tab })]).toEqual([null, null]);
  }
  expect([placeNow('/money', {}), placeNow('/', {}), placeNow('/spend/more', {})]).toEqual([null, null, null]);
});
