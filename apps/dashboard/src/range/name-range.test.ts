import { expect, test } from 'bun:test';
import { nameRange } from './name-range';

test('a range is named as its button names it', () => {
  const at = { fromMs: Date.UTC(2026, 0, 2), toMs: Date.UTC(2026, 0, 3), intervalMs: 3_600_000 };
  expect(nameRange({ range: { ...at, label: '7 days' }, timeZone: 'utc' })).toBe('Last 7 days');
  expect(nameRange({ range: { ...at, label: 'custom' }, timeZone: 'utc' })).toBe('01-02 00:00 – 01-03 00:00');
});
