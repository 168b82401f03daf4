import { describe, expect, test } from 'bun:test';
import { createProviderRegistry } from './registry';

describe('the providers', () => {
  const registry = createProviderRegistry();
  const matching = (name: string) =>
    registry
      .list()
      .filter((provider) => provider.modelPatterns.some((pattern) => pattern.test(name)))
      .map((provider) => provider.name);

  test.each<[string, string[]]>([
    ['gpt-4o-mini', ['openai']],
    ['o3', ['openai']],
    ['claude-sonnet-4-6', ['anthropic']],
    ['gemini-2.5-flash', ['gemini']],
    ['openai/gpt-oss-120b', ['groq']],
    ['grok-4', ['xai']],
    ['mistral-large-latest', ['mistral']],
    ['accounts/fireworks/models/x', ['fireworks']],
    ['command-a-03-2025', ['cohere']],
    ['c4ai-aya-expanse-32b', ['cohere']],
    ['embed-v4.0', ['cohere']],
    ['embed-multilingual-v3.0', ['cohere']],
    ['commander', []],
    ['voyage-4-lite', ['voyage']],
    ['rerank-2.5', ['voyage']],
    ['rerank-v3.5', ['cohere']],
    ['jina-reranker-v3', ['jina']],
    ['demo-chat', ['demo']],
    ['nobody/has-this', []],
    ['', []],
  ])('%s is a name of %p', (name, providers) => {
    expect(matching(name)).toEqual(providers);
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
      const hasOwnHost =
        provider.respondLocally === undefined && !['azure', 'bedrock', 'vertex'].includes(provider.name);
      if (hasOwnHost) expect(provider.defaultBaseUrl).toMatch(/^https?:\/\/[^ ]+[^/]$/);
    }
  });
});
