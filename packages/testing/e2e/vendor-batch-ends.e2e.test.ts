import { describe, expect, test } from 'bun:test';
import { ON_ONE_KIND_UNLESS_ALL, waitUntil } from './environment';
import { makeBatch, readUntil } from './run-batch';
import { testApart } from './test-apart';
import {
  ALL_LINES,
  HALF_NANO_USD,
  SOME_VENDORS,
  useBatchVendor,
  VENDORS,
  WHOLE_NANO_USD,
} from './vendor-batches.fixture';

const TEST_MS = 60_000;

describe.each(ON_ONE_KIND_UNLESS_ALL)('ends of batches that a vendor runs, on %s stores', (kind) => {
  const { world, vendor, open, bill, run } = useBatchVendor(kind);

  test.each(SOME_VENDORS)(
    'lines that the vendor lost run here at the usual price, and refused ones are errors: %s',
    async (model) => {
      const { batch, ids, errors, made, costs } = await run({ lost: [0, 4], refused: [2] }, model);
      expect(batch).toMatchObject({ status: 'completed', request_counts: { total: 5, completed: 4, failed: 1 } });
      expect([ids, errors]).toEqual([['line-0', 'line-1', 'line-3', 'line-4'], ['line-2']]);
      expect(made).toEqual({ batches: 1, asked: 2 });
      expect(costs).toEqual([0, HALF_NANO_USD, HALF_NANO_USD, WHOLE_NANO_USD, WHOLE_NANO_USD]);
    },
    TEST_MS,
  );

  testApart(
    'a cancelled one is cancelled there, across a kill, and pays what was run',
    async () => {
      vendor().behaviour = { isEndless: true, isSlowToCancel: true };
      const before = vendor().cancels;
      const { client, projectId } = await open();
      const { id } = await makeBatch(client(), 5, { model: 'openai/gpt-batch', max_tokens: 100 });
      await readUntil(client, id, ({ status }) => status === 'in_progress');
      await world().restart('kill');
      expect((await client().batches.cancel(id)).status).toBe('cancelling');
      const reads = vendor().reads;
      await waitUntil(() => vendor().reads > reads + 2);
      vendor().behaviour = { isEndless: true };
      const batch = await readUntil(client, id);
      expect(batch).toMatchObject({ status: 'cancelled', request_counts: { total: 5, completed: 1, failed: 0 } });
      expect(await bill(projectId)).toEqual([HALF_NANO_USD]);
      expect(vendor().cancels - before).toBe(1);
    },
    TEST_MS,
  );

  test.each(SOME_VENDORS)(
    'a vendor that is away when it is told to cancel is told again: %s',
    async (model) => {
      vendor().behaviour = { isEndless: true, isAwayToCancel: true };
      const before = vendor().cancels;
      const { client, projectId } = await open();
      const { id } = await makeBatch(client(), 5, { model, max_tokens: 100 });
      await readUntil(client, id, ({ status }) => status === 'in_progress');
      await client().batches.cancel(id);
      await waitUntil(() => vendor().cancels > before + 1);
      vendor().behaviour = { isEndless: true };
      const batch = await readUntil(client, id);
      expect(batch).toMatchObject({ status: 'cancelled', request_counts: { total: 5, completed: 1, failed: 0 } });
      expect(await bill(projectId)).toEqual([HALF_NANO_USD]);
    },
    TEST_MS,
  );

  test.each(SOME_VENDORS)(
    'results are taken from a vendor that ended, though it never answers a cancellation: %s',
    async (model) => {
      vendor().behaviour = { isEndless: true, isAwayToCancel: true };
      const { client, projectId } = await open();
      const { id } = await makeBatch(client(), 5, { model, max_tokens: 100 });
      await readUntil(client, id, ({ status }) => status === 'in_progress');
      await client().batches.cancel(id);
      vendor().behaviour = { isAwayToCancel: true };
      await readUntil(client, id);
      expect(await bill(projectId)).toEqual(Array.from({ length: 5 }, () => HALF_NANO_USD));
    },
    TEST_MS,
  );

  test.each(VENDORS)(
    'a batch that the vendor took before a proxy failed is found, and not run twice: %s',
    async (model) => {
      const { ids, made, costs } = await run({ losesAnswer: true }, model);
      expect([ids, made]).toEqual([ALL_LINES, { batches: 1, asked: 0 }]);
      expect(costs).toEqual(Array.from({ length: 5 }, () => HALF_NANO_USD));
    },
    TEST_MS,
  );
});
