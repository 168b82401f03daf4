import { expect, test } from 'bun:test';
import { nameRange } from './name-range';

test('a range is named as its button names it', () => {
  const at = { fromMs: Date.UTC(2026, 0, 2), toMs: Date.UTC(2026, 0, 3), intervalMs: 3_600_000 };
  const name = (label: string, nowMs: number) => nameRange({ range: { ...at, label }, timeZone: 'utc' }, nowMs);
  expect(name('7 days', at.toMs)).toBe('Last 7 days');
  expect(name('custom', at.toMs)).toBe('01-02 00:00 – 01-03 00:00');
  expect(name('custom', Date.UTC(2027, 0, 1))).toBe('2026-01-02 00:00 – 2026-01-03 00:00');
});
