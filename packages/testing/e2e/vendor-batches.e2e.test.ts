import { describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import { isAll } from '../lane';
import { callAdmin } from '../stores/start-gateway';
import { allLogs, ON_ONE_KIND_UNLESS_ALL } from './environment';
import { batchClient, idsIn, makeBatch, readUntil } from './run-batch';
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

describe.each(ON_ONE_KIND_UNLESS_ALL)("batches that a vendor runs on %s stores' gateway", (kind) => {
  const { world, vendor, open, bill, run } = useBatchVendor(kind);

  test.each(VENDORS)(
    'cost half of the price, one row a line, also when the vendor tells a line twice: %s',
    async (model) => {
      const { batch, ids, made, tiers, costs } = await run({ twice: [1, 3] }, model);
      expect(tiers).toBe(5);
      expect(batch).toMatchObject({ status: 'completed', request_counts: { total: 5, completed: 5, failed: 0 } });
      expect(ids).toEqual(ALL_LINES);
      expect(made).toEqual({ batches: 1, asked: 0 });
      expect(costs).toEqual(Array.from({ length: 5 }, () => HALF_NANO_USD));
    },
    TEST_MS,
  );

  test.each(SOME_VENDORS)(
    'lines of several models are a batch for each, and run at the batch price: %s',
    async (model) => {
      const { client, projectId } = await open();
      const before = { batches: vendor().batches, asked: vendor().asked };
      const names = [model, `${model}-2`, model, `${model}-2`, model];
      const { id } = await makeBatch(client(), 5, (index) => ({ model: names[index], max_tokens: 100 }));
      const batch = await readUntil(client, id);
      expect(batch.request_counts).toEqual({ total: 5, completed: 5, failed: 0 });
      expect(await idsIn(client(), batch.output_file_id)).toEqual(ALL_LINES);
      expect([vendor().batches - before.batches, vendor().asked - before.asked]).toEqual([2, 0]);
      expect(await bill(projectId)).toEqual(Array.from({ length: 5 }, () => HALF_NANO_USD));
      const rows = await allLogs(world().gateway, `project_id=${projectId}&modality=batch`);
      const second = model.slice(model.indexOf('/') + 1);
      expect(rows.filter((row) => row.model === `${second}-2`)).toHaveLength(2);
    },
    TEST_MS,
  );

  for (const model of VENDORS)
    testApart(
      `lines that the vendor has no use for run here meanwhile, also across a kill, and all others there: ${model}`,
      async () => {
        vendor().behaviour = { isEndless: true };
        const { client, projectId } = await open();
        const before = { batches: vendor().batches, asked: vendor().asked };
        const names = [model, 'anthropic/claude-batch', model, 'openai/no-price', model];
        const { id } = await makeBatch(client(), 5, (index) => ({ model: names[index], max_tokens: 100 }));
        const isHalf = ({ request_counts: counts }: { request_counts?: { completed: number; failed: number } }) =>
          counts?.completed === 1 && counts.failed === 1;
        await readUntil(client, id, isHalf);
        expect([vendor().batches - before.batches, vendor().asked - before.asked]).toEqual([1, 1]);
        await world().restart('kill');
        expect(isHalf(await client().batches.retrieve(id))).toBe(true);
        vendor().behaviour = {};
        const batch = await readUntil(client, id);
        expect(batch).toMatchObject({ status: 'completed', request_counts: { total: 5, completed: 4, failed: 1 } });
        expect(await idsIn(client(), batch.output_file_id)).toEqual(['line-0', 'line-1', 'line-2', 'line-4']);
        expect(await idsIn(client(), batch.error_file_id)).toEqual(['line-3']);
        expect([vendor().batches - before.batches, vendor().asked - before.asked]).toEqual([1, 1]);
        const half = Array.from({ length: 3 }, () => HALF_NANO_USD);
        expect(await bill(projectId)).toEqual([0, ...half, WHOLE_NANO_USD]);
      },
      TEST_MS,
    );

  test.each(SOME_VENDORS)(
    'a vendor that takes no batch leaves it to the gateway: %s',
    async (model) => {
      const { ids, made, costs } = await run({ isClosed: true }, model);
      expect([ids, made]).toEqual([ALL_LINES, { batches: 0, asked: 5 }]);
      expect(costs).toEqual(Array.from({ length: 5 }, () => WHOLE_NANO_USD));
    },
    TEST_MS,
  );

  test.each(isAll ? (['revoked', 'deleted'] as const) : (['deleted'] as const))(
    'results of a key that was %s are billed to it, whatever its limits say now',
    async (how) => {
      vendor().behaviour = { isEndless: true };
      const { client, projectId, keyId } = await open();
      const other = await callAdmin<{ key: string }>(world().gateway, `/projects/${projectId}/keys`, {
        body: { name: 'reader', rate_limit_per_minute: null },
      });
      const customer = { 'X-Customer-Id': `customer ${how}` };
      const { id } = await makeBatch(client(), 5, { model: 'openai/gpt-batch', max_tokens: 100 }, customer);
      await readUntil(client, id, ({ status }) => status === 'in_progress');
      const key = `/projects/${projectId}/keys/${keyId}`;
      const limits = { per_request_max_usd: 0, monthly_spend_limit_usd: 0, on_limit_behavior: 'block' };
      const name = encodeURIComponent(customer['X-Customer-Id']);
      await callAdmin(world().gateway, `/projects/${projectId}/customers/${name}/limits`, {
        method: 'PUT',
        body: limits,
      });
      await callAdmin(world().gateway, `/projects/${projectId}`, {
        method: 'PATCH',
        body: { monthly_cap_usd: 0.0001 },
      });
      await callAdmin(world().gateway, key, { method: 'PATCH', body: { allowed_models: ['none'], is_active: false } });
      if (how === 'deleted') await callAdmin(world().gateway, key, { method: 'DELETE' });
      vendor().behaviour = {};
      const reader = () => batchClient(world().gateway, other.key);
      const batch = await readUntil(reader, id);
      expect(batch).toMatchObject({ status: 'completed', request_counts: { total: 5, completed: 5, failed: 0 } });
      expect(await bill(projectId)).toEqual(Array.from({ length: 5 }, () => HALF_NANO_USD));
      const rows = await allLogs(world().gateway, `project_id=${projectId}&customer_id=${name}&api_key_id=${keyId}`);
      expect(rows).toHaveLength(5);
    },
    TEST_MS,
  );

  test(
    'message batches go to the vendor in its own format',
    async () => {
      vendor().behaviour = { refused: [1], twice: [0] };
      const { apiKey, projectId } = await open();
      const client = new Anthropic({ apiKey, baseURL: world().gateway.url, maxRetries: 0 });
      const request = (index: number) => ({
        custom_id: `m-${index}`,
        params: {
          model: 'anthropic/claude-batch',
          max_tokens: 100,
          messages: [{ role: 'user' as const, content: 'x' }],
        },
      });
      const before = vendor().asked;
      const { id } = await client.messages.batches.create({ requests: [request(0), request(1)] });
      let batch = await client.messages.batches.retrieve(id);
      while (batch.processing_status !== 'ended') {
        await Bun.sleep(100);
        batch = await client.messages.batches.retrieve(id);
      }
      const types: string[] = [];
      for await (const { result } of await client.messages.batches.results(id)) types.push(result.type);
      expect([types, vendor().asked - before]).toEqual([['succeeded', 'errored'], 0]);
      expect(await bill(projectId)).toEqual([0, HALF_NANO_USD]);
    },
    TEST_MS,
  );
});
