import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { ON_ONE_KIND, shareEnvironment, type TestEnvironment } from './environment';
import { batchClient, idsIn, makeBatch, readUntil } from './run-batch';

const SETUP_MS = 60_000;
const TEST_MS = 60_000;
const STUCK = 6;

describe.each(ON_ONE_KIND)("batches that wait for a limit on %s stores' gateway", (kind) => {
  let world: TestEnvironment;
  beforeAll(async () => {
    world = await shareEnvironment({ kind });
  }, SETUP_MS);
  afterAll(() => world.close(), SETUP_MS);

  test(
    'hold up no other one, go on once they may, and pay each line once',
    async () => {
      const options = { project: { cache_enabled: false, monthly_cap_usd: 5 } };
      const slow = await createTestKey(world.gateway, options);
      const path = `/projects/${slow.projectId}/customers/acme/limits`;
      await callAdmin(world.gateway, path, { method: 'PUT', body: { requests_per_hour: 1 } });
      const client = () => batchClient(world.gateway, slow.apiKey);
      const headers = { 'X-Customer-Id': 'acme' };
      const stuck: string[] = [];
      for (let made = 0; made < STUCK; made++) stuck.push((await makeBatch(client(), 3, {}, headers)).id);
      const isBegun = async (id: string) => (await client().batches.retrieve(id)).status === 'in_progress';
      while (!(await Promise.all(stuck.map(isBegun))).every(Boolean)) await Bun.sleep(100);

      const free = batchClient(world.gateway, (await createTestKey(world.gateway, options)).apiKey);
      const done = await readUntil(() => free, (await makeBatch(free, 3, {})).id);
      expect(await idsIn(free, done.output_file_id)).toEqual(['line-0', 'line-1', 'line-2']);
      const now = await Promise.all(stuck.map((id) => client().batches.retrieve(id)));
      expect(now.every(({ status }) => status === 'in_progress')).toBe(true);

      const [first = '', ...rest] = stuck;
      for (const id of rest) await client().batches.cancel(id);
      for (const id of rest) expect((await readUntil(client, id)).status).toBe('cancelled');
      await callAdmin(world.gateway, path, { method: 'DELETE' });
      expect(await readUntil(client, first)).toMatchObject({ status: 'completed', request_counts: { completed: 3 } });
    },
    TEST_MS,
  );
});
