import { afterAll, beforeAll, beforeEach, expect } from 'bun:test';
import { type BatchVendor, type BatchVendorBehaviour, startBatchVendor } from '../fake-upstream/start-batch-vendor';
import { isAll } from '../lane';
import { callAdmin, createTestKey } from '../stores/start-gateway';
import { allLogs, type StoreKind, settledLedger, startEnvironment, type TestEnvironment } from './environment';
import { batchClient, idsIn, makeBatch, readUntil, textOf } from './run-batch';
import { runsApart } from './test-apart';

const SETUP_MS = 60_000;
/** 100 tokens in and 50 out, at $1 and $2 a million. */
export const WHOLE_NANO_USD = 200_000;
export const HALF_NANO_USD = WHOLE_NANO_USD / 2;
export const VENDORS = ['openai/gpt-batch', 'gemini/gemini-batch'] as const;
/** For what the gateway decides, in whichever format. */
export const SOME_VENDORS = isAll ? VENDORS : VENDORS.slice(0, 1);
export const ALL_LINES = ['line-0', 'line-1', 'line-2', 'line-3', 'line-4'];

/** A gateway for the tests of a suite, at a vendor that takes batches. */
export function useBatchVendor(kind: StoreKind) {
  let world: TestEnvironment;
  let vendor: BatchVendor;
  beforeAll(async () => {
    vendor = startBatchVendor();
    const env = {
      OPENAI_BASE_URL: `${vendor.url}/v1`,
      ANTHROPIC_BASE_URL: vendor.url,
      ANTHROPIC_API_KEY: 'sk-ant-fake',
      GEMINI_BASE_URL: vendor.url,
      GEMINI_API_KEY: 'gemini-fake',
      VENDOR_BATCHES: 'true',
    };
    world = await startEnvironment({ kind, allVendors: false, apart: runsApart, env });
    for (const [provider, model] of [
      ['openai', 'gpt-batch'],
      ['anthropic', 'claude-batch'],
      ['gemini', 'gemini-batch'],
      ['openai', 'gpt-batch-2'],
      ['gemini', 'gemini-batch-2'],
    ]) {
      await callAdmin(world.gateway, `/models?provider=${provider}&model=${model}`, {
        method: 'PUT',
        body: { input_usd_per_million: 1, output_usd_per_million: 2, batch_discount: 0.5 },
      });
    }
  }, SETUP_MS);
  afterAll(async () => {
    await world.close();
    await vendor.stop();
  }, SETUP_MS);
  beforeEach(() => {
    vendor.behaviour = {};
  });

  const open = async () => {
    const { apiKey, projectId, keyId } = await createTestKey(world.gateway, {
      ...{ project: { monthly_cap_usd: 5 }, key: { rate_limit_per_minute: null } },
    });
    return { apiKey, projectId, keyId, client: () => batchClient(world.gateway, apiKey) };
  };
  const bill = async (projectId: string) => {
    const ledger = await settledLedger(world.gateway);
    expect(ledger.open_holds).toBe(0);
    expect(ledger.projects.find((one) => one.project_id === projectId)?.diff_usd).toBe(0);
    const rows = await allLogs(world.gateway, `project_id=${projectId}&modality=batch`);
    return rows.map(({ cost_usd: cost }) => Math.round(cost * 1e9)).sort((a, b) => a - b);
  };
  const run = async (behaviour: BatchVendorBehaviour, model = 'openai/gpt-batch') => {
    vendor.behaviour = behaviour;
    const { client, projectId } = await open();
    const before = { batches: vendor.batches, asked: vendor.asked };
    const { id } = await makeBatch(client(), 5, { model, max_tokens: 100 });
    const batch = await readUntil(client, id);
    const ids = await idsIn(client(), batch.output_file_id);
    const tiers = (await textOf(client(), batch.output_file_id)).match(/"service_tier":"batch"/g)?.length ?? 0;
    const errors = await idsIn(client(), batch.error_file_id);
    const made = { batches: vendor.batches - before.batches, asked: vendor.asked - before.asked };
    return { batch, ids, errors, made, tiers, costs: await bill(projectId) };
  };
  return { world: () => world, vendor: () => vendor, open, bill, run };
}
