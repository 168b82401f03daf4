import { describe, expect, test } from 'bun:test';
import { stringify } from 'yaml';
import { planImport } from './plan-import';

const planOf = (config: unknown) => planImport(stringify(config, { version: '1.1' }), {});

describe('names of servers', () => {
  const namesOf = (...servers: { api_base: string; extra_headers?: Record<string, string> }[]) =>
    planOf({
      model_list: servers.map((server, index) => ({
        model_name: `m${index}`,
        litellm_params: { model: 'hosted_vllm/x', ...server },
      })),
    }).providers.map(({ name }) => name);

  test('servers are told apart by all of their address, and by what is sent to them', () => {
    const at = (path: string) => ({ api_base: `http://host${path}` });
    expect(namesOf(at('/a/v1'), at('/b/v1'), at('/a/v1/'))).toEqual(['host-a', 'host-b']);
    const tenant = (name: string) => ({ ...at('/v1'), extra_headers: { 'X-Tenant': name } });
    const names = namesOf(at('/v1'), tenant('a'), tenant('b'), tenant('a'));
    expect(names).toEqual(['host', expect.stringMatching(/^host-[0-9a-f]{8}$/), expect.stringMatching(/^host-/)]);
    expect(new Set(names).size).toBe(3);
  });

  test('a name is that of the server, wherever it stands in the file', () => {
    const servers = ['http://host/v1', 'https://host/v1', 'http://host', 'http://ho.st/v1', 'http://ho-st/v1'].map(
      (api_base) => ({ api_base }),
    );
    const names = namesOf(...servers);
    expect(new Set(names).size).toBe(servers.length);
    expect(namesOf(...servers.toReversed())).toEqual(names.toReversed());
  });

  test('several keys of one name are told apart, too', () => {
    const model_list = ['sk-first-0001', 'sk-second-0002'].map((api_key) => ({
      model_name: 'm',
      litellm_params: { model: 'openai/x', api_base: 'http://host/v1', api_key },
    }));
    const names = (list: unknown[]) => planOf({ model_list: list }).providers[0]?.keys.map(({ name }) => name);
    expect(names(model_list)).toEqual(names(model_list.toReversed())?.toReversed());
    expect(names(model_list)?.join()).toMatch(/^litellm m #[0-9a-f]{6},litellm m #[0-9a-f]{6}$/);
    expect(names(model_list.slice(1))).toEqual(['litellm m']);
  });
});
