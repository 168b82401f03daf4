import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { EmbeddedHotStore } from '@llm0/core/limits/embedded/embedded-hot-store';
import type { AdmitRequest, HotStore, RebuildSource } from '@llm0/core/limits/hot-store';
import { RedisHotStore } from '@llm0/core/limits/redis/redis-hot-store';
import { flushNamespace, makeTempDir, requestOf, testRedisUrl } from '@llm0/core/limits/store-rows.fixture';
import { drainNow } from '@llm0/core/logs/log-drain';
import type { LogRecord } from '@llm0/core/logs/log-record';
import type { ToolCallRecord } from '@llm0/core/logs/tool-call-record';
import type { Database } from '@llm0/drizzle/client';
import { reconcileLedger } from '@llm0/drizzle/queries/limits/reconcile';
import { listToolCalls } from '@llm0/drizzle/queries/tool-calls/tool-calls';
import { runs } from '@llm0/testing/lane';
import { sampleCall } from '@llm0/testing/stores/sample-call';
import { sampleRecord } from '@llm0/testing/stores/sample-record';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import fc from 'fast-check';
import { rebuildSource } from '../services/open-stores';
import { createLogSink } from './drain-logs';
import { reconcileLedgerJob } from './reconcile-ledger';

const LEASE_MS = 60_000;
const HOLD_NANO_USD = 5_000_000;

interface OpenedStore {
  readonly store: HotStore;
  /** Everything but the queue and the rows is gone; counters are made anew. */
  reopen(): Promise<HotStore>;
  dispose(): Promise<void>;
}

type OpenStore = (source: RebuildSource, clock: () => number) => Promise<OpenedStore>;

const openEmbedded: OpenStore = async (source, clock) => {
  const dir = makeTempDir();
  const lost = makeTempDir();
  const openIn = async (dataDir: string) => {
    const store = new EmbeddedHotStore({ dataDir, clock });
    await store.start(source);
    return store;
  };
  let store = await openIn(dir.path);
  return {
    store,
    reopen: async () => {
      await store.close();
      store = await openIn(lost.path);
      return store;
    },
    dispose: async () => {
      await store.close();
      dir.remove();
      lost.remove();
    },
  };
};

const openRedis: OpenStore = async (source, clock) => {
  const dir = makeTempDir();
  const url = testRedisUrl();
  const namespace = `llm0-test-${crypto.randomUUID()}`;
  const openAgain = async () => {
    const store = new RedisHotStore({ url, namespace, dataDir: dir.path, clock, admitDeadlineMs: 5_000 });
    await store.start(source);
    return store;
  };
  let store = await openAgain();
  return {
    store,
    reopen: async () => {
      await store.close();
      await flushNamespace(url, namespace);
      store = await openAgain();
      return store;
    },
    dispose: async () => {
      await store.close();
      await flushNamespace(url, namespace);
      dir.remove();
    },
  };
};

const STORES = [
  { store: 'embedded store', open: openEmbedded },
  { store: 'Redis', open: openRedis },
];

/** What happens to one request or call. */
const steps = fc.array(
  fc.record({
    isCall: fc.boolean(),
    costNanoUsd: fc.nat({ max: HOLD_NANO_USD }),
    customer: fc.option(fc.nat({ max: 1 }), { nil: undefined }),
    /** Settled once, twice, never (its process dies), or after the reaper had booked it. */
    end: fc.constantFrom('settled', 'settled', 'twice', 'lost', 'late'),
    isDrainedAfter: fc.boolean(),
  }),
  { minLength: 1, maxLength: 20 },
);

for (const kind of TEST_DATABASES) {
  describe.each(STORES)(`the ledger of requests and tool calls in $store and ${kind.name}`, ({ open }) => {
    let database: Database;
    beforeAll(async () => {
      database = await kind.open();
    }, 60_000);
    afterAll(() => database.close());

    test('counter = Σ rows of both logs, also of what came twice, was lost, or came late, and after a lost store', async () => {
      await fc.assert(
        fc.asyncProperty(steps, async (mix) => {
          const { db } = database;
          const clock = { ms: Date.UTC(2026, 4, 10) };
          const opened = await open(rebuildSource(database), () => clock.ms);
          const { store } = opened;
          try {
            const [projectId, keyId] = [crypto.randomUUID(), crypto.randomUUID()];
            const log = { info: () => {}, warn: () => {}, error: () => {} };
            const context = { db, hotStore: store, log, nowMs: () => clock.ms };
            const drain = () => drainNow(store, createLogSink(context));
            let due = 0;
            for (const { isCall, costNanoUsd, customer, end, isDrainedAfter } of mix) {
              const customerId = customer === undefined ? undefined : `customer-${customer}`;
              const id = Bun.randomUUIDv7();
              const origin = { id, projectId, apiKeyId: keyId, customerId };
              const lost = {
                ...origin,
                costNanoUsd: HOLD_NANO_USD,
                status: 'error',
                errorCode: 'gateway_lost',
              } as const;
              const whole = isCall ? sampleCall({ ...lost, isError: true }) : sampleRecord(lost);
              const { createdAtMs: _, ...lostRecord } = whole;
              const admitted = requestOf({
                ...{ requestId: id, projectId, keyId, customerId },
                requested: {
                  ...{ holdNanoUsd: HOLD_NANO_USD, lostNanoUsd: HOLD_NANO_USD },
                  lostRecord: JSON.stringify(lostRecord),
                },
              });
              const admittedAtMs = clock.ms;
              expect((await store.admit(admitted)).type).toBe('admitted');
              const given = { ...origin, createdAtMs: admittedAtMs, costNanoUsd };
              const record = isCall ? sampleCall(given) : sampleRecord(given);
              if (end === 'lost' || end === 'late') {
                clock.ms += LEASE_MS;
                expect(await store.reap()).toBe(1);
              }
              if (isDrainedAfter) await drain();
              if (end !== 'lost') settle(store, admitted, record);
              if (end === 'twice') settle(store, admitted, record);
              await store.flush(5_000);
              due += end === 'lost' ? HOLD_NANO_USD : costNanoUsd;
            }
            await drain();
            const books = async (from: HotStore) => {
              const counters = (await from.counters()).filter((one) => one.projectId === projectId);
              const nowMs = clock.ms;
              const read = (given: 'rows' | 'rollups') =>
                reconcileLedger(db, { counters, nowMs, projectId, source: given });
              const months = [...(await read('rows')), ...(await read('rollups'))];
              return [...new Set(months.map(({ counterNanoUsd, logsNanoUsd }) => `${counterNanoUsd} ${logsNanoUsd}`))];
            };
            expect(await books(store)).toEqual([`${due} ${due}`]);
            expect(await store.openHolds()).toBe(0);
            const { data } = await listToolCalls(db, { projectId }, { limit: 1000 }, clock.ms);
            expect(data).toHaveLength(mix.filter(({ isCall }) => isCall).length);
            expect(data.filter(({ errorCode }) => errorCode === 'gateway_lost')).toHaveLength(
              mix.filter(({ isCall, end }) => isCall && end === 'lost').length,
            );
            // Other files write to the same database: of this project the job says nothing.
            expect(JSON.stringify(await reconcileLedgerJob.run(context))).not.toContain(projectId);
            // The counters are lost, and summed from the rows of both logs.
            const again = await opened.reopen();
            await again.admit(requestOf({ projectId, keyId, requestId: Bun.randomUUIDv7() }));
            expect(await books(again)).toEqual([`${due} ${due}`]);
          } finally {
            await opened.dispose();
          }
        }),
        { numRuns: runs(20) },
      );
    }, 120_000);
  });
}

function settle(store: HotStore, request: AdmitRequest, record: LogRecord | ToolCallRecord): void {
  const { requestId, projectId, keyId, customerId } = request;
  store.settle({
    ...{ requestId, projectId, keyId, customerId, held: true, tokens: 0 },
    ...{ admittedAtMs: record.createdAtMs, costNanoUsd: record.costNanoUsd, record: JSON.stringify(record) },
  });
}
