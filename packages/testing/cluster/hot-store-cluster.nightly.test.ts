import { afterAll, beforeAll } from 'bun:test';
import { describeHotStore, type OpenStore } from '@llm0/core/limits/hot-store.cases';
import { RedisHotStore } from '@llm0/core/limits/redis/redis-hot-store';
import { makeTempDir } from '@llm0/core/limits/store-rows.fixture';
import { type RedisCluster, startRedisCluster } from '../stores/start-redis-cluster';

const SHARDS = 16;
let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startRedisCluster();
}, 60_000);
afterAll(() => cluster.stop(), 30_000);

/** Each test has a namespace of its own; the nodes keep nothing beyond the suite. */
const openOnCluster: OpenStore = async ({ clock, rows, cacheMaxBytes, queueMaxEntries }) => {
  const dir = makeTempDir();
  const store = new RedisHotStore({
    url: cluster.url,
    cluster: true,
    namespace: `llm0-test-${crypto.randomUUID()}`,
    dataDir: dir.path,
    clock: () => clock.ms,
    admitDeadlineMs: 5_000,
    // Bounds are spread over the shards, and a test's project is on one of them.
    ...(cacheMaxBytes === undefined ? {} : { cacheMaxBytes: SHARDS * cacheMaxBytes }),
    ...(queueMaxEntries === undefined ? {} : { queueMaxEntries: SHARDS * queueMaxEntries }),
  });
  await store.start(rows);
  return {
    store,
    rows,
    dispose: async () => {
      await store.close();
      dir.remove();
    },
  };
};

describeHotStore('redis hot store on a cluster of three, 16 shards', openOnCluster);
