import { describe, expect, test } from 'bun:test';
import { createPriceBook } from '@llm0/core/pricing/price-book';
import { createAliasBook } from '@llm0/core/routing/alias';
import { resolveTargets } from '@llm0/core/routing/resolve-targets';
import { createRoutingTables } from '@llm0/core/routing/routing-tables';
import { targetKey } from '@llm0/core/routing/target';
import { createProviderRegistry } from '@llm0/providers/registry';
import { readPriceSeed } from '../providers/price-seed';
import { callableModels } from './handle-models';
import { KEY as key } from './sample-principal.fixture';

const SEEDED_MS = Date.UTC(2026, 5, 1);
const { models } = await readPriceSeed();

/** All vendors but those left out, with the shipped prices. */
function tablesWithout(...left: readonly string[]) {
  const providers = createProviderRegistry()
    .list()
    .filter(({ name }) => !left.includes(name))
    .map(({ name, modelPatterns, isFree }) => ({
      name,
      modelPatterns,
      place: isFree ? ('local' as const) : ('cloud' as const),
      // A local server may list what a vendor calls its own.
      liveModels: new Set(isFree ? ['qwen2.5:14b', 'gpt-4o', 'openai/gpt-oss-20b'] : []),
    }));
  return createRoutingTables({
    providers: new Map(providers.map((provider) => [provider.name, provider])),
    prices: createPriceBook(
      models.map((model) => ({ ...model, updatedAtMs: SEEDED_MS })),
      new Set(['ollama']),
    ),
    aliases: createAliasBook([
      {
        ...{ name: 'gpt-4o-mini', projectId: null, strategy: 'priority' as const, version: '1' },
        targets: [{ provider: 'anthropic', model: 'claude-haiku-4-5', weight: 1 }],
      },
      {
        ...{ name: 'any', projectId: null, strategy: 'priority' as const, version: '1' },
        targets: ['openai/gpt-4o', 'anthropic/claude-haiku-4-5'].map((one) => ({ ...readTarget(one), weight: 1 })),
      },
    ]),
  });
}

function readTarget(text: string) {
  const [provider = '', model = ''] = text.split('/');
  return { provider, model };
}

/** It answers without a route. */
const SHIPPED = 'local/all-MiniLM-L6-v2';

describe('the list of models', () => {
  test.each<[Partial<typeof key>, boolean]>([
    [{}, true],
    [{ allowedModels: ['all-MiniLM-*'] }, true],
    [{ allowedModels: [SHIPPED], allowedProviders: ['local'] }, true],
    [{ allowedModels: ['gpt-*'] }, false],
    [{ allowedProviders: ['openai'] }, false],
  ])('the shipped model is there for a key with %j: %j', (limits, isThere) => {
    const found = callableModels(tablesWithout(), { ...key, ...limits }).find(({ id }) => id === SHIPPED);
    expect(found?.output_modalities).toEqual(isThere ? ['embedding', 'ranking'] : undefined);
  });

  test.each<[string[] | null, string[] | null, string[] | undefined]>([
    [null, null, ['openai/gpt-4o', 'anthropic/claude-haiku-4-5']],
    [['any'], null, ['openai/gpt-4o', 'anthropic/claude-haiku-4-5']],
    [['claude-*'], null, ['anthropic/claude-haiku-4-5']],
    [null, ['openai'], ['openai/gpt-4o']],
    [['openai/gpt-4o'], ['anthropic'], undefined],
  ])('an alias shows the targets that models %j and providers %j permit', (allowedModels, allowedProviders, shown) => {
    const listed = callableModels(tablesWithout(), { ...key, allowedModels, allowedProviders });
    expect(listed.find(({ id }) => id === 'any')?.targets).toEqual(shown);
  });

  test.each([[[]], [['ollama']], [['openai']], [['groq', 'ollama']], [['openai', 'anthropic', 'ollama']]])(
    'every id leads to its owner when it is sent back (without %j)',
    (left) => {
      const tables = tablesWithout(...left);
      const listed = callableModels(tables, key);
      expect(listed.length).toBeGreaterThan(300);
      expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length);
      const astray = listed.filter(({ id, owned_by: owner }) => {
        if (id === SHIPPED) return owner !== 'local';
        const route = resolveTargets(id, tables);
        return owner === 'alias'
          ? route.alias !== id
          : route.alias !== undefined || route.targets[0].provider !== owner;
      });
      expect(astray.map(({ id, owned_by: owner }) => `${id} of ${owner}`)).toEqual([]);
    },
  );

  test('a name that belongs to two is listed for both', () => {
    const listed = callableModels(tablesWithout('ollama'), key);
    const owners = listed.filter(({ id }) => id.endsWith('openai/gpt-oss-20b')).map((one) => [one.id, one.owned_by]);
    expect(owners).toContainEqual(['groq/openai/gpt-oss-20b', 'groq']);
    const tables = tablesWithout('ollama');
    for (const [id, owner] of owners)
      expect(targetKey(resolveTargets(id ?? '', tables).targets[0])).toStartWith(`${owner}/`);
  });

  test('each has a day: that of its name, else that of its price', () => {
    const listed = callableModels(tablesWithout(), key);
    const created = (id: string) => listed.find((one) => one.id === id)?.created;
    expect(created('gpt-4o-mini-2024-07-18')).toBe(Date.UTC(2024, 6, 18) / 1000);
    expect(created('claude-haiku-4-5-20251001')).toBe(Date.UTC(2025, 9, 1) / 1000);
    expect(created('claude-haiku-4-5')).toBe(SEEDED_MS / 1000);
    expect(created('qwen2.5:14b')).toBe(SEEDED_MS / 1000);
    expect(listed.filter((one) => !(one.created > 1_000_000_000))).toEqual([]);
  });
});
