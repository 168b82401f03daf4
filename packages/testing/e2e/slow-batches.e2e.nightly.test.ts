import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createTestKey } from '../stores/start-gateway';
import { STORE_KINDS, settledLedger, startEnvironment, type TestEnvironment, waitUntil } from './environment';
import { batchClient, makeBatch, readUntil } from './run-batch';

const SETUP_MS = 60_000;
/** Three times as long as a process may be silent before another one takes its lines. */
const SLOW_MS = 32_000;
const LINES = 3;

describe.each(STORE_KINDS)('a slow batch on %s stores', (kind) => {
  let world: TestEnvironment;
  beforeAll(async () => {
    world = await startEnvironment({ kind, allVendors: false });
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);

  test(
    'is asked once: its process shows that it lives',
    async () => {
      const { apiKey } = await createTestKey(world.gateway, { project: { cache_enabled: false } });
      const client = () => batchClient(world.gateway, apiKey);
      world.upstream.control.hold();
      const { id } = await makeBatch(client(), LINES, { max_tokens: 20 });
      await waitUntil(() => world.upstream.control.counters.waiting === LINES);
      await Bun.sleep(SLOW_MS);
      world.upstream.control.release();
      const batch = await readUntil(client, id);
      expect(batch.request_counts).toMatchObject({ completed: LINES, failed: 0 });
      expect(world.upstream.control.counters.received).toBe(LINES);
      expect((await settledLedger(world.gateway)).ok).toBe(true);
    },
    2 * SETUP_MS,
  );
});
