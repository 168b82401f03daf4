import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { appendFileSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NO_LIMITS, START_MS } from '../hot-store.cases';
import { makeTempDir, requestOf, StoredRows, settlementOf, type TempDir } from '../store-rows.fixture';
import { EmbeddedHotStore, type EmbeddedHotStoreOptions } from './embedded-hot-store';

const BOOT = 'boot-1';

describe('embedded hot store, started again', () => {
  const clock = { ms: START_MS };
  let dir: TempDir;
  let rows: StoredRows;

  /** A new process on the same folder; the old one is simply not used any more, as after a kill. */
  const start = async (options: Partial<EmbeddedHotStoreOptions> = {}) => {
    const store = new EmbeddedHotStore({ dataDir: dir.path, clock: () => clock.ms, bootId: BOOT, ...options });
    await store.start(rows);
    return store;
  };
  const serve = async (store: EmbeddedHotStore, request: Parameters<typeof requestOf>[0] = {}) => {
    const asked = requestOf({ customerId: 'ann', ...request });
    const decision = await store.admit(asked);
    expect(decision.type).toBe('admitted');
    store.settle(settlementOf(asked, clock.ms));
  };
  const hotFile = () => join(dir.path, readdirSync(dir.path).find((name) => name.startsWith('hot-')) ?? '');

  beforeEach(() => {
    clock.ms = START_MS;
    dir = makeTempDir();
    rows = new StoredRows();
  });
  afterEach(() => dir.remove());

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
    const child = Bun.spawn([process.execPath, join(import.meta.dir, 'embedded-load.fixture.ts'), dir.path], {
      stdout: 'pipe',
    });
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
