import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { GatewayError } from '../errors/gateway-error';
import { createPriceBook } from '../pricing/price-book';
import { type Alias, createAliasBook, STRATEGIES } from './alias';
import { narrowRoute, type RouteNeeds } from './narrow-route';
import { orderTargets } from './order-targets';
import { resolveTargets } from './resolve-targets';
import { createRoutingTables, type RouteTarget } from './routing-tables';
import { targetKey } from './target';
import { noTargetHealth } from './target-health';

const provider = (name: string, place: 'cloud' | 'local' = 'cloud') => ({
  name,
  place,
  modelPatterns: [new RegExp(`^${name}-`)],
  liveModels: new Set<string>(),
});
const model = (owner: string, name: string, contextWindow: number, maxOutputTokens: number) => ({
  provider: owner,
  model: name,
  mode: 'chat',
  prices: { input: 1, output: 1 },
  capabilities: [],
  contextWindow,
  maxOutputTokens,
});
const alias = (name: string, targets: readonly string[], more: Partial<Alias> = {}): Alias => ({
  name,
  projectId: null,
  strategy: 'priority',
  version: '1',
  targets: targets.map((key) => ({ provider: key.split('/')[0] ?? '', model: key.split('/')[1] ?? '', weight: 1 })),
  ...more,
});
const tables = createRoutingTables({
  providers: new Map([provider('a'), provider('b'), provider('c')].map((one) => [one.name, one])),
  prices: createPriceBook(
    [model('a', 'a-1', 1000, 500), model('b', 'b-1', 8000, 100), model('a', 'a-1-0101', 1000, 500)],
    new Set(),
  ),
  chains: [
    {
      name: 'x',
      localTier: null,
      steps: [
        { provider: 'a', model: 'a-1', matches: ['a-1'] },
        { provider: 'b', model: 'b-1', matches: ['b-1'] },
        { provider: 'c', model: 'c-unpriced', matches: ['c-unpriced'] },
      ],
    },
  ],
  aliases: createAliasBook([
    alias('one', ['a/a-1']),
    alias('two', ['b/b-1', 'a/a-1']),
    alias('two', ['a/a-1', 'b/b-1'], { projectId: 'p1', version: '2' }),
    alias('gone', ['nobody/x']),
    alias('a-1-own', ['c/c-unpriced', 'a/a-1']),
  ]),
});
const needs = (more: Partial<RouteNeeds> = {}): RouteNeeds => ({
  model: 'a-1',
  inputTokens: 10,
  outputTokens: 0,
  refusesUnpriced: false,
  ...more,
});
const narrowed = (name: string, more: Partial<RouteNeeds> = {}) => {
  try {
    return narrowRoute(resolveTargets(name, tables), needs(more)).targets.map(targetKey);
  } catch (error) {
    if (error instanceof GatewayError) return error.kind;
    throw error;
  }
};

describe('narrowRoute', () => {
  test('a route that suits stays the very same', () => {
    const route = resolveTargets('a-1', tables);
    expect(narrowRoute(route, needs())).toBe(route);
  });

  test.each<[string, string, Partial<RouteNeeds>, readonly string[] | string]>([
    ['under a cap a step without a price is skipped', 'a-1', { refusesUnpriced: true }, ['a/a-1', 'b/b-1']],
    ['the requested model itself is refused', 'c-unpriced', { refusesUnpriced: true }, 'model_not_priced'],
    ['an alias goes on with what is priced', 'a-1-own', { refusesUnpriced: true }, ['a/a-1']],
    ['a target too small is skipped', 'a-1', { inputTokens: 1001 }, ['b/b-1', 'c/c-unpriced']],
    ['input and output count together', 'a-1', { inputTokens: 950, outputTokens: 51 }, ['b/b-1', 'c/c-unpriced']],
    ['none fits', 'a-1', { inputTokens: 8001, refusesUnpriced: true }, 'context_length_exceeded'],
    ['what has no known window fits', 'a-1', { inputTokens: 8001 }, ['c/c-unpriced']],
    [
      'a stand-in whose output is too small is skipped',
      'a-1',
      { outputTokens: 101, outputParam: 'max_tokens' },
      ['a/a-1', 'c/c-unpriced'],
    ],
    [
      'a limit that may be brought down skips nobody',
      'a-1',
      { outputTokens: 9999 },
      ['a/a-1', 'b/b-1', 'c/c-unpriced'],
    ],
    [
      'a limit that no model of the name has is refused',
      'a-1',
      { outputTokens: 9999, outputParam: 'max_tokens' },
      'invalid_request',
    ],
    [
      'an alias is refused only what none of its targets has',
      'two',
      { outputTokens: 401, inputTokens: 700, outputParam: 'max_tokens' },
      ['b/b-1'],
    ],
    ['the requested one says so itself', 'b-1', { outputTokens: 101 }, ['b/b-1', 'a/a-1', 'c/c-unpriced']],
    ['a pinned version is not exchanged', 'a-1-0101', { inputTokens: 1001 }, 'context_length_exceeded'],
    ['a named provider is not exchanged for a larger one', 'a/a-1', { inputTokens: 1001 }, 'context_length_exceeded'],
    ['nor the one target of an alias', 'one', { inputTokens: 1001 }, 'context_length_exceeded'],
  ])('%s', (_name, asked, more, expected) => {
    expect(narrowed(asked, more)).toEqual(expected as string[]);
  });

  test('a message says how long, and how long it may be', () => {
    const refuse = () =>
      narrowRoute(resolveTargets('a-1', tables), needs({ inputTokens: 9000, outputTokens: 7, refusesUnpriced: true }));
    expect(refuse).toThrow(/9000 tokens of input and asks for up to 7 of output; "a-1" has .* window of 1000 tokens/);
    const demand = needs({ outputTokens: 9999, outputParam: 'max_completion_tokens' });
    expect(() => narrowRoute(resolveTargets('a-1', tables), demand)).toThrow(
      /"max_completion_tokens" is 9999, but "a-1" writes at most 500 tokens/,
    );
  });

  test('skipped targets are named with a reason', () => {
    const passedOver = (name: string, more: Partial<RouteNeeds>) =>
      narrowRoute(resolveTargets(name, tables), needs(more)).passedOver?.map((one) => [
        targetKey(one.target),
        one.reason,
      ]);
    expect(passedOver('a-1', { inputTokens: 1001 })).toEqual([['a/a-1', 'context_window']]);
    expect(passedOver('a-1-own', { refusesUnpriced: true })).toEqual([['c/c-unpriced', 'unpriced']]);
    // What comes behind the first one was not to be asked anyway.
    expect(passedOver('two', { inputTokens: 1001 })).toBeUndefined();
  });
});

describe('aliases', () => {
  test('one target: another name for it and its cached answers, without its chain', () => {
    const route = resolveTargets('one', tables);
    expect(route.targets.map(targetKey)).toEqual(['a/a-1']);
    expect([route.scope, route.limitName]).toEqual([resolveTargets('a/a-1', tables).scope, 'one']);
  });

  test('several: just these, the project’s own before one for all', () => {
    expect(resolveTargets('two', tables).targets.map(targetKey)).toEqual(['b/b-1', 'a/a-1']);
    const own = resolveTargets('two', tables, 'p1');
    expect(own.targets.map(targetKey)).toEqual(['a/a-1', 'b/b-1']);
    expect(own.scope).not.toBe(resolveTargets('two', tables).scope);
    expect(resolveTargets('two', tables, 'p2')).toBe(resolveTargets('two', tables));
  });

  test('404 if all targets are out of reach', () => {
    expect(() => resolveTargets('gone', tables)).toThrow(/None of the targets of "gone"/);
  });

  test('are among the near names, of those who can use them', () => {
    expect(() => resolveTargets('twoo', tables)).toThrow(/two/);
  });
});

describe('orderTargets', () => {
  const target = (name: string, weight = 1): RouteTarget => ({ provider: name, model: 'm', weight, priced: undefined });
  const context = { health: noTargetHealth, random: () => 0.5, costOf: () => undefined };
  const names = (targets: readonly RouteTarget[]) => targets.map((one) => one.provider).join('');

  test('least_latency: unmeasured first, then the quickest, what is not asked now last', () => {
    const latency: Record<string, number> = { a: 300, b: 20, c: 100 };
    const health = {
      latencyMs: ({ provider: name }: RouteTarget) => latency[name],
      isOpen: ({ provider: name }: RouteTarget) => name === 'b',
    };
    expect(
      names(
        orderTargets(
          'least_latency',
          ['a', 'b', 'c', 'd'].map((one) => target(one)),
          { ...context, health },
        ),
      ),
    ).toBe('dcab');
  });

  test('cheapest: by the cost of this request, unpriced last', () => {
    const cost: Record<string, number> = { a: 30, c: 10 };
    const costOf = ({ provider: name }: RouteTarget) => cost[name];
    expect(
      names(
        orderTargets(
          'cheapest',
          ['a', 'b', 'c'].map((one) => target(one)),
          { ...context, costOf },
        ),
      ),
    ).toBe('cab');
  });

  test('weighted: each is first as often as its weight says, and weight 0 only behind the others', () => {
    const targets = [target('z', 0), target('a', 3), target('b', 1)];
    const first = { a: 0, b: 0 } as Record<string, number>;
    for (let i = 0; i < 1000; i++) {
      const order = names(orderTargets('weighted', targets, { ...context, random: () => (i + 0.5) / 1000 }));
      expect(order.at(-1)).toBe('z');
      first[order[0] ?? ''] = (first[order[0] ?? ''] ?? 0) + 1;
    }
    expect(first).toEqual({ a: 750, b: 250 });
  });

  test('every strategy gives the same targets, each once', () => {
    const someTargets = fc.array(fc.tuple(fc.string({ minLength: 1 }), fc.nat(5)), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(
        fc.constantFrom(...STRATEGIES),
        someTargets,
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (strategy, given, point) => {
          const targets = given.map(([name, weight]) => target(name, weight));
          const ordered = orderTargets(strategy, targets, {
            ...context,
            random: () => point,
            costOf: (one) => one.weight,
          });
          expect(new Set(ordered)).toEqual(new Set(targets));
          expect(ordered).toHaveLength(targets.length);
        },
      ),
    );
  });
});

describe('hedging', () => {
  const hedgedTables = createRoutingTables({
    ...tables,
    forProject: undefined,
    chains: tables.chains.map((chain) => ({ ...chain, hedgeAfterMs: 300 })),
    aliases: createAliasBook([
      alias('own', ['a/a-1'], { hedgeAfterMs: 50 }),
      alias('inherits', ['a/a-1'], { failover: 'on' }),
      alias('alone', ['a/a-1']),
      alias('list', ['a/a-1', 'b/b-1']),
    ]),
  });
  test.each([
    ['a-1', 300],
    ['a/a-1', undefined],
    ['own', 50],
    ['inherits', 300],
    ['alone', undefined],
    ['list', undefined],
    ['a-other', undefined],
  ])('%s: %p', (asked, expected) => {
    expect(resolveTargets(asked, hedgedTables).hedgeAfterMs).toBe(expected);
  });
});

test('a project sees its own providers, and what was found for one is nothing to another', () => {
  const all = createRoutingTables({ ...tables, forProject: undefined });
  const withoutB = createRoutingTables({ ...all, forProject: undefined, providers: new Map([['a', provider('a')]]) });
  const shared = { ...all, forProject: (projectId: string) => (projectId === 'owner' ? all : withoutB) };
  const names = (projectId: string) => resolveTargets('a-1', shared, projectId).targets.map(targetKey);
  expect(names('owner')).toEqual(['a/a-1', 'b/b-1', 'c/c-unpriced']);
  expect(names('other')).toEqual(['a/a-1']);
  expect(() => resolveTargets('b-1', shared, 'owner')).not.toThrow();
  expect(names('owner')).toHaveLength(3);
});

describe('images', () => {
  const blind = (owner: string, name: string) => ({
    ...model(owner, name, 8000, 500),
    capabilities: ['function_calling'],
  });
  const seeing = { ...model('b', 'b-1', 8000, 500), capabilities: ['vision'] };
  const unknown = model('c', 'c-1', 8000, 500);
  const world = createRoutingTables({
    ...tables,
    forProject: undefined,
    chains: [],
    prices: createPriceBook([blind('a', 'a-1'), blind('a', 'a-1-0101'), seeing, unknown], new Set()),
    aliases: createAliasBook([
      alias('some', ['a/a-1', 'b/b-1', 'a/a-1-0101', 'c/c-1']),
      alias('none', ['a/a-1', 'a/a-1-0101']),
    ]),
  });
  const needs = { inputTokens: 1, outputTokens: 0, refusesUnpriced: false };
  const narrow = (name: string, hasImages: boolean) =>
    narrowRoute(resolveTargets(name, world), { ...needs, model: name, hasImages });

  test('go to models with vision and to those that nobody described', () => {
    const { targets, passedOver, unfit } = narrow('some', true);
    expect(targets.map(targetKey)).toEqual(['b/b-1', 'c/c-1']);
    expect(passedOver).toMatchObject([{ target: { model: 'a-1' }, reason: 'no_vision' }]);
    expect(unfit).toMatchObject([{ target: { model: 'a-1-0101' }, reason: 'no_vision' }]);
    expect(narrow('some', false)).toBe(resolveTargets('some', world));
    expect(narrow('c-1', true)).toBe(resolveTargets('c-1', world));
  });

  test.each(['none', 'a-1', 'a/a-1', 'a-1-0101'])('are refused where no target takes them: %s', (name) => {
    expect(() => narrow(name, true)).toThrow('takes none');
    expect(narrow(name, false)).toBe(resolveTargets(name, world));
  });
});
