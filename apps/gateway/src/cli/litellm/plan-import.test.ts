import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { planImport } from './plan-import';

const PRODUCTION = await Bun.file(join(import.meta.dir, '__fixtures__/production.yaml')).text();
const ENV = {
  ...{
    OPENAI_API_KEY: 'sk-openai-env-000001',
    AZURE_API_KEY_EU: 'azure-eu-key-000000',
    AZURE_API_KEY_CA: 'azure-ca-key',
  },
  ...{ AWS_ACCESS_KEY_ID: 'AKIA0', AWS_SECRET_ACCESS_KEY: 'aws-secret' },
};
const plan = planImport(PRODUCTION, ENV);
const named = (name: string) => plan.providers.find((provider) => provider.name === name);
const alias = (name: string, from = plan) => {
  const found = from.aliases.find((one) => one.alias === name);
  return (
    found && `${found.strategy}: ${found.targets.map((one) => `${one.provider}/${one.model}=${one.weight}`).join(' ')}`
  );
};
const noted = (at: string, from = plan) => from.notes.filter((note) => note.at.includes(at)).map(({ kind }) => kind);
const planOf = (config: unknown, env: Record<string, string> = {}) =>
  planImport(stringify(config, { version: '1.1' }), env);
const oneModel = (params: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  model_list: [{ model_name: 'm', litellm_params: params, ...more }],
});

describe('a config in production', () => {
  test('vendors, servers and their keys', () => {
    expect(plan.providers.map(({ name }) => name)).toEqual([
      ...[
        'azure',
        'contoso-ca-openai-azure-com-openai',
        'openai',
        'anthropic',
        'bedrock',
        'gpu-example-com-8000',
        'mistral',
      ],
    ]);
    expect(named('azure')).toMatchObject({
      ...{ isVendor: true, baseUrl: 'https://contoso-eu.openai.azure.com', options: { apiVersion: '2024-10-21' } },
      keys: [{ name: 'litellm AZURE_API_KEY_EU', secret: 'azure-eu-key-000000' }],
    });
    expect(named('contoso-ca-openai-azure-com-openai')?.baseUrl).toBe('https://contoso-ca.openai.azure.com/openai/v1');
    expect(named('openai')?.keys.map(({ secret }) => secret)).toEqual([
      ...['sk-openai-env-000001', 'sk-second-organization-000002'],
    ]);
    expect(named('anthropic')).toMatchObject({ keys: [], missing: ['ANTHROPIC_API_KEY'] });
    expect(named('bedrock')).toMatchObject({
      keys: [{ secret: 'AKIA0:aws-secret' }],
      options: { region: 'eu-central-1' },
    });
    expect(named('gpu-example-com-8000')?.keys).toEqual([]);
    expect(named('mistral')?.keys).toEqual([
      { name: 'litellm MISTRAL_API_KEY', secret: 'sk-mistral-from-the-file-0001' },
    ]);
  });

  test('names, their shares, and what stands in', () => {
    expect(alias('gpt-4o')).toBe(
      'weighted: azure/gpt-4o-eu=600 contoso-ca-openai-azure-com-openai/gpt-4o-ca=200 anthropic/claude-sonnet-4-6=0 ' +
        'openai/gpt-4o-mini=0 gpu-example-com-8000/meta-llama/Llama-3.3-70B-Instruct=0',
    );
    expect(alias('gpt-4')).toBe(alias('gpt-4o'));
    expect(alias('claude')).toBe('priority: anthropic/claude-sonnet-4-6=1');
    expect(alias('gpt-4o-mini')).toBe(
      'priority: openai/gpt-4o-mini=1 gpu-example-com-8000/meta-llama/Llama-3.3-70B-Instruct=1',
    );
    expect(alias('claude-bedrock')).toBe(
      'weighted: bedrock/anthropic.claude-3-5-sonnet-20241022-v2:0=1 bedrock/us-east-1/anthropic.claude-3-5-sonnet-20241022-v2:0=1',
    );
    expect(alias('gemini-pro')).toBeUndefined();
    expect(alias('anthropic/*')).toBeUndefined();
  });

  test('prices, budget, cache and limits', () => {
    expect(plan.prices).toEqual([
      {
        ...{ provider: 'gpu-example-com-8000', model: 'meta-llama/Llama-3.3-70B-Instruct', mode: 'chat' },
        ...{ input_usd_per_million: '0.15', output_usd_per_million: '0.6', context_window: 131072 },
      },
    ]);
    expect(plan.unpriced).toEqual([
      { provider: 'azure', model: 'gpt-4o-eu', base: { provider: 'azure', model: 'gpt-4o' } },
      { provider: 'contoso-ca-openai-azure-com-openai', model: 'gpt-4o-ca', base: undefined },
      { provider: 'gpu-example-com-8000', model: 'Qwen/Qwen3-32B', base: undefined },
    ]);
    expect(plan.project).toEqual({
      settings: { monthly_cap_usd: 250.5, drop_params: true, cache_enabled: true, cache_ttl_seconds: 600 },
      defaults: { cache_enabled: false },
      key: { rate_limit_per_minute: 300, tokens_per_minute: 200_000, allowed_models: expect.any(Array) },
    });
  });

  test('unsupported entries are listed', () => {
    for (const at of [
      'gemini-pro',
      'timeout',
      'temperature',
      'num_retries',
      'success_callback',
      'provider_budget_config',
    ]) {
      expect(noted(at)).toContain('left out');
    }
    expect(noted('fallbacks of sonnet')).toEqual(['left out']);
    for (const at of ['REQUEST_TIMEOUT', 'REDIS_URL', 'ADMIN_TOKEN', 'DATABASE_URL']) {
      expect([...new Set(noted(at))]).toEqual(['set yourself']);
    }
  });

  test('no secret of the file is in what is told', () => {
    const told = JSON.stringify({
      notes: plan.notes,
      aliases: plan.aliases,
      prices: plan.prices,
      project: plan.project,
    });
    expect(told).not.toMatch(/never-shown|sk-|aws-secret|azure-eu-key/);
  });
});

describe('budgets', () => {
  test.each([
    [{ max_budget: 10, budget_duration: '1mo' }, { monthly_cap_usd: 10 }, {}],
    [{ max_budget: 10 }, {}, { budget_usd: 10, budget_period: 'total' }],
    [{ max_budget: 10, budget_duration: '1d' }, { daily_budget_usd: 10 }, {}],
    [{ max_budget: 10, budget_duration: '7d' }, { weekly_budget_usd: 10 }, {}],
    [{ max_budget: 10, budget_duration: '3h' }, {}, {}],
    [{ default_key_generate_params: { max_budget: 5, budget_duration: '24h' } }, {}, { daily_budget_usd: 5 }],
    [
      { default_key_generate_params: { max_budget: 5, budget_duration: '30d' } },
      {},
      { budget_usd: 5, budget_period: 'month' },
    ],
  ])('%j', (settings, project, key) => {
    const made = planOf({ litellm_settings: settings }).project;
    expect(made.settings).toEqual(project);
    expect(made.key).toEqual({ rate_limit_per_minute: null, ...key });
  });
});

describe('deployments', () => {
  test('limits beside the parameters are shares, too; several keys of one model are one target', () => {
    const list = ['sk-a', 'sk-b'].map((api_key) => ({
      model_name: 'm',
      litellm_params: { model: 'gpt-4o', api_key },
      rpm: 3,
    }));
    const other = { model_name: 'm', litellm_params: { model: 'openrouter/openai/gpt-4o', api_key: 'sk-or' }, rpm: 4 };
    const made = planOf({ model_list: [...list, other] });
    expect(alias('m', made)).toBe('weighted: openai/gpt-4o=6 openrouter/openai/gpt-4o=4');
    expect(made.providers.map(({ keys }) => keys.length)).toEqual([2, 1]);
  });

  test('targets without a weight share equally, and former limits are noted', () => {
    const list = [
      { model_name: 'm', litellm_params: { model: 'gpt-4o', api_key: 'sk-a', rpm: 100 } },
      { model_name: 'm', litellm_params: { model: 'openrouter/openai/gpt-4o', api_key: 'sk-or' } },
    ];
    const made = planOf({ model_list: list });
    expect(alias('m', made)).toBe('weighted: openai/gpt-4o=100 openrouter/openai/gpt-4o=100');
    expect(made.notes.map(({ why }) => why).join()).toContain('rpm: a share of the requests here, no limit');
  });

  test.each([
    [oneModel({ model: 'azure/', api_base: 'https://x.openai.azure.com' }), 'names no model'],
    [oneModel({ model: 'dall-e-3' }, { model_info: { mode: 'image_generation' } }), 'image_generation'],
    [oneModel({ model: 'openai/whisper-1' }, { model_info: { mode: 'audio_transcription' } }), '/passthrough'],
  ])('kinds without a format are skipped: %j', (config, why) => {
    const made = planOf(config);
    expect(made.aliases).toEqual([]);
    expect(made.notes.map((note) => note.why).join()).toContain(why);
  });

  test('a wildcard brings the key, and no alias', () => {
    const made = planOf({
      model_list: [{ model_name: '*', litellm_params: { model: 'openai/*', api_key: 'sk-all-of-openai' } }],
    });
    expect(made.providers.map(({ name, keys }) => [name, keys.length])).toEqual([['openai', 1]]);
    expect([made.aliases, made.unpriced]).toEqual([[], []]);
  });
});

test('a fallback that only a wildcard has is a target all the same', () => {
  const model_list = [
    { model_name: 'm', litellm_params: { model: 'gpt-4o', api_key: 'sk-x' } },
    { model_name: 'anthropic/*', litellm_params: { model: 'anthropic/*', api_key: 'sk-ant' } },
  ];
  const made = planOf({
    model_list,
    litellm_settings: { fallbacks: [{ m: ['anthropic/claude-sonnet-4-6', 'groq/llama'] }] },
  });
  expect(made.aliases.map((one) => alias(one.alias, made))).toEqual([
    'priority: openai/gpt-4o=1 anthropic/claude-sonnet-4-6=1',
  ]);
  expect(noted('fallbacks of m', made)).toEqual(['left out']);
});

test("a file can't read the gateway's secrets, and no variable's value is shown", () => {
  const env = { ADMIN_TOKEN: 'admin-secret', DATABASE_URL: 'postgres://db-secret', SOME_NAME: 'name-secret' };
  const list = ['ADMIN_TOKEN', 'DATABASE_URL'].map((name) => ({
    model_name: name,
    litellm_params: { model: 'openai/x', api_base: 'https://evil.example', api_key: `os.environ/${name}` },
  }));
  const odd = { model_name: 'odd', litellm_params: { model: 'os.environ/SOME_NAME' } };
  const made = planOf({ model_list: [...list, odd] }, env);
  expect(made.providers).toMatchObject([{ keys: [], missing: ['ADMIN_TOKEN', 'DATABASE_URL'] }]);
  expect(JSON.stringify(made)).not.toContain('-secret');
});

describe('addresses', () => {
  test.each([
    [{ model: 'openai/x', api_base: 'http://user:sk-secret@host/v1' }, 'credentials'],
    [{ model: 'openai/x', api_base: 'http://host/v1?key=sk-secret' }, 'query'],
    [{ model: 'openai/x', api_base: 'file:///etc/passwd' }, 'http(s)'],
    [{ model: 'hosted_vllm/x' }, 'missing'],
    [{ model: 'sagemaker/x' }, 'no vendor'],
    [{ model: 'mystery' }, 'is unknown'],
    [{ model: 'openai/x', api_base: 'os.environ/GONE' }, 'GONE is not set'],
  ])('%j is left out', (params, why) => {
    const made = planOf(oneModel(params));
    expect(made.aliases).toEqual([]);
    const told = made.notes.map((note) => note.why).join(' ');
    expect(told).toContain(why);
    expect(told).not.toContain('sk-secret');
  });

  test.each([
    ['http://10.1.2.3:8000/v1', 'server-10-1-2-3-8000'],
    ['https://ollama/v1', 'server-ollama'],
    ['https://A.Very.Long.Name.Of.A.Machine.In.A.Cluster.example.com/v1', 'a-very-long-name-of-a-machine-i-a3994544'],
    ['http://[::1]:8000/v1', 'server-1-8000'],
  ])('%s becomes %s', (url, name) => {
    const made = planOf(oneModel({ model: 'hosted_vllm/x', api_base: url }));
    expect(made.providers.map((provider) => provider.name)).toEqual([name]);
    expect(name).toMatch(/^[a-z][a-z0-9-]{0,39}$/);
  });
});

describe('laws', () => {
  test('no fallbacks give an alias duplicate, over twenty or zero targets', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd');
    const lists = fc.array(fc.dictionary(name, fc.array(name, { maxLength: 4 }), { maxKeys: 4 }), { maxLength: 4 });
    fc.assert(
      fc.property(lists, lists, (fallbacks, larger) => {
        const model_list = ['a', 'b', 'b', 'c', 'd'].map((group, index) => ({
          model_name: group,
          litellm_params: { model: `openai/gpt-${index}`, api_key: 'sk-x' },
        }));
        const made = planOf({ model_list, router_settings: { fallbacks, context_window_fallbacks: larger } });
        expect(made.aliases.map((one) => one.alias)).toEqual(['a', 'b', 'c', 'd']);
        for (const { targets } of made.aliases) {
          expect(new Set(targets.map((one) => `${one.provider}/${one.model}`)).size).toBe(targets.length);
          expect(targets.length).toBeWithin(1, 21);
        }
      }),
    );
  });

  test('any file is read or refused, never a crash', () => {
    const sections = ['model_list', 'litellm_settings', 'router_settings', 'general_settings', 'credential_list'];
    const any = fc.jsonValue({ maxDepth: 4 });
    const config = fc.record(Object.fromEntries(sections.map((name) => [name, any])), { requiredKeys: [] });
    fc.assert(
      fc.property(config, fc.dictionary(fc.string(), any), (wild, params) => {
        for (const one of [
          wild,
          oneModel({ model: 'openai/x', ...params }),
          { litellm_settings: params, router_settings: params },
        ]) {
          try {
            planOf(one);
          } catch (error) {
            expect(String(error)).toMatch(/model_list|YAML|deeply|neither|measure/);
          }
        }
      }),
      { numRuns: runs(100) },
    );
  });
});
