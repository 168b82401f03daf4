import { describe, expect, test } from 'bun:test';
import { GatewayError } from '../errors/gateway-error';
import { createPriceBook } from '../pricing/price-book';
import { type Alias, createAliasBook } from './alias';
import type { FailoverMode } from './failover-mode';
import { allowedTargets, mayAnswer, soleTarget, withinProviders, withoutOthers } from './named-targets';
import { resolveTargets } from './resolve-targets';
import { createRoutingTables } from './routing-tables';
import { targetKey } from './target';

const PLACES = { a: 'cloud', b: 'cloud', c: 'cloud', own: 'local' } as const;
const alias = (name: string, targets: readonly string[], more: Partial<Alias> = {}): Alias => ({
  ...{ name, projectId: null, strategy: 'priority', version: '1' },
  targets: targets.map((key) => ({ provider: key.split('/')[0] ?? '', model: key.split('/')[1] ?? '', weight: 1 })),
  ...more,
});
const ALIASES = [
  alias('one', ['a/a-1']),
  alias('one-on', ['a/a-1'], { failover: 'on' }),
  alias('two', ['b/b-1', 'a/a-1']),
  alias('two-on', ['a/a-2', 'a/a-1'], { failover: 'on' }),
  alias('drawn', ['a/a-1', 'b/b-1'], { strategy: 'weighted' }),
  alias('away-on', ['gone/a-1', 'a/a-1'], { failover: 'on' }),
];

function tables(mode: FailoverMode = 'cloud_first', without: readonly string[] = [], drained = '') {
  const names = Object.entries(PLACES).filter(([name]) => !without.includes(name));
  const step = (provider: string) => ({ provider, model: `${provider}-1`, matches: [`${provider}-1`] });
  return createRoutingTables({
    providers: new Map(
      names.map(([name, place]) => [
        name,
        {
          ...{ name, place, modelPatterns: [new RegExp(`^${name}-`)], liveModels: new Set<string>() },
          isDrained: name === drained,
        },
      ]),
    ),
    prices: createPriceBook([], new Set()),
    chains: [{ name: 'x', localTier: 'budget', steps: ['a', 'b', 'c'].map(step) }],
    substitutes: { budget: { provider: 'own', model: 'small' } },
    aliases: createAliasBook(ALIASES),
    mode,
  });
}

const keysOf = (find: () => { readonly targets: readonly { provider: string; model: string }[] }) => {
  try {
    return find().targets.map(targetKey).join(' ');
  } catch (error) {
    if (error instanceof GatewayError) return error.kind;
    throw error;
  }
};

describe('only the named provider is called', () => {
  test.each<[string, FailoverMode, string]>([
    ['a-1', 'cloud_first', 'a/a-1 b/b-1 c/c-1 own/small'],
    ['a/a-1', 'cloud_first', 'a/a-1'],
    ['a/a-1', 'local_first', 'a/a-1'],
    ['a/a-1', 'local_only', 'model_not_found'],
    ['own/small', 'cloud_only', 'model_not_found'],
    ['one', 'cloud_first', 'a/a-1'],
    ['one', 'local_first', 'a/a-1'],
    ['one-on', 'cloud_first', 'a/a-1 b/b-1 c/c-1 own/small'],
    ['one-on', 'local_first', 'own/small a/a-1 b/b-1 c/c-1'],
    ['two', 'cloud_first', 'b/b-1 a/a-1'],
    ['two-on', 'cloud_first', 'a/a-2 a/a-1 b/b-1 c/c-1 own/small'],
    ['away-on', 'cloud_first', 'a/a-1 b/b-1 c/c-1 own/small'],
    ['a-1', 'off', 'a/a-1'],
    ['one-on', 'off', 'a/a-1'],
  ])('%s, %s: %s', (model, mode, expected) => {
    expect(keysOf(() => resolveTargets(model, tables(mode)))).toBe(expected);
  });

  test('FAILOVER_MODE=off: a vendor that is not configured is not replaced', () => {
    expect(keysOf(() => resolveTargets('a-1', tables('off', ['a'])))).toBe('model_not_found');
    expect(keysOf(() => resolveTargets('a-1', tables('cloud_first', ['a'])))).toBe('b/b-1 c/c-1 own/small');
  });
});

describe('allowed_models', () => {
  test.each<[string, readonly string[], string]>([
    ['a-1', ['a-1'], 'a/a-1'],
    ['a-1', ['a/a-1'], 'a/a-1'],
    ['a-1', ['a/*'], 'a/a-1'],
    ['a-1', ['a-1', 'c/*'], 'a/a-1 c/c-1'],
    ['a-1', ['b-1'], 'model_not_allowed'],
    ['a-1', ['*'], 'a/a-1 b/b-1 c/c-1 own/small'],
    ['a/a-1', ['a-1'], 'a/a-1'],
    ['one-on', ['one-on'], 'a/a-1'],
    ['one-on', ['one-on', 'b-1'], 'a/a-1 b/b-1'],
    ['one-on', ['b-1'], 'model_not_allowed'],
    ['two', ['two'], 'b/b-1 a/a-1'],
    ['two', ['a-1'], 'a/a-1'],
    ['two', ['c-1'], 'model_not_allowed'],
  ])('%s with %p: %s', (model, allowed, expected) => {
    const isAllowed = (names: readonly string[]) =>
      allowed.some((one) =>
        names.some((name) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one)),
      );
    const route = resolveTargets(model, tables());
    expect(keysOf(() => allowedTargets(route, { model, isAllowed }))).toBe(expected);
  });

  test('calls under way are shared by keys with the same models alone; a whole route stays the very same', () => {
    const route = resolveTargets('a-1', tables());
    const some = (...names: string[]) =>
      allowedTargets(route, { model: 'a-1', isAllowed: (given) => given.some((name) => names.includes(name)) });
    expect(new Set([route, some('a-1'), some('a-1', 'b-1'), some('a-1', 'c-1')].map(({ shared }) => shared)).size).toBe(
      4,
    );
    expect(allowedTargets(route, { model: 'a-1', isAllowed: () => true })).toBe(route);
    const b = { provider: 'b', model: 'b-1' };
    expect([mayAnswer(route, b), mayAnswer(some('a-1'), b)]).toEqual([true, false]);
  });
});

describe('failover off', () => {
  test.each<[string, FailoverMode, string]>([
    ['a-1', 'cloud_first', 'a/a-1'],
    ['a-1', 'local_first', 'a/a-1'],
    ['a-1', 'local_only', 'model_not_found'],
    ['one-on', 'cloud_first', 'a/a-1'],
    ['two', 'cloud_first', 'b/b-1'],
    ['two-on', 'cloud_first', 'a/a-2'],
    ['drawn', 'cloud_first', 'a/a-1 b/b-1'],
  ])('%s, %s: %s', (model, mode, expected) => {
    expect(keysOf(() => soleTarget(resolveTargets(model, tables(mode)), model))).toBe(expected);
  });

  test.each([
    ['drawn', 'a', 'b/b-1'],
    ['drawn', 'b', 'a/a-1'],
    ['two', 'b', 'b/b-1'],
    ['a-1', 'a', 'a/a-1'],
  ])(
    'a strategy picks no drained target, and a named one is not replaced: %s without %s',
    (model, drained, expected) => {
      const route = resolveTargets(model, tables('cloud_first', [], drained));
      expect(keysOf(() => soleTarget(route, model))).toBe(expected);
      expect(route.targets.filter(({ isDrained }) => isDrained).map(({ provider }) => provider)).toEqual([drained]);
    },
  );

  test('an unconfigured provider has no fallback', () => {
    const route = resolveTargets('a-1', tables('cloud_first', ['a']));
    expect(() => soleTarget(route, 'a-1')).toThrow(/failover is off/);
  });

  test('a strategy picks one; what another one of them answered is as good', () => {
    const route = resolveTargets('drawn', tables());
    const sole = soleTarget(route, 'drawn');
    expect([sole.isSole, sole.scope === route.scope, sole.shared === route.shared]).toEqual([true, true, false]);
    const asked = withoutOthers(sole);
    expect([asked.targets.length, asked.targets[0], mayAnswer(asked, { provider: 'b', model: 'b-1' })]).toEqual([
      1,
      route.targets[0],
      true,
    ]);
    const only = resolveTargets('a/a-1', tables());
    expect(soleTarget(only, 'a/a-1')).toBe(only);
  });
});

describe('only allowed providers are called', () => {
  const within = (model: string, allowed: string, isSole = false) =>
    withinProviders(resolveTargets(model, tables()), {
      levelWithout: (provider) => (allowed.includes(provider) ? undefined : 'team'),
      isSole,
    });
  test.each<[string, string, boolean, string]>([
    ['a-1', 'a b c own', false, 'a/a-1 b/b-1 c/c-1 own/small'],
    ['a-1', 'a c', false, 'a/a-1 c/c-1'],
    ['a-1', 'c', false, 'c/c-1'],
    ['a-1', 'c', true, 'model_not_allowed'],
    ['a-1', 'none', false, 'model_not_allowed'],
    ['a/a-1', 'b', false, 'model_not_allowed'],
    ['a-1-2024-08-06', 'b', false, 'model_not_allowed'],
    ['two', 'a', false, 'a/a-1'],
    ['two', 'a', true, 'a/a-1'],
    ['one-on', 'b', true, 'model_not_allowed'],
  ])('%s with %s, alone %p: %s', (model, allowed, isSole, answer) => {
    expect(keysOf(() => within(model, allowed, isSole))).toBe(answer);
  });

  test('says which were passed over, shares no call with others, and stays the same where all may be asked', () => {
    const route = resolveTargets('a-1', tables());
    const kept = withinProviders(route, { levelWithout: (one) => (one === 'b' ? undefined : 'team'), isSole: false });
    const reasons = [...(kept.passedOver ?? []), ...(kept.unfit ?? [])].map(
      ({ target, reason }) => `${target.provider} ${reason}`,
    );
    expect(reasons).toEqual(['a', 'c', 'own'].map((one) => `${one} provider_not_allowed`));
    expect(kept.shared).not.toBe(route.shared);
    expect(withinProviders(route, { levelWithout: () => undefined, isSole: false })).toBe(route);
    expect(() => within('a/a-1', 'b')).toThrow(
      'This API key may not use the provider "a": "allowed_providers" of its team doesn\'t contain it.',
    );
  });
});
