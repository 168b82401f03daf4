import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/start-fake-upstream';
import { removeFolder, temporaryFolder } from '../stores/server-process';
import { ask, postChat, settledLedger, shareEnvironment, type TestEnvironment } from './environment';

const ROOT = join(import.meta.dir, '../../..');
const SECRET = 'sk-of-the-first-server-0001';

/** Two servers behind one name that LiteLLM would fall back between, with prices and a budget. */
const configOf = (first: FakeUpstream, second: FakeUpstream) => `
model_list:
  - model_name: house-model
    litellm_params:
      model: openai/qwen3
      api_base: ${first.baseUrl}
      api_key: os.environ/FIRST_KEY
      input_cost_per_token: 0.000002
      output_cost_per_token: 0.00001
  - model_name: spare
    litellm_params:
      model: hosted_vllm/qwen3-small
      api_base: ${second.baseUrl}
      input_cost_per_token: 0.000001
      output_cost_per_token: 0.000001
litellm_settings:
  drop_params: true
  max_budget: 5
  budget_duration: 1mo
router_settings:
  fallbacks: [{house-model: [spare]}]
  model_group_alias: {gpt-4: house-model}
`;

describe('clients of LiteLLM, after llm0 import litellm', () => {
  const folder = temporaryFolder('litellm');
  let world: TestEnvironment;
  let second: FakeUpstream;
  beforeAll(async () => {
    second = startFakeUpstream();
    world = await shareEnvironment({ kind: 'real' });
    await Bun.write(join(folder, 'config.yaml'), configOf(world.upstream, second));
  }, 120_000);
  afterAll(async () => {
    await world.close();
    await second.stop();
    removeFolder(folder);
  });

  async function importConfig() {
    const command = ['bun', 'apps/gateway/bin/llm0.ts', 'import', 'litellm', join(folder, 'config.yaml'), '--json'];
    const child = Bun.spawn([process.execPath, '--no-env-file', ...command.slice(1)], {
      cwd: ROOT,
      env: {
        ...{ PATH: process.env.PATH, HOME: process.env.HOME, FIRST_KEY: SECRET },
        ...{ LLM0_URL: world.gateway.url, ADMIN_TOKEN: world.gateway.adminToken },
      },
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    expect({ code: await child.exited, err }).toEqual({ code: 0, err: '' });
    expect(out).not.toContain(SECRET);
    return JSON.parse(out).steps as { what: string; name: string; outcome: string; detail: string }[];
  }

  test('names, keys, prices, fallbacks and budget are those of the file; a second import changes nothing', async () => {
    const steps = await importConfig();
    expect(steps.filter(({ outcome }) => outcome !== 'created')).toEqual([]);
    const apiKey = /llm0_live_[0-9a-f]{64}/.exec(steps.at(-1)?.detail ?? '')?.[0] ?? '';

    const answered = await postChat(world.gateway, apiKey, ask('Hello', { model: 'gpt-4' }));
    expect(answered.status).toBe(200);
    expect(answered.headers.get('x-model')).toBe('qwen3');
    // 10 tokens in, 3 out, at the prices of the file.
    const { usage, cost_usd } = (await answered.json()) as {
      usage: { prompt_tokens: number; completion_tokens: number };
      cost_usd: number;
    };
    expect(cost_usd).toBeCloseTo(usage.prompt_tokens * 0.000002 + usage.completion_tokens * 0.00001, 9);
    expect(world.upstream.requests.at(-1)?.headers.authorization).toBe(`Bearer ${SECRET}`);
    expect(answered.headers.get('x-spend-cap-usd')).toBe('5.000000000');
    // As LiteLLM: nothing is cached unless the file says so.
    expect((await postChat(world.gateway, apiKey, ask('Hello', { model: 'gpt-4' }))).headers.get('x-cache-hit')).toBe(
      'miss',
    );

    world.upstream.control.setDefault({ status: 500 });
    const helped = await postChat(world.gateway, apiKey, ask('Help', { model: 'house-model' }));
    expect([helped.status, helped.headers.get('x-model'), helped.headers.get('x-failover')]).toEqual([
      200,
      'qwen3-small',
      'true',
    ]);
    await helped.text();

    expect((await importConfig()).filter(({ outcome }) => outcome !== 'unchanged')).toEqual([]);
    expect((await settledLedger(world.gateway)).ok).toBe(true);
  });
});
