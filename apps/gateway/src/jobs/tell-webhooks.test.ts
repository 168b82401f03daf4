import { describe, expect, test } from 'bun:test';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { type Telling, tellWebhooks } from './tell-webhooks';

const HANGING_MS = 20;

describe('webhooks are told side by side', () => {
  const telling = (url: string, tell: () => Promise<void>, failures: unknown[] = []): Telling => ({
    ...{ url, tell, failedBefore: false, onTold: async () => {} },
    onFailure: async (error) => void failures.push(error),
  });

  test('one that hangs holds up no other, and is asked once', async () => {
    const gate = Promise.withResolvers<void>();
    const failures: unknown[] = [];
    let asked = 0;
    const hanging = () =>
      telling(
        'https://hangs/',
        async () => {
          asked++;
          await gate.promise;
          await Bun.sleep(HANGING_MS + 5);
          throw new Error('timed out');
        },
        failures,
      );
    const told = Promise.withResolvers<void>();
    const done = tellWebhooks([hanging(), hanging(), telling('https://fine/', async () => told.resolve())], HANGING_MS);
    await told.promise;
    gate.resolve();
    await done;
    expect([asked, failures.length]).toEqual([1, 2]);
  });

  test('one that refuses at once is told the rest', async () => {
    const failures: unknown[] = [];
    let asked = 0;
    const refuses = async () => {
      asked++;
      throw new Error('404');
    };
    await tellWebhooks([telling('https://a/', refuses, failures), telling('https://a/', refuses, failures)]);
    expect([asked, failures.length]).toEqual([2, 2]);
  });

  test('law: each is told or noted once, at most 16 at once, one at a time for each address', async () => {
    const each = fc.record({ address: fc.nat(30), fails: fc.boolean(), failedBefore: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(each, { maxLength: 80 }), async (given) => {
        const busy = new Map<string, number>();
        let atOnce = 0;
        let most = 0;
        const outcomes = given.map(() => 0);
        const tellings = given.map(({ address, fails, failedBefore }, index): Telling => {
          const url = `https://${address}/`;
          const tell = async () => {
            most = Math.max(most, ++atOnce);
            busy.set(url, (busy.get(url) ?? 0) + 1);
            expect(busy.get(url)).toBe(1);
            await Promise.resolve();
            busy.set(url, 0);
            atOnce--;
            if (fails) throw new Error('refused');
          };
          const count = async () => {
            outcomes[index] = (outcomes[index] ?? 0) + 1;
          };
          return { url, failedBefore, tell, onTold: count, onFailure: count };
        });
        await tellWebhooks(tellings);
        expect(outcomes.every((times) => times === 1)).toBe(true);
        expect(most).toBeLessThanOrEqual(16);
      }),
      { numRuns: runs(50) },
    );
  });
});
