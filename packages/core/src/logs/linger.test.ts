import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { Linger } from './linger';

/** Milliseconds between batches, and records of a batch, once settled. */
function settle(perSecond: number, from = new Linger()) {
  let ms = 250;
  for (let i = 0; i < 10; i++) ms = from.after(Math.round((perSecond * ms) / 1000));
  return { ms, records: Math.round((perSecond * ms) / 1000) };
}

test('a trickle is written soon', () => {
  expect(settle(0).ms).toBe(250);
  expect(settle(20).ms).toBe(250);
});

test('steady load gathers into batches worth their cost, heavy load is not held back', () => {
  expect(settle(300)).toEqual({ ms: 1000, records: 300 });
  expect(settle(1000)).toEqual({ ms: 600, records: 600 });
  expect(settle(5000)).toEqual({ ms: 250, records: 1250 });
});

test('a trickle after load is written soon again', () => {
  const linger = new Linger();
  expect(settle(300, linger).ms).toBe(1000);
  expect(settle(5, linger).ms).toBe(250);
});

test('never shorter than a quarter of a second, never longer than one, whatever comes', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1000), { maxLength: 50 }), (batches) => {
      const linger = new Linger();
      for (const records of batches) {
        const ms = linger.after(records);
        expect(ms).toBeGreaterThanOrEqual(250);
        expect(ms).toBeLessThanOrEqual(1000);
      }
    }),
  );
});
