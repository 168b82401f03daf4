import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { callAdmin, createTestKey, type GatewayProcess, startGateway } from '../stores/start-gateway';
import { allLogs, ask, postChat, settledLedger, startEnvironment, type TestEnvironment } from './environment';

const SETUP_MS = 60_000;
const TEST_MS = 180_000;
const LEASE_MS = 3_000;
const AGENTS = 500;
const KILLS = 3;
const EACH_USD = 0.0001;
const CALLS = 100;
/** $1 a million in and out: a call costs 100,000 nano-USD and holds twice that. */
const CALL = {
  model: 'race-model',
  max_tokens: 192,
  x_fake: { usage: { prompt: 8, completion: 92 }, obeysLimit: true, firstDelayMs: 40 },
};

describe('a run on two processes, one of which is killed again and again', () => {
  let world: TestEnvironment;
  let second: GatewayProcess;
  const startSecond = () => startGateway({ env: world.env });
  beforeAll(async () => {
    world = await startEnvironment({
      ...{ kind: 'real', allVendors: false },
      env: { LLM0_TEST_LEASE_MS: String(LEASE_MS) },
    });
    second = await startSecond();
    await callAdmin(world.gateway, '/models?provider=openai&model=race-model', {
      ...{ method: 'PUT', body: { input_usd_per_million: 1, output_usd_per_million: 1 } },
    });
  }, SETUP_MS);
  afterAll(async () => {
    await second.kill();
    await world.close();
  }, SETUP_MS);

  test(
    'no agent spends beyond the budget, and none is refused while a call is left',
    async () => {
      const { apiKey, projectId } = await createTestKey(world.gateway, { project: { cache_enabled: false } });
      const run = crypto.randomUUID();
      const headers = { 'x-llm0-run-id': run, 'x-llm0-run-budget-usd': String(CALLS * EACH_USD) };
      const call = async (gateway: Pick<GatewayProcess, 'url'>) => {
        const answer = await postChat(gateway, apiKey, ask('twelve bytes', CALL), { headers });
        await answer.text();
        return answer.status;
      };
      let begun = 0;
      const agent = async (index: number) => {
        // Half of them ask the one that is killed, and lose their answer.
        await Bun.sleep((index * 4) % 2000);
        begun += 1;
        return call(index % 2 === 0 ? world.gateway : second).catch(() => 0);
      };
      const agents = Array.from({ length: AGENTS }, (_, index) => agent(index));
      for (let kill = 1; kill <= KILLS; kill++) {
        while (begun < (kill * CALLS) / (KILLS + 1)) await Bun.sleep(5);
        await second.kill();
        second = await startSecond();
      }
      const statuses = await Promise.all(agents);
      // 0: it was killed meanwhile, or not there.
      expect(new Set(statuses)).toEqual(new Set([0, 200, 402]));

      // Holds of killed calls end with their lease. Whatever they leave can be spent, to the last call.
      await settledLedger(world.gateway, TEST_MS / 2);
      while ((await call(world.gateway)) === 200);
      const ledger = await settledLedger(world.gateway, TEST_MS / 2);
      const { spent_usd: spent, state } = await callAdmin<{ spent_usd: number; state: string }>(
        world.gateway,
        `/runs/${run}`,
      );
      expect(ledger.projects.find((one) => one.project_id === projectId)?.diff_usd).toBe(0);
      expect(ledger.open_holds).toBe(0);
      const rows = await allLogs(world.gateway, `project_id=${projectId}`);
      const nanoUsd = rows.reduce((sum, { cost_usd: cost }) => sum + Math.round(cost * 1e9), 0);
      expect([state, Math.round(spent * 1e9)]).toEqual(['paused', nanoUsd]);
      expect(nanoUsd).toBeLessThanOrEqual(CALLS * EACH_USD * 1e9);
      expect(nanoUsd).toBeGreaterThan((CALLS - 1) * EACH_USD * 1e9);
    },
    TEST_MS,
  );
});
