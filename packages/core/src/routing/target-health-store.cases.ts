import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { HALF_OPEN_KEPT_MS, PROBE_LEASE_MS, type TargetHealthStore } from './target-health-store';

export interface OpenHealthStores {
  /** Each call is another process on the same store. */
  process(owner: string): TargetHealthStore;
  dispose(): Promise<void>;
}

/** Suite of every target health store; `open` returns a fresh one with the test's clock. */
export function healthStoreCases(name: string, open: (nowMs: () => number) => OpenHealthStores): void {
  describe(`target health in ${name}`, () => {
    const target = 'acme/large model';
    const clock = { ms: 1_800_000_000_000 };
    let stores: OpenHealthStores;
    let [one, two]: TargetHealthStore[] = [];
    const exchange = (store: TargetHealthStore | undefined, ...reports: Parameters<TargetHealthStore['exchange']>[0]) =>
      (store as TargetHealthStore).exchange(reports);
    beforeEach(() => {
      stores = open(() => clock.ms);
      [one, two] = [stores.process('one'), stores.process('two')];
    });
    afterEach(() => stores.dispose());
    const opened = { target, trips: 1, coolForMs: 0, probeForMs: 0 };

    test('all is well at first', async () => {
      expect(await exchange(one)).toEqual([]);
      expect(await exchange(one, { type: 'close', target }, { type: 'claim', target })).toEqual([]);
    });

    test("a breaker opens for all processes and counts by the store's clock", async () => {
      await exchange(one, { type: 'open', target, forMs: 5000, trips: 1 });
      clock.ms += 2000;
      expect(await exchange(two)).toEqual([{ ...opened, openForMs: 3000 }]);
      clock.ms += 3000;
      expect(await exchange(two)).toEqual([{ ...opened, openForMs: 0 }]);
    });

    test('two that saw the same failures open it once; a failed probe opens it anew', async () => {
      await exchange(one, { type: 'open', target, forMs: 5000, trips: 1 });
      clock.ms += 1000;
      expect(await exchange(two, { type: 'open', target, forMs: 5000, trips: 1 })).toMatchObject([{ openForMs: 4000 }]);
      clock.ms += 4000;
      expect(await exchange(two, { type: 'open', target, forMs: 10_000, trips: 2 })).toMatchObject([
        { openForMs: 10_000, trips: 2 },
      ]);
    });

    test('one probe for all: only while half-open, one owner at a time, until its lease ends', async () => {
      const claim = { type: 'claim', target } as const;
      await exchange(one, { type: 'open', target, forMs: 5000, trips: 1 });
      expect(await exchange(one, claim)).toMatchObject([{ probeForMs: 0 }]);
      clock.ms += 5000;
      expect(await exchange(one, claim)).toMatchObject([{ openForMs: 0, probeForMs: PROBE_LEASE_MS }]);
      expect(await exchange(two, claim)).toMatchObject([{ openForMs: 0, probeForMs: 0 }]);
      clock.ms += PROBE_LEASE_MS;
      expect(await exchange(two, claim)).toMatchObject([{ probeForMs: PROBE_LEASE_MS }]);
      expect(await exchange(one)).toMatchObject([{ probeForMs: 0 }]);
    });

    test('closed for one is closed for all', async () => {
      await exchange(one, { type: 'open', target, forMs: 5000, trips: 1 });
      expect(await exchange(two, { type: 'close', target })).toEqual([]);
      expect(await exchange(one)).toEqual([]);
    });

    test('restored for one, nothing of its trouble is left for anybody', async () => {
      await exchange(one, { type: 'restore', target });
      await exchange(one, { type: 'open', target, forMs: 5000, trips: 3 }, { type: 'cool', target, forMs: 3_600_000 });
      expect(await exchange(two, { type: 'restore', target })).toEqual([]);
      expect(await exchange(one)).toEqual([]);
      expect(await exchange(one, { type: 'open', target, forMs: 5000, trips: 1 })).toMatchObject([{ trips: 1 }]);
    });

    test('the longer cool-down stays, and ends by itself', async () => {
      await exchange(one, { type: 'cool', target, forMs: 7000 });
      expect(await exchange(two, { type: 'cool', target, forMs: 500 })).toEqual([
        { target, openForMs: undefined, trips: 0, coolForMs: 7000, probeForMs: 0 },
      ]);
      clock.ms += 7000;
      expect(await exchange(one)).toEqual([]);
    });

    test('closing ends no cool-down, and a cool-down opens nothing', async () => {
      const both = [
        { type: 'open', target, forMs: 5000, trips: 1 },
        { type: 'cool', target, forMs: 9000 },
      ] as const;
      expect(await exchange(one, ...both)).toEqual([{ ...opened, openForMs: 5000, coolForMs: 9000 }]);
      expect(await exchange(one, { type: 'close', target })).toMatchObject([{ trips: 0, coolForMs: 9000 }]);
    });

    test('a target nobody asks for any more is forgotten', async () => {
      await exchange(one, { type: 'open', target, forMs: 5000.5, trips: 1 });
      clock.ms += 5001 + HALF_OPEN_KEPT_MS - 1;
      expect(await exchange(one)).toHaveLength(1);
      clock.ms += 1;
      expect(await exchange(one)).toEqual([]);
    });
  });
}
