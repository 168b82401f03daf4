import { describe, expect, test } from 'bun:test';
import { createProviderRegistry } from './registry';

describe('finding a provider', () => {
  const registry = createProviderRegistry();
  test.each<[string, string | undefined, string?]>([
    ['gpt-4o-mini', 'openai'],
    ['o3', 'openai'],
    ['openai/gpt-4o', 'openai', 'gpt-4o'],
    ['together/meta-llama/Llama-3', 'together', 'meta-llama/Llama-3'],
    ['azure/my-deployment', 'azure', 'my-deployment'],
    ['groq/openai/gpt-oss-120b', 'groq', 'openai/gpt-oss-120b'],
    ['claude-sonnet-4-6', 'anthropic'],
    ['gemini-2.5-flash', 'gemini'],
    ['openrouter/anthropic/claude-sonnet-4-6', 'openrouter', 'anthropic/claude-sonnet-4-6'],
    ['grok-4', 'xai'],
    ['mistral-large-latest', 'mistral'],
    ['accounts/fireworks/models/x', 'fireworks'],
    ['demo-chat', 'demo'],
    ['ollama/qwen2.5:14b', 'ollama', 'qwen2.5:14b'],
    ['nobody/has-this', undefined],
    ['openai/', undefined],
    ['/gpt-4o', undefined],
    ['', undefined],
  ])('%s', (name, provider, model = name) => {
    const found = registry.detect(name);
    expect(found?.provider.name).toBe(provider as string);
    if (found !== undefined) expect(found.model).toBe(model);
  });

  test('names are unique, and only built-in providers answer by themselves', () => {
    const names = registry.list().map((provider) => provider.name);
    expect(new Set(names).size).toBe(names.length);
    expect(registry.builtIn().map((provider) => provider.name)).toEqual(['demo']);
    expect(
      registry
        .list()
        .filter((provider) => provider.isFree)
        .map((provider) => provider.name),
    ).toEqual(['ollama']);
    for (const provider of registry.list()) {
      const hasOwnHost = provider.respondLocally === undefined && provider.name !== 'azure';
      if (hasOwnHost) expect(provider.defaultBaseUrl).toMatch(/^https?:\/\/[^ ]+[^/]$/);
    }
  });
});
