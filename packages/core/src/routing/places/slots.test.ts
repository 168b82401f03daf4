import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { Peers } from './peers';
import { Slots, TakenSlots } from './slots';

const processes = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const peers = new Peers();
    peers.note(count, index);
    return peers;
  });

describe('places for concurrent requests', () => {
  test('the parts of all processes are the whole limit; each has one at least', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 40 }), (limit, count) => {
        const parts = processes(count).map((peers) => peers.shareOf(limit));
        expect(parts.reduce((sum, part) => sum + part, 0)).toBe(Math.max(limit, count));
        expect(Math.max(...parts) - Math.min(...parts)).toBeLessThanOrEqual(1);
      }),
    );
  });

  test('any requests, ends and changed limits: never more than the limit begin, and none is refused below it', () => {
    const step = fc.record({
      at: fc.nat({ max: 3 }),
      isEnd: fc.boolean(),
      limit: fc.option(fc.integer({ min: 1, max: 9 })),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const all = processes(4).map((peers) => ({ peers, slots: new Slots(peers, 6), inUse: 0 }));
        for (const { at, isEnd, limit } of steps) {
          if (limit !== null) for (const { slots } of all) slots.limit = limit;
          const one = all[at];
          if (one === undefined) throw new Error('there are four');
          const share = one.peers.shareOf(one.slots.limit);
          if (isEnd && one.inUse > 0) {
            one.slots.free();
            one.inUse -= 1;
          } else {
            expect(one.slots.tryTake()).toBe(one.inUse < share);
            if (one.inUse < share) one.inUse += 1;
          }
          expect(one.slots.isFull).toBe(one.inUse >= share);
        }
      }),
    );
  });

  test('an attempt has one place with a key, and frees all of its own once', () => {
    const [alone] = processes(1);
    if (alone === undefined) throw new Error('there is one');
    const [provider, one, two] = [new Slots(alone, 1), new Slots(alone, 1), new Slots(alone, 1)];
    expect(provider.tryTake()).toBe(true);
    const taken = new TakenSlots(provider);
    expect([taken.useKey(one), taken.useKey(one), one.isFull]).toEqual([true, true, true]);
    expect([taken.useKey(two), one.isFull, two.isFull]).toEqual([true, false, true]);
    expect(new TakenSlots(undefined).useKey(two)).toBe(false);
    expect([taken.useKey(undefined), two.isFull]).toEqual([true, false]);
    taken.useKey(one);
    taken.end();
    taken.end();
    expect([provider.tryTake(), provider.tryTake(), one.tryTake(), one.tryTake()]).toEqual([true, false, true, false]);
    expect([taken.useKey(two), two.isFull]).toEqual([true, false]);
  });
});
