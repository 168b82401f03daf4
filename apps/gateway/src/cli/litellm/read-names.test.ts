import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { planImport } from './plan-import';

const planOf = (config: unknown) => planImport(stringify(config, { version: '1.1' }), {});
const allowed = (config: unknown) => planOf(config).project.key.allowed_models;
const entry = (model_name: string, model: string, info: Record<string, unknown> = {}) => ({
  model_name,
  litellm_params: { model, api_key: 'sk-x' },
  model_info: info,
});

describe('the key of the clients may call what the file serves', () => {
  test('and nothing else: a name of a vendor, of an operator, of a group', () => {
    const model_list = [entry('gpt-4o', 'gpt-4o'), entry('smart', 'anthropic/claude-x'), entry('smart', 'openai/o3')];
    expect(allowed({ model_list: [entry('gpt-4o', 'gpt-4o')] })).toEqual(['gpt-4o']);
    const router_settings = { model_group_alias: { 'gpt-4': 'gpt-4o', gone: 'nowhere' } };
    expect(allowed({ model_list, router_settings })).toEqual(['gpt-4o', 'smart', 'gpt-4']);
    // It has no alias, and is a name all the same.
    expect(allowed({ model_list: [entry('openai/gpt-4o', 'openai/gpt-4o')] })).toEqual(['openai/gpt-4o']);
  });

  test('unsupported entries are excluded', () => {
    const model_list = [entry('gpt-4o', 'gpt-4o'), entry('vertex', 'vertex_ai/gemini'), entry('dall-e', 'dall-e-3')];
    expect(allowed({ model_list: [...model_list.slice(0, 2)] })).toEqual(['gpt-4o']);
  });

  test('wildcards by the names that they have here', () => {
    const model_list = [entry('anthropic/*', 'anthropic/*'), entry('mine-*', 'openai/gpt-*'), entry('c*', 'openai/o3')];
    expect(allowed({ model_list })).toEqual(['anthropic/*', 'openai/gpt-*', 'openai/o3']);
  });

  test('follow default_key_generate_params if set', () => {
    const model_list = [entry('a', 'openai/a', { access_groups: ['few'] }), entry('b', 'openai/b')];
    const withModels = (models: unknown) =>
      allowed({ model_list, litellm_settings: { default_key_generate_params: { models } } });
    expect(withModels(['b'])).toEqual(['b']);
    expect(withModels(['few', 'b'])).toEqual(['a', 'b']);
    for (const all of [['all-proxy-models'], ['all-team-models'], ['*'], [], null]) {
      expect(withModels(all)).toEqual(['a', 'b']);
    }
  });

  test.each([
    [{ model_list: [entry('*', '*'), entry('a', 'openai/a')] }, '"*"'],
    [{ model_list: [] }, 'none'],
    [{ model_list: Array.from({ length: 1001 }, (_, index) => entry(`m${index}`, `openai/m${index}`)) }, '1000'],
  ])('an unrestricted key is reported', (config, why) => {
    const plan = planOf(config);
    expect(plan.project.key).not.toHaveProperty('allowed_models');
    expect(plan.notes.filter(({ at }) => at === 'client key').map((note) => [note.kind, note.why])).toEqual([
      ['differs', expect.stringContaining(why)],
    ]);
  });

  test('imports aliases and the wildcard of a production config', async () => {
    const text = await Bun.file(join(import.meta.dir, '__fixtures__/production.yaml')).text();
    const plan = planImport(text, {});
    const aliases = plan.aliases.map(({ alias }) => alias);
    expect(plan.project.key.allowed_models).toEqual(expect.arrayContaining([...aliases, 'anthropic/*']));
  });
});
