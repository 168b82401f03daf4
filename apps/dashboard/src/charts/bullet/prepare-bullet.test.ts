import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { CAP_AT, prepareBullet } from './prepare-bullet';

test('any amounts are within the width, in their order, and beyond the limit only if they pass it', () => {
  const usd = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 8_000_000_000_000_000 })).map((nano) => nano / 1e9);
  fc.assert(
    fc.property(usd, usd, fc.option(usd), (spent, cap, forecast) => {
      const bullet = prepareBullet({ spent, cap, forecast });
      for (const place of [bullet.spent, bullet.cap, bullet.forecast ?? 0]) {
        expect(place).toBeGreaterThanOrEqual(0);
        expect(place).toBeLessThanOrEqual(100);
      }
      expect(bullet.forecast === null).toBe(forecast === null);
      if (forecast !== null && forecast >= spent) expect(bullet.forecast ?? -1).toBeGreaterThanOrEqual(bullet.spent);
      expect(bullet.spent >= CAP_AT).toBe(spent >= cap);
      expect(bullet.passes === 'spent').toBe(spent >= cap);
      expect(bullet.passes === 'forecast').toBe(spent < cap && (forecast ?? 0) >= cap);
    }),
  );
});

test('a limit has the same place in every bar; half of it is half as far', () => {
  expect(prepareBullet({ spent: 25, cap: 50, forecast: 50 })).toEqual({
    ...{ spent: CAP_AT / 2, cap: CAP_AT, forecast: CAP_AT, passes: 'forecast' },
  });
  expect(prepareBullet({ spent: 1, cap: 1000, forecast: null })).toMatchObject({
    cap: CAP_AT,
    forecast: null,
    passes: null,
  });
  expect(prepareBullet({ spent: 5000, cap: 1000, forecast: 9000 })).toMatchObject({ spent: 100, forecast: 100 });
  expect(prepareBullet({ spent: 0, cap: 0, forecast: null })).toMatchObject({ spent: CAP_AT, passes: 'spent' });
});
