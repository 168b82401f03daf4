import { expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { coalesceRuns } from './coalesce-runs';

/** Reads a value at its start and publishes it at its end, as a query does. */
function createReader() {
  const reads: PromiseWithResolvers<void>[] = [];
  const state = { stored: 0, published: 0, active: 0, mostActive: 0 };
  const read = coalesceRuns(async () => {
    const seen = state.stored;
    const turn = Promise.withResolvers<void>();
    reads.push(turn);
    state.active += 1;
    state.mostActive = Math.max(state.mostActive, state.active);
    try {
      await turn.promise;
      state.published = seen;
    } finally {
      state.active -= 1;
    }
  });
  return { state, read, reads };
}

test('a slow reading of the past never replaces a newer one', async () => {
  const { state, read, reads } = createReader();
  const old = read();
  state.stored = 1;
  const asked = [read(), read()];
  expect(reads).toHaveLength(1);
  reads[0]?.resolve();
  await old;
  await Promise.resolve();
  expect([state.published, reads.length]).toEqual([0, 2]);
  reads[1]?.resolve();
  await Promise.all(asked);
  expect([state.published, reads.length]).toEqual([1, 2]);
});

test('a failure reaches those it stands for, and the next run starts anew', async () => {
  const { state, read, reads } = createReader();
  const failing = read();
  const following = read();
  reads[0]?.reject(new Error('away'));
  await expect(failing).rejects.toThrow('away');
  await Promise.resolve();
  state.stored = 1;
  const third = read();
  reads[1]?.resolve();
  await following;
  await Bun.sleep(0);
  reads[2]?.resolve();
  await third;
  expect(state.published).toBe(1);
});

test('a waiting caller sees at least the rows of its call; runs do not overlap', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom('write', 'read', 'end'), { maxLength: 40 }), async (steps) => {
      const { state, read, reads } = createReader();
      const waiting: Promise<void>[] = [];
      let ended = 0;
      const endOne = async () => {
        reads[ended]?.resolve();
        ended += 1;
        await Bun.sleep(0);
      };
      for (const step of steps) {
        if (step === 'write') state.stored += 1;
        else if (step === 'end' && ended < reads.length) await endOne();
        else if (step === 'read') {
          const atLeast = state.stored;
          waiting.push(read().then(() => expect(state.published).toBeGreaterThanOrEqual(atLeast)));
        }
      }
      while (ended < reads.length) await endOne();
      await Promise.all(waiting);
      expect(state.mostActive).toBeLessThanOrEqual(1);
    }),
    { numRuns: runs(50) },
  );
});
