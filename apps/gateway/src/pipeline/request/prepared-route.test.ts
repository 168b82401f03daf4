// A kept prepared route must serve like one made from scratch, and never outlive a change.

import { afterAll, expect, test } from 'bun:test';
import type { JsonObject } from '@llm0/core/chat/json';
import type { ApiKey, Project } from '@llm0/core/keys/api-key';
import type { KnownPrincipal } from '@llm0/core/keys/key-cache';
import type { HotStore, Settlement } from '@llm0/core/limits/hot-store';
import { createPriceBook } from '@llm0/core/pricing/price-book';
import { type Alias, createAliasBook } from '@llm0/core/routing/alias';
import { FAILOVER_MODES } from '@llm0/core/routing/failover-mode';
import { createRoutingTables, type RoutingTables } from '@llm0/core/routing/routing-tables';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { anthropicMessages } from '../../dialects/anthropic-messages/index';
import type { Dialect } from '../../dialects/dialect';
import { openaiChat } from '../../dialects/openai-chat/index';
import { openaiCompletions } from '../../dialects/openai-completions/index';
import { openaiResponses } from '../../dialects/openai-responses/index';
import type { Services } from '../../services/contract';
import { handleChat } from '../chat/handle-chat';
import { openPipeline, type Script, SECRET, says } from '../open-pipeline.fixture';
import { preparedRoute } from './prepared-route';

const pipeline = await openPipeline();
afterAll(() => pipeline.close());

const MODELS = ['gpt-a', 'gpt-b', 'gpt-free', 'openai/gpt-a', 'team', 'many', 'gpt-none'];
const price = (model: string, input: number, contextWindow: number) => ({
  ...{ provider: 'openai', model, mode: 'chat' as const, capabilities: [], contextWindow, maxOutputTokens: 50 },
  prices: { input, output: 2 * input },
});
const target = (model: string) => ({ provider: 'openai', model, weight: 1 });
const alias = (name: string, ...models: string[]): Alias =>
  ({
    ...{ id: name, projectId: null, name, version: 1, strategy: 'priority', hedgeAfterMs: null, failover: null },
    targets: models.map(target),
  }) as unknown as Alias;

interface World {
  readonly mode: (typeof FAILOVER_MODES)[number];
  readonly inputPrice: number;
  readonly aliasFailover: 'on' | 'off' | null;
}

const tablesOf = ({ mode, inputPrice, aliasFailover }: World): RoutingTables =>
  createRoutingTables({
    ...{ mode, random: () => 0.5 },
    providers: new Map([
      ['openai', { name: 'openai', place: 'cloud' as const, modelPatterns: [/^gpt-/], liveModels: new Set<string>() }],
    ]),
    prices: createPriceBook([price('gpt-a', inputPrice, 100), price('gpt-b', 7000, 10_000)], new Set()),
    aliases: createAliasBook([
      { ...alias('team', 'gpt-b'), failover: aliasFailover },
      { ...alias('many', 'gpt-a', 'gpt-b'), failover: aliasFailover },
    ]),
  });

const maybe = <T>(...values: T[]) => fc.constantFrom<T | null>(null, ...values);
const worlds: fc.Arbitrary<World> = fc.record({
  mode: fc.constantFrom(...FAILOVER_MODES),
  inputPrice: fc.nat(9000),
  aliasFailover: maybe('on' as const, 'off' as const),
});
const access = fc.record({
  project: fc.record<Partial<Project>>({
    strictCaps: fc.boolean(),
    monthlyCapNanoUsd: maybe(1e12),
    unknownModelPolicy: maybe('refuse' as const, 'allow_unpriced' as const),
    dropParams: maybe(true, false),
    failover: maybe('on' as const, 'off' as const),
    cacheEnabled: fc.boolean(),
    defaultOutputTokens: fc.integer({ min: 1, max: 60 }),
    labels: maybe({ team: 'a' }),
  }),
  key: fc.record<Partial<ApiKey>>({
    allowedProviders: maybe(['openai'], ['anthropic']),
    allowedModels: maybe(['gpt-a'], ['gpt-*'], ['many', 'openai/gpt-b']),
    budgetNanoUsd: maybe(1e12),
    dropParams: maybe(true, false),
    failover: maybe('off' as const),
    labels: maybe({ team: 'b' }),
  }),
});
const DIALECTS: Readonly<Record<string, readonly [Dialect, (text: string, most: number | undefined) => JsonObject]>> = {
  chat: [openaiChat, (text, most) => ({ messages: [{ role: 'user', content: text }], max_tokens: most ?? null })],
  messages: [
    anthropicMessages,
    (text, most) => ({ messages: [{ role: 'user', content: text }], max_tokens: most ?? 9 }),
  ],
  responses: [openaiResponses, (text, most) => ({ input: text, max_output_tokens: most ?? null })],
  completions: [openaiCompletions, (text, most) => ({ prompt: text, max_tokens: most ?? null })],
};
const asked = fc.record({
  dialect: fc.constantFrom(...Object.keys(DIALECTS)),
  text: fc.string({ maxLength: 600 }),
  most: fc.option(fc.integer({ min: 1, max: 90 }), { nil: undefined }),
  stream: fc.boolean(),
  headers: fc.record(
    {
      'x-llm0-cache': fc.constantFrom('off', 'refresh'),
      'x-llm0-failover': fc.constant('off'),
      'x-llm0-drop-params': fc.constantFrom('true', 'false'),
      'x-customer-id': fc.constant('ann'),
      'x-llm0-team': fc.constant('c'),
      'x-request-id': fc.constant('mine "quoted"'),
    },
    { requiredKeys: [] },
  ),
});
type Asked = typeof asked extends fc.Arbitrary<infer T> ? T : never;

const principalOf = ({ project, key }: { project: Partial<Project>; key: Partial<ApiKey> }): KnownPrincipal => {
  const { stored } = pipeline.world;
  return { project: { ...stored.project, ...project }, key: { ...stored.key, ...key }, keyHash: 'hash' };
};

const streamed: Script = (_signal, model) => {
  const chunk = (delta: object, finish_reason: string | null, more: object) =>
    `data: ${JSON.stringify({ id: 'c', model, choices: [{ index: 0, delta, finish_reason }], ...more })}\n\n`;
  const usage = { prompt_tokens: 3, completion_tokens: 2 };
  const text = `${chunk({ content: 'hello' }, null, {})}${chunk({}, 'stop', { usage })}data: [DONE]\n\n`;
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
};

/** Everything that others see of a request. */
async function serve(principal: KnownPrincipal, tables: RoutingTables, model: string, one: Asked) {
  const seen: unknown[] = [];
  const state = { projectSpentNanoUsd: 0 };
  const hotStore = {
    findStale: async () => [],
    admit: async (asking: unknown) => {
      seen.push(asking);
      return { type: 'admitted', plan: 'requested', nowMs: 1000, hotTierIncomplete: false, state };
    },
    settle: (settlement: Settlement) => void seen.push(settlement),
  } as unknown as HotStore;
  const services: Services = {
    ...pipeline.services,
    ...{ hotStore, routing: () => tables, createId: () => '01939d3a-0000-7000-8000-000000000001' },
    clock: { nowMs: () => 1000, monotonicMs: () => 5 },
    storeClock: { nowMs: () => 1000, observe: () => {} } as unknown as Services['storeClock'],
    refusals: { mayFail: () => true, fold: () => false } as unknown as Services['refusals'],
    keyCache: { peek: () => principal } as unknown as Services['keyCache'],
  };
  pipeline.world.sent.length = 0;
  pipeline.world.scripts = [one.stream ? streamed : says('hello')];
  const [dialect, bodyOf] = DIALECTS[one.dialect] as (typeof DIALECTS)[string];
  const body = JSON.stringify({ model, stream: one.stream, ...bodyOf(one.text, one.most) });
  const headers = { ...one.headers, authorization: `Bearer ${SECRET}`, 'content-type': 'application/json' };
  const request = new Request('http://gateway.test/', { method: 'POST', headers, body });
  const answer = await handleChat(services, dialect, request);
  const text = await answer.text();
  return {
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    text,
    sent: [...pipeline.world.sent],
    seen,
  };
}

const plain: World = { mode: FAILOVER_MODES[0], inputPrice: 1, aliasFailover: null };
const said = (text: string): Asked => ({ ...{ dialect: 'chat', text, most: undefined, stream: false }, headers: {} });
type Access = typeof access extends fc.Arbitrary<infer T> ? T : never;
const own = (project: object, key: object) => ({ project, key }) as Access;
/** An answer, and each refusal: chance alone may leave one out. */
const EACH: [World, Access, string, Asked, Asked][] = [
  [plain, own({}, {}), 'gpt-a', said('x'), said('x')],
  [plain, own({}, {}), 'gpt-a', said('x'), said('x'.repeat(600))],
  [plain, own({}, { allowedModels: ['gpt-a'] }), 'gpt-b', said('x'), said('x')],
  [{ ...plain, mode: 'local_only' }, own({}, {}), 'gpt-a', said('x'), said('x')],
];

test('a kept route serves like one made from scratch', async () => {
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(worlds, access, fc.constantFrom(...MODELS), asked, asked, async (world, by, model, first, one) => {
      const [principal, tables] = [principalOf(by), tablesOf(world)];
      await serve(principal, tables, model, first);
      const kept = await serve(principal, tables, model, one);
      statuses.add(kept.status);
      expect(kept).toEqual(await serve(principalOf(by), tablesOf(world), model, one));
    }),
    { numRuns: runs(300), examples: EACH },
  );
  expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 403, 404]));
});

test('a changed key, project, price, alias or mode counts from the next request on', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, worlds, access, access, fc.constantFrom(...MODELS), asked, async (...given) => {
      const [world, changed, by, changedBy, model, one] = given;
      const [principal, tables] = [principalOf(by), tablesOf(world)];
      await serve(principal, tables, model, one);
      const [next, later] = [principalOf(changedBy), tablesOf(changed)];
      expect(await serve(next, tables, model, one)).toEqual(
        await serve(principalOf(changedBy), tablesOf(world), model, one),
      );
      expect(await serve(principal, later, model, one)).toEqual(
        await serve(principalOf(by), tablesOf(changed), model, one),
      );
    }),
    { numRuns: runs(100) },
  );
});

test('many keys with many models each take a bounded amount of memory', () => {
  const tables = tablesOf({ mode: 'cloud_first', inputPrice: 1, aliasFailover: null });
  const principals = Array.from({ length: 2000 }, () => principalOf({ project: {}, key: {} }));
  const pass = (round: number) => {
    for (let model = 0; model < 20; model++)
      for (const principal of principals) preparedRoute(principal, tables, { model: `gpt-${round}-${model}` });
    Bun.gc(true);
    return process.memoryUsage().heapUsed;
  };
  const before = pass(0);
  // Of 40,000 routes a round, 10,000 are kept.
  expect(Math.max(pass(1), pass(2)) - before).toBeLessThan(16e6);
});
