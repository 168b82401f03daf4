import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { toRequestBudgets } from '../budgets';
import { budgetOf } from '../budgets.cases';
import { NO_LIMITS, START_MS } from '../hot-store.cases';
import { makeTempDir, requestOf, StoredRows, settlementOf, type TempDir } from '../store-rows.fixture';
import { EmbeddedHotStore, type EmbeddedHotStoreOptions } from './embedded-hot-store';

const BOOT = 'boot-1';

describe('embedded hot store, started again', () => {
  const clock = { ms: START_MS };
  let dir: TempDir;
  let rows: StoredRows;

  /** A new process on the same folder; the old one is simply not used any more, as after a kill. */
  const startIn = async (folder: TempDir, options: Partial<EmbeddedHotStoreOptions> = {}) => {
    const store = new EmbeddedHotStore({ dataDir: folder.path, clock: () => clock.ms, bootId: BOOT, ...options });
    await store.start(rows);
    return store;
  };
  const start = (options: Partial<EmbeddedHotStoreOptions> = {}) => startIn(dir, options);
  const serve = async (store: EmbeddedHotStore, request: Parameters<typeof requestOf>[0] = {}) => {
    const asked = requestOf({ customerId: 'ann', ...request });
    const decision = await store.admit(asked);
    expect(decision.type).toBe('admitted');
    await store.settle(settlementOf(asked, clock.ms));
  };
  const hotFile = () => join(dir.path, readdirSync(dir.path).find((name) => name.startsWith('hot-')) ?? '');

  beforeEach(() => {
    clock.ms = START_MS;
    dir = makeTempDir();
    rows = new StoredRows();
  });
  afterEach(() => dir.remove());

  test('whom a project has this month is still known, also after a compaction; who stayed away is forgotten', async () => {
    const hit = { requested: { cacheKey: 'k' }, maxCustomers: 2 };
    const before = await start();
    before.cacheWrite('project-1', { key: 'k', value: 'v', ttlMs: 1e10, provider: 'p', model: 'm' });
    for (const customerId of ['ann', 'bob'])
      expect((await before.admit(requestOf({ ...hit, customerId }))).type).toBe('cached');
    const compacted = await start({ compactBytes: 1 });
    const types = async (store: EmbeddedHotStore) => {
      const decide = async (customerId: string) => (await store.admit(requestOf({ ...hit, customerId }))).type;
      return [await decide('ann'), await decide('bob'), await decide('eve')];
    };
    expect(await types(compacted)).toEqual(['cached', 'cached', 'denied']);
    expect(await types(await start({ bootId: BOOT }))).toEqual(['cached', 'cached', 'denied']);
    clock.ms += 130 * 86_400_000;
    const later = await start({ compactBytes: 1 });
    await serve(later, { customerId: 'new' });
    await later.acknowledge([]);
    expect(readFileSync(hotFile(), 'utf8')).not.toContain('bob');
  });

  test('budgets are kept over a restart, a compaction, and a lost journal', async () => {
    const project = { scope: 'project' } as const;
    const key = { scope: 'key', keyId: 'key-1' } as const;
    const budgets = (limit: number, version = 1) =>
      toRequestBudgets([budgetOf('day', project, limit, version), budgetOf('week', key, 1e9, version)]);
    const before = await start();
    await serve(before, { budgets: budgets(1e9) });
    const open = requestOf({ budgets: budgets(1e9) });
    await before.admit(open);
    // Counted anew in version 3.
    await serve(before, { budgets: budgets(1e9, 3) });
    const full = (store: EmbeddedHotStore) =>
      store.admit(requestOf({ budgets: budgets(339, 3), requested: { holdNanoUsd: 100 } }));
    // 140 are spent, 100 held, 100 asked for.
    const refused = { reason: 'budget', budget: { spentNanoUsd: 140, limitNanoUsd: 339 } };
    expect(await full(before)).toMatchObject(refused);
    expect(await full(await start())).toMatchObject(refused);
    const compacting = await start({ compactBytes: 1 });
    await compacting.acknowledge([]);
    expect(await full(compacting)).toMatchObject(refused);
    expect(await full(await start())).toMatchObject(refused);
    const rebuilt = await start({ bootId: 'boot-2' });
    expect(await full(rebuilt)).toMatchObject(refused);
    await rebuilt.settle(settlementOf(open, clock.ms, { costNanoUsd: 99 }));
    expect((await full(rebuilt)).type).toBe('admitted');
  });

  test('everything decided and settled is still there, to the last bucket', async () => {
    const before = await start();
    const keyBucket = { ratePerMinute: 60, burst: 5 };
    await before.setCustomerLimits('project-1', 'ann', { ...NO_LIMITS, requestsPerDay: 4, dailySpendNanoUsd: 1000 });
    await serve(before, { keyBucket, tokensPerMinute: 100 });
    const open = requestOf({ customerId: 'ann', keyBucket, tokensPerMinute: 100, maxConcurrency: 2 });
    await before.admit(open);
    before.cacheWrite('project-1', { key: 'k', value: 'v', ttlMs: 60_000, provider: 'p', model: 'm' });
    const [entry] = await before.read(1, 0);

    const after = await start();
    expect(await after.counters()).toEqual(await before.counters());
    expect(await after.openHolds()).toBe(1);
    expect(await after.depth()).toMatchObject({ entries: 1 });
    expect((await after.read(1, 0))[0]?.record).toBe(entry?.record ?? '');
    const request = requestOf({
      customerId: 'ann',
      keyBucket,
      tokensPerMinute: 100,
      maxConcurrency: 2,
      reloaded: false,
      requested: { cacheKey: 'none' },
    });
    expect(await after.admit(request)).toEqual(await before.admit(request));
    expect(await after.admit(requestOf({ customerId: 'ann', requested: { cacheKey: 'k' } }))).toMatchObject({
      type: 'cached',
      value: 'v',
    });
    after.settle(settlementOf(open, START_MS));
    expect(await after.customerSpend('project-1', 'ann')).toEqual({ dayNanoUsd: 140, monthNanoUsd: 140 });
    expect(await after.admit(requestOf({ customerId: 'ann' }))).toMatchObject({ reason: 'customer_rate' });
  });

  test('a torn last line is dropped, and what follows is whole', async () => {
    const before = await start();
    await serve(before);
    appendFileSync(hotFile(), '{"t":"settle","atMs":17');
    const second = await start();
    await serve(second);
    const third = await start();
    expect(await third.counters()).toMatchObject([{ spentNanoUsd: 140, heldNanoUsd: 0 }]);
    expect(await third.depth()).toMatchObject({ entries: 2 });
  });

  test('acknowledged entries stay acknowledged; others come back', async () => {
    const before = await start();
    await serve(before);
    await serve(before);
    const [first] = await before.read(1, 0);
    await before.acknowledge([first?.entryId ?? '']);
    const after = await start();
    expect(await rows.drain(after)).toBe(1);
    expect((await (await start()).depth()).entries).toBe(0);
  });

  test('entries after a restart with an empty queue are not taken for acknowledged ones', async () => {
    const before = await start();
    for (let i = 0; i < 5; i++) await serve(before);
    await rows.drain(before);
    const after = await start();
    for (let i = 0; i < 5; i++) await serve(after);
    expect(await rows.drain(after)).toBe(5);
    expect(rows.rows.size).toBe(10);
    expect((await (await start()).depth()).entries).toBe(0);
  });

  test('entries lost by a journal of version 0.1 come back', async () => {
    const before = await start();
    for (let i = 0; i < 3; i++) await serve(before);
    await rows.drain(before);
    // As 0.1 wrote it: numbers from 1 again, old entries read once more, new ones acknowledged unread.
    const again = readFileSync(hotFile(), 'utf8')
      .split('\n')
      .filter((line) => /"t":"(admit|settle|ack)"/.test(line))
      .map((line) => line.replaceAll(/"(?:requestId|id)\\?":\\?"[^"]{36}/g, (id) => `${id.slice(0, -3)}new`));
    appendFileSync(hotFile(), again.map((line) => `${line}\n`).join(''));
    const repaired = await start();
    expect(await repaired.counters()).toMatchObject([{ spentNanoUsd: 6 * 70, heldNanoUsd: 0 }]);
    await serve(repaired);
    await rows.drain(repaired);
    expect(rows.rows.size).toBe(7);
    expect(rows.costNanoUsd).toBe(7 * 70);
    const drained = await start();
    expect((await drained.depth()).entries).toBe(0);
    await serve(drained);
    expect(await rows.drain(await start())).toBe(1);
  });

  test('each request has one row after any stops, kills and drains', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('serve' as const), requests: fc.integer({ min: 1, max: 5 }) }),
      fc.record({ do: fc.constant('read' as const), max: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ do: fc.constantFrom('acknowledge' as const, 'drain' as const) }),
      fc.record({ do: fc.constantFrom('kill' as const, 'stop' as const) }),
    );
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 40, size: 'max' }),
      fc.boolean(),
      async (steps, compacts) => {
        const own = makeTempDir();
        rows = new StoredRows();
        const open = () => startIn(own, { compactBytes: compacts ? 4_000 : 1_000_000 });
        try {
          let store = await open();
          let read: readonly { readonly entryId: string; readonly record: string }[] = [];
          let served = 0;
          for (const one of steps) {
            if (one.do === 'serve') for (let i = 0; i < one.requests; i++, served++) await serve(store);
            if (one.do === 'read') read = await store.read(one.max, 0);
            if (one.do === 'acknowledge') {
              await rows.storeRecords(read.map(({ record }) => record));
              await store.acknowledge(read.map(({ entryId }) => entryId));
              read = [];
            }
            if (one.do === 'drain') await rows.drain(store);
            if (one.do === 'stop') await store.close();
            if (one.do === 'stop' || one.do === 'kill') {
              store = await open();
              read = [];
            }
          }
          clock.ms += 60_000;
          await rows.drain(store);
          expect(rows.rows.size).toBe(served);
          expect(rows.costNanoUsd).toBe(served * 70);
          expect((await store.depth()).entries).toBe(0);
        } finally {
          own.remove();
        }
      },
    );
    await fc.assert(property, { numRuns: runs(150) });
  });

  test('compaction keeps everything and bounds the file', async () => {
    const store = await start({ compactBytes: 20_000 });
    await store.setCustomerLimits('project-1', 'ann', { ...NO_LIMITS, dailySpendNanoUsd: 1_000_000 });
    const open = requestOf({ customerId: 'ann' });
    await store.admit(open);
    for (let i = 0; i < 300; i++) {
      await serve(store);
      if (i % 10 === 0) await rows.drain(store);
    }
    expect(statSync(hotFile()).size).toBeLessThan(200_000);
    const after = await start();
    expect(await after.counters()).toEqual([
      { projectId: 'project-1', month: '2026-05', spentNanoUsd: 21_000, heldNanoUsd: 100 },
    ]);
    expect(await after.counters()).toEqual(await store.counters());
    after.settle(settlementOf(open, START_MS));
    await rows.drain(after);
    expect(rows.rows.size).toBe(301);
    expect(rows.doubled).toBe(0);
    expect(rows.costNanoUsd).toBe(21_070);
  });

  test('a compaction remembers what was settled, however much that is', async () => {
    const store = await start();
    const settled = Array.from({ length: 1_203 }, () => requestOf({ customerId: 'ann' }));
    await Promise.all(settled.map((request) => store.admit(request)));
    await Promise.all(settled.map((request) => store.settle(settlementOf(request, clock.ms))));
    const compacted = await start({ compactBytes: 1 });
    await compacted.acknowledge([]);
    expect(readFileSync(hotFile(), 'utf8').split('"t":"dones"').length - 1).toBe(3);
    const after = await start();
    await Promise.all(settled.map((request) => after.settle(settlementOf(request, clock.ms))));
    expect(await after.counters()).toMatchObject([{ spentNanoUsd: 1_203 * 70, heldNanoUsd: 0 }]);
    await rows.drain(after);
    expect(rows.rows.size).toBe(1_203);
    expect(rows.doubled).toBe(0);
  });

  test('a killed compaction leaves the old generation in charge', async () => {
    const before = await start();
    await serve(before);
    writeFileSync(`${hotFile().replace(/-\d+\.journal$/, '')}-99.journal.draft`, 'half of a li');
    expect(await (await start()).counters()).toMatchObject([{ spentNanoUsd: 70 }]);
  });

  test('without its journal, or after a crash of the machine, counters come from the rows', async () => {
    const before = await start();
    await serve(before);
    await rows.drain(before);
    await serve(before);
    const lost = requestOf({ customerId: 'ann' });
    await before.admit(lost);
    const crashed = await start({ bootId: 'boot-2' });
    expect(await crashed.counters()).toMatchObject([{ spentNanoUsd: 140, heldNanoUsd: 100 }]);
    expect(rows.rows.size).toBe(2);
    expect((await crashed.admit(requestOf({ reloaded: false }))).type).toBe('stale');
    dir.remove();
    const empty = await start();
    expect(await empty.counters()).toMatchObject([{ spentNanoUsd: 140, heldNanoUsd: 0 }]);
    expect(await empty.keySpend('project-1', 'key-1', 'total')).toBe(140);
    expect(await empty.customerSpend('project-1', 'ann')).toEqual({ dayNanoUsd: 140, monthNanoUsd: 140 });
  });

  test('killed with -9 under load, every answered request has its row exactly once', async () => {
    const child = Bun.spawn(
      [process.execPath, '--no-env-file', join(import.meta.dir, 'embedded-load.fixture.ts'), dir.path],
      {
        stdout: 'pipe',
      },
    );
    const answered: string[] = [];
    let text = '';
    for await (const chunk of child.stdout) {
      text += new TextDecoder().decode(chunk);
      if (text.length > 40_000) break;
    }
    child.kill('SIGKILL');
    await child.exited;
    answered.push(...text.slice(0, text.lastIndexOf('\n')).split('\n'));
    clock.ms = Date.now() + 120_000;
    const store = await start({ bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() });
    await store.reap();
    await rows.drain(store);
    expect(answered.length).toBeGreaterThan(500);
    expect(answered.filter((id) => !rows.rows.has(id))).toEqual([]);
    expect(rows.doubled).toBe(0);
    expect(await store.openHolds()).toBe(0);
    const counted = (await store.counters()).reduce((sum, { spentNanoUsd }) => sum + spentNanoUsd, 0);
    expect(counted).toBe(rows.costNanoUsd);
  });
});
