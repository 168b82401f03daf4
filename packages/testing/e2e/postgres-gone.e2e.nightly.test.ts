import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { FailingStores, PATIENT, SETUP_MS, TEST_MS, watch } from './failing-stores.fixture';

const POSTGRES_GONE_MS = 30_000;

describe('stores fail under load', () => {
  let stores: FailingStores;
  beforeAll(async () => {
    stores = await FailingStores.start(PATIENT);
  }, SETUP_MS);
  afterAll(() => stores.world.close(), SETUP_MS);
  beforeEach(() => stores.beginLoad(), SETUP_MS);
  afterEach(() => stores.stopLoad(), SETUP_MS);

  test(
    'Postgres gone for 30 s: known keys are served, rows follow when it is back',
    async () => {
      const known = stores.keys.free.apiKey;
      await watch(stores.gateway, known, 300);
      await stores.world.postgres?.stop();
      const seen = await watch(stores.gateway, known, POSTGRES_GONE_MS);
      await stores.world.postgres?.start();
      expect(seen.filter(({ status }) => status !== 200)).toEqual([]);
      expect(seen.length).toBeGreaterThan(100);
      await stores.expectEven();
    },
    TEST_MS,
  );
});
