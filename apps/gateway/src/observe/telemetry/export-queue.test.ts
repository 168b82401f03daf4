import { expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { ExportQueue } from './export-queue';
import type { Delivery } from './otlp-client';

const TAKEN: Delivery = { type: 'taken', response: new Uint8Array() };

function open(
  deliver: (items: readonly number[]) => Promise<Delivery>,
  more: Partial<ConstructorParameters<typeof ExportQueue<number>>[0]> = {},
) {
  const counted = { taken: 0, lost: 0 };
  const queue = new ExportQueue<number>({
    ...{ deliver, rejectedOf: () => 0, bytesOf: () => 1, delayMs: 1, batchSize: 3, maxWaiting: 10 },
    onTaken: (items) => {
      counted.taken += items;
    },
    onLost: (items) => {
      counted.lost += items;
    },
    ...more,
  });
  return { queue, counted };
}

test('every item is taken or counted as lost, in order, in bounded batches', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ items: fc.integer({ min: 0, max: 8 }), pauses: fc.boolean() }), { maxLength: 12 }),
      fc.array(fc.constantFrom('taken', 'lost', 'throws'), { maxLength: 12 }),
      async (rounds, outcomes) => {
        const sent: number[][] = [];
        const { queue, counted } = open(async (items) => {
          const outcome = outcomes[sent.length] ?? 'taken';
          sent.push([...items]);
          await Bun.sleep(0);
          if (outcome === 'throws') throw new Error('it cannot be encoded');
          return outcome === 'taken' ? TAKEN : { type: 'lost', reason: 'refused', detail: '' };
        });
        let next = 0;
        for (const { items, pauses } of rounds) {
          queue.add(Array.from({ length: items }, () => next++));
          expect(queue.size).toBeLessThanOrEqual(10);
          if (pauses) await Bun.sleep(0);
        }
        await queue.close(1_000);
        expect(counted.taken + counted.lost).toBe(next);
        expect(sent.every((batch) => batch.length >= 1 && batch.length <= 3)).toBe(true);
        const all = sent.flat();
        expect(all).toEqual(all.toSorted((a, b) => a - b));
      },
    ),
    { numRuns: runs(60) },
  );
});

test('a collector that is away: what waits is kept, in order, as long as there is room', async () => {
  const sent: number[][] = [];
  let isAway = true;
  const deliver = async (items: readonly number[]): Promise<Delivery> => {
    sent.push([...items]);
    await Bun.sleep(1);
    return isAway ? { type: 'lost', reason: 'unreachable', detail: 'away' } : TAKEN;
  };
  const { queue, counted } = open(deliver);
  queue.add([1, 2, 3, 4]);
  while (sent.length < 10) await Bun.sleep(1);
  expect(counted).toEqual({ taken: 0, lost: 0 });
  queue.add([5, 6]);
  isAway = false;
  const from = sent.length - 1;
  while (counted.taken < 6) await Bun.sleep(1);
  const taken = sent.slice(from).flat();
  expect([...new Set(taken)]).toEqual([1, 2, 3, 4, 5, 6]);
  expect(counted.lost).toBe(0);
  await queue.close(1_000);

  isAway = true;
  queue.add([7]);
  expect(counted.lost).toBe(1);
});

test('a collector that stays away: what is beyond the bound is lost, and a close ends', async () => {
  const deliver = async (): Promise<Delivery> => {
    await Bun.sleep(1);
    return { type: 'lost', reason: 'unreachable', detail: 'away' };
  };
  const { queue, counted } = open(deliver);
  for (let i = 0; i < 10; i++) {
    queue.add([1, 2, 3]);
    await Bun.sleep(2);
    expect(queue.size).toBeLessThanOrEqual(10);
  }
  await queue.close(1_000);
  expect(counted).toEqual({ taken: 0, lost: 30 });
});

test('young items wait behind older ones', async () => {
  const sent: number[] = [];
  const addedAt: number[] = [];
  const ages: number[] = [];
  const { queue } = open(
    async (items) => {
      ages.push(...items.map((item) => performance.now() - (addedAt[item] ?? Infinity)));
      sent.push(...items);
      return TAKEN;
    },
    { leastAgeMs: 120 },
  );
  const add = (items: number[]) => {
    for (const item of items) addedAt[item] = performance.now();
    queue.add(items);
  };
  add([0, 1, 2, 3]);
  await Bun.sleep(80);
  add([4]);
  while (sent.length < 5) await Bun.sleep(5);
  expect(sent).toEqual([0, 1, 2, 3, 4]);
  expect(Math.min(...ages)).toBeGreaterThanOrEqual(119);
  await queue.close(1_000);
});

test('long items are bounded by what they weigh', async () => {
  const { queue, counted } = open(async () => TAKEN, { bytesOf: (item) => item, maxBytes: 100, leastAgeMs: 10_000 });
  queue.add([60, 50, 40]);
  expect([queue.size, counted.lost]).toEqual([2, 1]);
  await queue.close(1_000);
  expect(counted).toEqual({ taken: 2, lost: 1 });
});
