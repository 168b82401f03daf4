import { describe, expect, test } from 'bun:test';
import { stringify } from 'yaml';
import { planImport } from './plan-import';

const planOf = (config: unknown, env: Record<string, string> = {}) =>
  planImport(stringify(config, { version: '1.1' }), env);
const told = (config: unknown, env?: Record<string, string>) =>
  planOf(config, env).notes.map(({ kind, at, why }) => `${kind} ${at}: ${why}`);
const model = (params: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  model_list: [{ model_name: 'm', litellm_params: { model: 'openai/m1', ...params }, ...more }],
});
const server = { api_base: 'http://host/v1' };

describe('keys that may be none', () => {
  test.each(['none', 'anything', 'dummy', 'N/A', 'EMPTY'])('%s is listed', (api_key) => {
    const config = model({ ...server, api_key });
    expect(planOf(config).providers[0]?.keys).toEqual([]);
    expect(told(config)).toEqual([
      `left out model_list[0] m api_key: "${api_key}" stands for no key: the server is asked without one`,
    ]);
  });

  test('the master key of the examples is a key, where a server is named: it may be another proxy', () => {
    for (const prefix of ['openai', 'litellm_proxy', 'hosted_vllm']) {
      const config = model({ ...server, model: `${prefix}/m1`, api_key: 'sk-1234' });
      expect(planOf(config).providers[0]?.keys).toEqual([{ name: 'litellm m', secret: 'sk-1234' }]);
      expect(told(config)).toEqual([]);
    }
    const nowhere = model({ model: 'perplexity/sonar', api_key: 'sk-1234' });
    expect(planOf(nowhere).providers[0]?.keys).toEqual([]);
    expect(told(nowhere).join()).toContain('"sk-1234" stands for no key');
  });
});

test('an alias with one target asks only this target, as there: nothing differs', () => {
  const models = { model_list: ['openai/gpt-4o', 'anthropic/claude-sonnet-4-5', 'gemini/gemini-2.5-pro'].map(one) };
  expect(told(models, { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k' })).toEqual([]);
});

const one = (named: string) => ({ model_name: named.slice(0, 6), litellm_params: { model: named } });

describe('unsupported settings are listed', () => {
  test.each([
    [{ litellm_settings: { ssl_verify: false } }, 'left out litellm_settings.ssl_verify: '],
    [{ litellm_settings: { an_unheard_of: false } }, 'left out litellm_settings.an_unheard_of: '],
    [{ environment_variables: { UNUSED: 'secret' } }, 'left out environment_variables.UNUSED: '],
    [
      { credential_list: [{ credential_name: 'c1', credential_values: { api_key: 'secret' } }] },
      'left out credential_list c1: ',
    ],
    [{ credential_list: [{ credential_name: 'c2' }] }, 'left out credential_list[0]: '],
    [model({ ...server, api_version: '2024-10-21' }), 'left out model_list[0] m api_version: '],
    [
      { ...model(server), router_settings: { model_group_alias: { x: { model: 'm', hidden: true } } } },
      'differs model_group_alias x: ',
    ],
    [
      { litellm_settings: { request_timeout: 10 }, router_settings: { timeout: 30 } },
      'left out router_settings.timeout: 30s',
    ],
    [{ litellm_settings: { cache: true, cache_params: { mode: 'default_off' } } }, 'left out cache_params.mode: '],
    [
      { litellm_settings: { default_key_generate_params: { duration: '30d' } } },
      'left out default_key_generate_params.duration: ',
    ],
    [model(server, { model_info: { supports_vision: true } }), 'left out model_info.supports_vision: '],
    [model(server, { litellm_budget: 3 }), 'left out model_list.litellm_budget: '],
    [model({ ...server, extra_headers: { 'X-A': 'os.environ/GONE' } }), 'left out model_list[0] m extra_headers: '],
  ])('%j', (config, line) => {
    const lines = told(config);
    expect(lines.filter((one) => one.startsWith(line))).toHaveLength(1);
    expect(lines.join()).not.toContain('secret');
  });

  test('and what is, is not', () => {
    const config = {
      ...model(
        { ...server, api_key: 'os.environ/USED', litellm_credential_name: 'c' },
        { model_info: { mode: 'chat' } },
      ),
      environment_variables: { USED: 'k' },
      credential_list: [{ credential_name: 'c', credential_values: {} }],
      litellm_settings: {
        drop_params: false,
        cache: true,
        cache_params: { type: 'redis', ttl: 60 },
        set_verbose: false,
      },
      general_settings: { store_model_in_db: false },
    };
    expect(told(config)).toEqual([]);
  });

  test('a store in parts is one setting, and one time-out of two names is told once', () => {
    const redis = { redis_host: 'h', redis_port: 1, redis_password: 'secret' };
    const lines = told({ router_settings: { ...redis, timeout: 10 }, litellm_settings: { request_timeout: 10 } });
    expect(lines.filter((line) => !line.includes('client key'))).toHaveLength(2);
    expect(lines.join()).not.toContain('secret');
  });
});
