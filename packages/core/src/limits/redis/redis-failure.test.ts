import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { undisturbedMs } from '@llm0/testing/thread-time';
import type { Redis } from 'ioredis';
import { GatewayError } from '../../errors/gateway-error';
import { until } from '../hot-store.cases';
import { makeTempDir, requestOf, StoredRows, settlementOf, type TempDir } from '../store-rows.fixture';
import { connectRedis, openRedis, type RedisHotStoreOptions, waitForReady } from './connection';
import { ensureEpochs } from './epoch';
import { createShardKeys } from './keys';
import { RedisHotStore } from './redis-hot-store';
import { type RedisServer, startRedisServer } from './redis-server.fixture';

/** It ends as soon as all is handed in; a busy machine may need some time. */
const FLUSHED_MS = 10_000;

describe('redis hot store, when things break', () => {
  let server: RedisServer;
  let admin: Redis;
  let dir: TempDir;
  let rows: StoredRows;
  let namespace: string;
  const stores: RedisHotStore[] = [];

  const open = async (options: Partial<RedisHotStoreOptions> = {}) => {
    const store = new RedisHotStore({ url: server.url, namespace, dataDir: dir.path, ...options });
    stores.push(store);
    await store.start(rows);
    return store;
  };
  const spent = async (store: RedisHotStore) =>
    (await store.counters()).reduce((sum, { spentNanoUsd }) => sum + spentNanoUsd, 0);
  const held = async (store: RedisHotStore) =>
    (await store.counters()).reduce((sum, { heldNanoUsd }) => sum + heldNanoUsd, 0);
  const isOpen = (store: RedisHotStore) => until(async () => (await store.health()).ok, 10_000);
  /** Serves until told to stop; returns what was answered and what was refused. */
  const load = (store: RedisHotStore) => {
    const answered = new Map<string, number>();
    const slowest = { ms: 0 };
    const refused: unknown[] = [];
    const running = { on: true };
    const work = async (lane: number) => {
      for (let n = 1; running.on; n++) {
        const request = requestOf({ customerId: `customer-${lane}`, keyId: `key-${lane % 2}` });
        const startMs = undisturbedMs();
        try {
          const decision = await store.admit(request);
          if (decision.type !== 'admitted') throw new Error(decision.type);
          await Bun.sleep(n % 3);
          const costNanoUsd = lane * 1000 + n;
          store.settle(settlementOf(request, decision.nowMs, { costNanoUsd }));
          answered.set(request.requestId, costNanoUsd);
        } catch (error) {
          refused.push(error);
          slowest.ms = Math.max(slowest.ms, undisturbedMs() - startMs);
          await Bun.sleep(10);
        }
      }
    };
    const lanes = Promise.all(Array.from({ length: 8 }, (_, lane) => work(lane)));
    const stop = async () => {
      running.on = false;
      await lanes;
    };
    return { answered, refused, slowest, stop };
  };
  /** Once drained: a row for every answer, rows = counters, no hold left. */
  const expectEven = async (store: RedisHotStore, answered: ReadonlyMap<string, number>) => {
    await isOpen(store);
    await store.flush(FLUSHED_MS);
    await until(async () => (await store.openHolds()) === 0, 10_000);
    await rows.drain(store);
    expect([...answered.keys()].filter((id) => !rows.rows.has(id))).toEqual([]);
    expect(await spent(store)).toBe([...answered.values()].reduce((sum, cost) => sum + cost, 0));
    expect(rows.costNanoUsd).toBe(await spent(store));
    expect(await held(store)).toBe(0);
    expect(await store.depth()).toMatchObject({ entries: 0 });
  };

  beforeAll(async () => {
    server = await startRedisServer();
    admin = openRedis(server.url);
    admin.on('error', () => undefined);
  });
  afterAll(async () => {
    admin.disconnect();
    await server.dispose();
  });
  beforeEach(() => {
    dir = makeTempDir();
    rows = new StoredRows();
    namespace = `llm0-test-${crypto.randomUUID()}`;
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    dir.remove();
  });

  test('SCRIPT FLUSH goes unnoticed', async () => {
    const store = await open({ admitDeadlineMs: 5_000 });
    const run = load(store);
    for (let i = 0; i < 5; i++) {
      await Bun.sleep(40);
      await admin.script('FLUSH');
    }
    await run.stop();
    expect(run.refused).toEqual([]);
    await expectEven(store, run.answered);
  });

  test('connections cut under load: nothing is decided twice, lost or left held', async () => {
    const store = await open();
    const run = load(store);
    for (let i = 0; i < 5; i++) {
      await Bun.sleep(100);
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    }
    await until(async () => run.answered.size > 50);
    await run.stop();
    await expectEven(store, run.answered);
    expect(rows.doubled).toBe(0);
  });

  test('a process that waited for the lock does not rebuild again', async () => {
    const first = connectRedis({ url: server.url }, 'first');
    const second = connectRedis({ url: server.url }, 'second');
    await Promise.all([waitForReady(first, 5_000), waitForReady(second, 5_000)]);
    const rebuild = { openHolds: () => new Map<string, string>(), leaseMs: 60_000, isKnown: false, onLost: () => {} };
    const common = { shards: createShardKeys(namespace, 1), newId: () => crypto.randomUUID(), clock: '', ...rebuild };
    // The second has seen that the store is empty; the first is done before it asks for the lock.
    const lock = second.set.bind(second) as (...given: unknown[]) => Promise<unknown>;
    let opened: readonly string[] = [];
    second.set = (async (...given: unknown[]) => {
      if (String(given[0]).endsWith('lock')) opened = await ensureEpochs({ ...common, client: first }, rows);
      return lock(...given);
    }) as typeof second.set;
    const seen = await ensureEpochs({ ...common, client: second }, rows);
    expect(opened).toHaveLength(1);
    expect(seen).toEqual(opened);
    first.disconnect();
    second.disconnect();
  });

  test('data flushed under load: refused until rebuilt, then as before, in every process', async () => {
    const one = await open();
    const two = await open();
    await one.setCustomerLimits('project-1', 'customer-1', LIMITS);
    rows.limits = [{ projectId: 'project-1', customerId: 'customer-1', limits: LIMITS }];
    const runs = [load(one), load(two)];
    await Bun.sleep(150);
    await rows.drain(one);
    await Bun.sleep(100);
    for (let i = 0; i < 2; i++) {
      await admin.flushall();
      await Bun.sleep(200);
      await until(async () => (await one.health()).ok && (await two.health()).ok);
      await Bun.sleep(200);
    }
    const answered = new Map<string, number>();
    for (const run of runs) {
      await run.stop();
      expect(run.refused.length).toBeGreaterThan(0);
      expect(run.refused.every((error) => error instanceof GatewayError && error.kind === 'store_unavailable')).toBe(
        true,
      );
      for (const [id, cost] of run.answered) answered.set(id, cost);
    }
    await isOpen(two);
    await two.flush(FLUSHED_MS);
    await expectEven(one, answered);
    const blocked = await one.admit(requestOf({ customerId: 'customer-1', requested: { holdNanoUsd: 10 ** 12 } }));
    expect(blocked).toMatchObject({ type: 'denied', reason: 'customer_daily_spend' });
  });

  test('the server dies and comes back: 503 at once, the settlements of the outage are handed in', async () => {
    const store = await open();
    const run = load(store);
    await Bun.sleep(150);
    const open1 = requestOf({});
    const decision = await store.admit(open1);
    await server.kill();
    await Bun.sleep(50);
    const startMs = undisturbedMs();
    const refusal = await store.admit(requestOf({})).catch((error: unknown) => error);
    expect(undisturbedMs() - startMs).toBeLessThan(100);
    expect(refusal).toMatchObject({ kind: 'store_unavailable', retryAfterMs: 1000 });
    if (decision.type === 'admitted') {
      store.settle(settlementOf(open1, decision.nowMs, { costNanoUsd: 7 }));
      run.answered.set(open1.requestId, 7);
    }
    expect(readdirSync(dir.path).filter((name) => name.startsWith('settlements-'))).toHaveLength(1);
    await server.start();
    await isOpen(store);
    await Bun.sleep(200);
    await run.stop();
    expect(run.slowest.ms).toBeLessThan(150);
    await expectEven(store, run.answered);
    expect(rows.doubled).toBe(0);
  }, 20_000);

  test(
    'a server that hangs: refused within 100 ms, and what was admitted too late is released',
    async () => {
      const store = await open();
      await store
        .admit(requestOf({ requestId: 'first' }))
        .then(() => store.settle(settlementOf(requestOf({ requestId: 'first' }), Date.now())));
      await store.flush(FLUSHED_MS);
      server.freeze();
      const startMs = undisturbedMs();
      const refusals = await Promise.all(
        Array.from({ length: 20 }, () => store.admit(requestOf({})).catch((error: unknown) => error)),
      );
      const tookMs = undisturbedMs() - startMs;
      server.thaw();
      expect(tookMs).toBeLessThan(110);
      for (const refusal of refusals) expect(refusal).toMatchObject({ kind: 'store_unavailable' });
      await until(async () => (await store.openHolds()) === 0 && (await held(store)) === 0);
      expect(await spent(store)).toBe(70);
    },
    { retry: 2 },
  );

  test('a refusal whose admission comes through late leaves no hold, even when its process dies', async () => {
    const store = await open();
    server.freeze();
    await Bun.sleep(50);
    const late = requestOf({});
    try {
      await store.admit(late).catch(() => undefined);
      store.settle(settlementOf(late, Date.now() - 5_000, { held: false, costNanoUsd: 0 }));
      // From here on the process does nothing more: what is on the wire has to do.
      store.settle = () => undefined;
    } finally {
      server.thaw();
    }
    await until(async () => (await store.depth()).entries === 1);
    expect(await store.openHolds()).toBe(0);
    expect(await spent(store)).toBe(0);
  });

  test('a server that hangs: what is answered meanwhile is in the file, not only on the wire', async () => {
    const store = await open();
    server.freeze();
    await Bun.sleep(50);
    const ids = Array.from({ length: 60 }, () => requestOf({}));
    try {
      for (const request of ids) store.settle(settlementOf(request, Date.now(), { held: false, costNanoUsd: 0 }));
      await Bun.sleep(100);
      const late = requestOf({});
      await store.settle(settlementOf(late, Date.now(), { held: false, costNanoUsd: 0 }));
      const [name = ''] = readdirSync(dir.path).filter((file) => file.startsWith('settlements-'));
      const kept = readFileSync(join(dir.path, name), 'utf8');
      expect([...ids, late].filter(({ requestId }) => !kept.includes(requestId))).toEqual([]);
    } finally {
      server.thaw();
    }
    await store.flush(FLUSHED_MS);
    expect(await rows.drain(store)).toBe(61);
  });

  test('a batch in hand while the data was lost is handed in again, whoever queued it, and counts once', async () => {
    const store = await open(PATIENT);
    const gone = await open(PATIENT);
    const requests = [requestOf({}), requestOf({})];
    for (const [index, request] of requests.entries()) {
      const owner = index === 0 ? store : gone;
      const decision = await owner.admit(request);
      if (decision.type !== 'admitted') throw new Error(decision.type);
      owner.settle(settlementOf(request, decision.nowMs));
      await owner.flush(FLUSHED_MS);
    }
    await until(async () => (await store.depth()).entries === 2);
    const batch = await store.read(10, 0);
    expect(batch).toHaveLength(2);
    // It hands nothing in any more.
    await gone.close();
    stores.splice(stores.indexOf(gone), 1);
    await admin.flushall();
    await until(async () => !(await store.health()).ok || (await store.openHolds()) === 0);
    await Bun.sleep(1_500);
    await isOpen(store);
    store.handBack(batch.map(({ record }) => record));
    await until(async () => (await spent(store)) === 140, 5_000);
    await store.flush(FLUSHED_MS);
    await rows.drain(store);
    expect([...rows.rows.keys()].sort()).toEqual(requests.map(({ requestId }) => requestId).sort());
    expect(rows.doubled).toBe(0);
    expect(await spent(store)).toBe(rows.costNanoUsd);
  });

  test("a killed process's settlement corrects the reaper's row", async () => {
    const first = await open({ ...PATIENT, leaseMs: 100 });
    const lost = requestOf({});
    const decision = await first.admit(lost);
    if (decision.type !== 'admitted') throw new Error('not admitted');
    await until(async () => (await first.reap()) === 1);
    expect(await rows.drain(first)).toBe(1);
    expect(await spent(first)).toBe(40);
    const line = JSON.stringify(settlementOf(lost, decision.nowMs, { costNanoUsd: 55 }));
    writeFileSync(join(dir.path, `settlements-${hostname()}-999999-dead.journal`), `${line}\n`);
    const second = await open({ ...PATIENT, leaseMs: 100 });
    await second.flush(FLUSHED_MS);
    expect(await spent(second)).toBe(55);
    expect(await rows.drain(second)).toBe(1);
    expect(rows.rows.get(lost.requestId)).toMatchObject({ costNanoUsd: 55, corrects: true });
  });

  test('rows of a stopped process survive the loss of the queue', async () => {
    const first = await open(PATIENT);
    const request = requestOf({});
    const decision = await first.admit(request);
    if (decision.type !== 'admitted') throw new Error('not admitted');
    first.settle(settlementOf(request, decision.nowMs));
    await first.close();
    stores.splice(stores.indexOf(first), 1);
    await admin.flushall();
    const second = await open(PATIENT);
    await second.flush(FLUSHED_MS);
    expect(await rows.drain(second)).toBe(1);
    expect(await spent(second)).toBe(70);
    expect(rows.costNanoUsd).toBe(70);
  });

  test('a long queue that was left is looked through once, and the file does not grow by it', async () => {
    const restart = async (store: RedisHotStore) => {
      await store.close();
      stores.splice(stores.indexOf(store), 1);
      return readdirSync(dir.path).reduce((sum, name) => sum + statSync(join(dir.path, name)).size, 0);
    };
    const first = await open(PATIENT);
    for (let i = 0; i < 4_000; i++) {
      const settlement = settlementOf(requestOf({}), Date.now(), { held: false, costNanoUsd: 0 });
      // More than is kept in memory.
      const record = JSON.stringify({ ...JSON.parse(settlement.record), errorMessage: 'x'.repeat(5_000) });
      first.settle({ ...settlement, record });
    }
    await first.flush(FLUSHED_MS);
    // What a slow machine has on the wire when its process ends is sent again by the next one.
    await until(async () => (await first.depth()).entries === 4_000, 20_000);
    const left = await restart(first);
    expect(left).toBeGreaterThan(4_000 * 5_000);
    await admin.config('RESETSTAT');
    const second = await open(PATIENT);
    const looks = /cmdstat_xrange:calls=(\d+)/.exec(await admin.info('commandstats'))?.[1];
    // Five for a thousand entries each, the others by those who look at the state of the queue.
    expect(Number(looks)).toBeLessThan(15);
    await second.flush(FLUSHED_MS);
    expect(await restart(second)).toBe(left);
    const third = await open(PATIENT);
    await third.flush(FLUSHED_MS);
    expect(await rows.drain(third)).toBe(4_000);
    expect(rows.doubled).toBe(0);
    expect(await restart(third)).toBe(0);
  });

  test('a reader that begins takes over at once what the one before it had in hand', async () => {
    const [first, second] = [await open(PATIENT), await open(PATIENT)];
    const request = requestOf({});
    first.settle(settlementOf(request, Date.now(), { held: false, costNanoUsd: 0 }));
    await first.flush(FLUSHED_MS);
    expect(await first.read(10, 0)).toHaveLength(1);
    expect(await first.read(10, 0)).toEqual([]);
    const taken = await second.read(10, 0);
    expect(taken.map(({ record }) => JSON.parse(record).id)).toEqual([request.requestId]);
    await second.acknowledge(taken.map(({ entryId }) => entryId));
    expect(await second.read(10, 0)).toEqual([]);
  });

  test("a late settlement corrects the reaper's row, also after the store forgot it", async () => {
    const store = await open({ ...PATIENT, leaseMs: 100 });
    const lost = requestOf({});
    const decision = await store.admit(lost);
    if (decision.type !== 'admitted') throw new Error('not admitted');
    await until(async () => (await store.reap()) === 1);
    await rows.drain(store);
    await admin.flushall();
    await Bun.sleep(1_500);
    await isOpen(store);
    expect(await spent(store)).toBe(40);
    for (let i = 0; i < 2; i++) store.settle(settlementOf(lost, decision.nowMs, { costNanoUsd: 55 }));
    await until(async () => (await spent(store)) === 55);
    await store.flush(FLUSHED_MS);
    await rows.drain(store);
    expect(await spent(store)).toBe(55);
    expect(rows.rows.get(lost.requestId)).toMatchObject({ costNanoUsd: 55, corrects: true });
  });

  test('settlements left behind by a killed process are handed in at the next start, once', async () => {
    const first = await open(PATIENT);
    const taken = requestOf({});
    const missing = requestOf({});
    const [one, two] = [await first.admit(taken), await first.admit(missing)];
    if (one.type !== 'admitted' || two.type !== 'admitted') throw new Error('not admitted');
    first.settle(settlementOf(taken, one.nowMs));
    await first.flush(FLUSHED_MS);
    const lines = [settlementOf(taken, one.nowMs), settlementOf(missing, two.nowMs, { costNanoUsd: 5 })];
    const name = `settlements-${hostname()}-999999-dead.journal`;
    writeFileSync(join(dir.path, name), `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"requestId":"torn`);
    const second = await open(PATIENT);
    await second.flush(FLUSHED_MS);
    expect(await spent(second)).toBe(75);
    expect(await held(second)).toBe(0);
    expect(await rows.drain(second)).toBe(2);
    expect(readdirSync(dir.path).filter((file) => file.includes('-999999-') || file.includes('claimed'))).toEqual([]);
  });
});

/** For tests of other things than the deadline: neighbours may hold up this process. */
const PATIENT = { admitDeadlineMs: 5_000 };

const LIMITS = {
  dailySpendNanoUsd: 10 ** 9,
  monthlySpendNanoUsd: null,
  perRequestMaxNanoUsd: null,
  requestsPerMinute: null,
  requestsPerHour: null,
  requestsPerDay: null,
  modelRequestsPerDay: {},
  onLimit: 'block',
  downgradeModel: null,
} as const;
