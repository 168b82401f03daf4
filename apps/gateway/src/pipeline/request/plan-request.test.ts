import { describe, expect, test } from 'bun:test';
import { Held, Room } from '@llm0/core/async/room';
import type { ChatRequest } from '@llm0/core/chat/request';
import { GatewayError } from '@llm0/core/errors/gateway-error';
import type { ApiKey, Principal, Project } from '@llm0/core/keys/api-key';
import { compileBudgets } from '@llm0/core/limits/compile-budgets';
import { createPriceBook } from '@llm0/core/pricing/price-book';
import { createAliasBook } from '@llm0/core/routing/alias';
import { createRoutingTables, type RoutingTables } from '@llm0/core/routing/routing-tables';
import { targetKey } from '@llm0/core/routing/target';
import { KEY, PROJECT } from '../sample-principal.fixture';
import { planRequest } from './plan-request';

const project = { ...PROJECT, id: 'p1' };
const key = { ...KEY, id: 'k1', projectId: 'p1' };
const acme = { name: 'acme', place: 'cloud' as const, modelPatterns: [/^acme-/], liveModels: new Set<string>() };
const prices = createPriceBook(
  [{ provider: 'acme', model: 'acme-1', mode: 'chat', prices: { input: 1000, output: 2000 }, capabilities: [] }],
  new Set(),
);
const tables = createRoutingTables({ providers: new Map([['acme', acme]]), prices });
const base: ChatRequest = {
  model: 'acme-1',
  stream: false,
  messages: [{ role: 'user', content: [{ type: 'text', text: 'abcdef' }] }],
  extra: {},
};

interface Change {
  readonly project?: Partial<Project>;
  readonly key?: Partial<ApiKey>;
  readonly request?: Partial<ChatRequest>;
  readonly cache?: 'normal' | 'off' | 'refresh';
  readonly failover?: 'off';
  readonly tables?: RoutingTables;
}

function principalOf(change: Change): Principal {
  const principal = { key: { ...key, ...change.key }, project: { ...project, ...change.project } };
  const budgets = compileBudgets({ ...principal, labelBudgets: [] });
  return budgets === undefined ? principal : { ...principal, budgets };
}

const plan = (change: Change = {}) =>
  planRequest(
    { routing: () => change.tables ?? tables },
    {
      ctx: {
        ...{ requestId: 'r1', startMs: 0 },
        controls: { cache: change.cache ?? 'normal', dropParams: false, failover: change.failover },
        held: new Held(new Room()),
      },
      principal: principalOf(change),
      dialect: 'openai-chat',
      request: { ...base, ...change.request },
    },
  );
const refusal = (change: Change): string => {
  try {
    plan(change);
  } catch (error) {
    if (error instanceof GatewayError) return error.kind;
    throw error;
  }
  return 'planned';
};

describe('planRequest', () => {
  test('holds input and output at the price of the target; the lost part is the input', () => {
    const { admit } = plan();
    expect([admit.holdNanoUsd, admit.lostNanoUsd, admit.tokens]).toEqual([6 + 200, 6, 106]);
    expect(JSON.parse(admit.lostRecord)).toMatchObject({
      id: 'r1',
      projectId: 'p1',
      apiKeyId: 'k1',
      model: 'acme-1',
      provider: 'acme',
      costNanoUsd: 6,
      errorCode: 'gateway_lost',
      status: 'error',
      costEstimated: true,
    });
  });

  test('strict caps: bytes are tokens, the limit goes upstream, one attempt, all of the hold is at stake', () => {
    const strict = plan({ project: { strictCaps: true } });
    expect([strict.admit.holdNanoUsd, strict.admit.lostNanoUsd]).toEqual([10 + 200, 210]);
    expect([strict.outputLimit, strict.maxAttempts]).toEqual([100, 1]);
    expect(plan({ project: { strictCaps: true }, request: { maxOutputTokens: 5 } }).outputLimit).toBeUndefined();
    expect(plan().outputLimit).toBeUndefined();
  });

  test('strict caps refuse what has no bound', () => {
    const strict = { strictCaps: true };
    const image = { type: 'image', url: 'https://example.test/a.png' } as const;
    expect(refusal({ project: strict, request: { messages: [{ role: 'user', content: [image] }] } })).toBe(
      'request_over_limit',
    );
    const builtIn = { type: 'raw', format: 'openai-chat', value: { type: 'web_search' } } as const;
    expect(refusal({ project: strict, request: { tools: [builtIn] } })).toBe('request_over_limit');
    expect(refusal({ request: { tools: [builtIn] } })).toBe('planned');
  });

  test.each<[string, Change, string]>([
    ['no cap, no policy', {}, 'planned'],
    ['a project cap', { project: { monthlyCapNanoUsd: 1 } }, 'model_not_priced'],
    ['a key budget', { key: { budgetNanoUsd: 1 } }, 'model_not_priced'],
    ['a budget of a day', { key: { dailyBudgetNanoUsd: 1 } }, 'model_not_priced'],
    [
      'a cap, but unpriced allowed',
      { project: { monthlyCapNanoUsd: 1, unknownModelPolicy: 'allow_unpriced' } },
      'planned',
    ],
    ['no cap, but refused', { project: { unknownModelPolicy: 'refuse' } }, 'model_not_priced'],
    [
      'strict, whatever is allowed',
      { project: { strictCaps: true, unknownModelPolicy: 'allow_unpriced' } },
      'model_not_priced',
    ],
  ])('an unpriced model with %s', (_name, change, outcome) => {
    expect(refusal({ ...change, request: { model: 'acme-new' } })).toBe(outcome);
  });

  test.each<[readonly string[], string, string]>([
    [['acme-1'], 'acme-1', 'planned'],
    [['acme-1'], 'acme/acme-1', 'planned'],
    [['acme/acme-1'], 'acme-1', 'planned'],
    [['acme-*'], 'acme-1', 'planned'],
    [['acme-2'], 'acme-1', 'model_not_allowed'],
    [['other-*'], 'acme-1', 'model_not_allowed'],
  ])('allowed_models %p and %s: %s', (allowedModels, model, outcome) => {
    expect(refusal({ key: { allowedModels }, request: { model } })).toBe(outcome);
  });

  test.each<[readonly string[] | null, readonly (readonly string[])[], string]>([
    [null, [['acme-*']], 'planned'],
    [['acme-1'], [['acme-*'], ['other', 'acme/acme-1']], 'planned'],
    [null, [['acme-2']], 'model_not_allowed'],
    [['acme-1'], [['acme-*'], ['acme-2']], 'model_not_allowed'],
    [['acme-2'], [['acme-1']], 'model_not_allowed'],
  ])('allowed_models %p below %p: %s', (allowedModels, modelsAbove, outcome) => {
    expect(refusal({ key: { allowedModels, modelsAbove }, request: { model: 'acme-1' } })).toBe(outcome);
  });

  describe('a model with a chain', () => {
    const beta = { name: 'beta', place: 'cloud' as const, modelPatterns: [/^beta-/], liveModels: new Set<string>() };
    const row = (provider: string, model: string, output: number) => ({
      ...{ provider, model, mode: 'chat', prices: { input: 1000, output }, capabilities: [], contextWindow: 1000 },
    });
    const chained = createRoutingTables({
      providers: new Map([acme, beta].map((one) => [one.name, one])),
      prices: createPriceBook([row('acme', 'acme-1', 2000), row('beta', 'beta-1', 50_000)], new Set()),
      chains: [
        {
          name: 'c',
          localTier: null,
          steps: [
            { provider: 'acme', model: 'acme-1', matches: ['acme-1'] },
            { provider: 'beta', model: 'beta-1', matches: [] },
            { provider: 'beta', model: 'beta-unpriced', matches: [] },
          ],
        },
      ],
      aliases: createAliasBook(
        (['cheap', 'cheap-on'] as const).map((name) => ({
          ...{ name, projectId: 'p1', version: '1', strategy: 'cheapest' },
          failover: name === 'cheap' ? undefined : 'on',
          targets: ['beta/beta-1', 'acme/acme-1'].map((key) => ({
            ...{ provider: key.slice(0, 4), model: key.slice(5), weight: 1 },
          })),
        })),
      ),
    });
    const planned = (change: Change = {}) => plan({ ...change, tables: chained });
    const names = (change: Change = {}) => planned(change).route.targets.map(targetKey);

    test('holds the dearest target that may answer, and is limited by the name without its provider', () => {
      const { admit } = planned();
      expect([admit.holdNanoUsd, admit.model]).toEqual([6 + 5000, 'acme-1']);
      expect(planned({ request: { model: 'acme/acme-1' } }).admit).toMatchObject({
        model: 'acme-1',
        holdNanoUsd: 206,
      });
    });

    test('goes without steps that have no price where a cap applies', () => {
      expect(names()).toEqual(['acme/acme-1', 'beta/beta-1', 'beta/beta-unpriced']);
      expect(names({ key: { budgetNanoUsd: 1 } })).toEqual(['acme/acme-1', 'beta/beta-1']);
    });

    test('allowed_models, key, project and caller hold for stand-ins too', () => {
      const first = ['acme/acme-1'];
      expect(names({ key: { allowedModels: ['acme-1'] } })).toEqual(first);
      expect(names({ key: { allowedModels: ['acme-1', 'beta-1'] } })).toEqual([...first, 'beta/beta-1']);
      expect(names({ project: { failover: 'off' } })).toEqual(first);
      expect(names({ project: { failover: 'off' }, key: { failover: 'on' } })).toHaveLength(3);
      expect(names({ key: { failover: 'off' } })).toEqual(first);
      expect(names({ key: { failover: 'on' }, failover: 'off' })).toEqual(first);
      expect(planned({ failover: 'off' }).cacheKey).toBe(planned().cacheKey);
    });

    test('allowed_providers hold for every target: the rest fails over, and failover off refuses', () => {
      const betaOnly = { allowedProviders: ['beta'] };
      expect(names({ key: betaOnly })).toEqual(['beta/beta-1', 'beta/beta-unpriced']);
      const reasons = planned({ key: betaOnly }).route.passedOver?.map(({ reason }) => reason);
      expect(reasons).toEqual(['provider_not_allowed']);
      expect(names({ key: { allowedProviders: ['acme'] } })).toEqual(['acme/acme-1']);
      expect(() => names({ key: betaOnly, failover: 'off' })).toThrow(/"allowed_providers" of the key/);
      const providersAbove = [{ level: 'team', providers: ['acme'] }] as const;
      expect(() => names({ key: { ...betaOnly, providersAbove } })).toThrow(/"acme": "allowed_providers" of the key/);
      expect(names({ key: { providersAbove } })).toEqual(['acme/acme-1']);
    });

    test('counts the limit it sends under strict caps towards the context window', () => {
      const strict = { strictCaps: true, defaultOutputTokens: 1001 };
      expect(names({ project: { defaultOutputTokens: 1001 } })).toHaveLength(3);
      expect(() => names({ project: strict })).toThrow(/about 2 tokens of input and asks for up to 1001/);
    });

    test('an alias is ordered by its strategy, keyed and limited by its own name', () => {
      const { route, admit, cacheKey } = planned({ request: { model: 'cheap' } });
      expect(route.targets.map(targetKey)).toEqual(['acme/acme-1', 'beta/beta-1']);
      expect(admit.model).toBe('cheap');
      expect(cacheKey).not.toBe(planned().cacheKey);
    });

    test('an alias outdoes its project; without failover its strategy picks one target', () => {
      const asked = { request: { model: 'cheap' } };
      expect(names({ ...asked, failover: 'off' })).toEqual(['acme/acme-1']);
      expect(names({ ...asked, project: { failover: 'off' } })).toEqual(['acme/acme-1']);
      const on = { request: { model: 'cheap-on' }, project: { failover: 'off' as const } };
      expect(names(on)).toEqual(['acme/acme-1', 'beta/beta-1', 'beta/beta-unpriced']);
      expect(names({ ...on, key: { failover: 'off' } })).toEqual(['acme/acme-1']);
    });
  });

  test('cache keys: looked up normally, only written on refresh, none when off', () => {
    expect(plan().admit.cacheKey).toBe(plan().cacheKey);
    const refresh = plan({ cache: 'refresh' });
    expect([refresh.admit.cacheKey, refresh.cacheKey]).toEqual([undefined, plan().cacheKey]);
    expect(plan({ cache: 'off' }).cacheKey).toBeUndefined();
    expect(plan({ project: { cacheEnabled: false } }).cacheKey).toBeUndefined();
    expect(plan({ request: { model: 'acme/acme-1' } }).cacheKey).toBe(plan().cacheKey);
  });
});
