import { EmbeddedHotStore } from './embedded/embedded-hot-store';
import type { OpenStore } from './hot-store.cases';
import { RedisHotStore } from './redis/redis-hot-store';
import { flushNamespace, makeTempDir, testRedisUrl } from './store-rows.fixture';

export const openEmbedded: OpenStore = async ({ clock, rows, ...bounds }) => {
  const dir = makeTempDir();
  const store = new EmbeddedHotStore({ dataDir: dir.path, clock: () => clock.ms, ...bounds });
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

export const openRedis: OpenStore = async ({ clock, rows, ...bounds }) => {
  const url = testRedisUrl();
  const dir = makeTempDir();
  const namespace = `llm0-test-${crypto.randomUUID()}`;
  const store = new RedisHotStore({
    url,
    namespace,
    dataDir: dir.path,
    clock: () => clock.ms,
    admitDeadlineMs: 5_000,
    ...bounds,
  });
  await store.start(rows);
  return {
    store,
    rows,
    dispose: async () => {
      await store.close();
      await flushNamespace(url, namespace);
      dir.remove();
    },
  };
};
