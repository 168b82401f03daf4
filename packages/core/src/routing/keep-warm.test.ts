import { describe, expect, test } from 'bun:test';
import type { ChatMessage } from '../chat/request';
import { keepWarm } from './keep-warm';
import type { Route } from './routing-tables';
import { SessionAffinity, WARM_MS } from './session-affinity';
import { noTargetHealth, type TargetHealth } from './target-health';

const says = (role: 'system' | 'user' | 'assistant', text: string): ChatMessage => ({
  role,
  content: [{ type: 'text', text }],
});
const target = (provider: string) => ({ provider, model: 'm', weight: 1, priced: undefined });
const A = target('a');
const B = target('b');
const route = (strategy: Route['strategy'], targets: Route['targets'] = [A, B]): Route => ({
  ...{
    scope: 'alias smart',
    requested: A,
    targets,
    isPinned: false,
    limitName: 'smart',
    alias: 'smart',
    strategy,
    keepsConversations: true,
  },
  ...{
    isPriced: true,
    takesImages: true,
    contextWindow: Number.POSITIVE_INFINITY,
    maxOutputTokens: Number.POSITIVE_INFINITY,
  },
});

function open(health: TargetHealth = noTargetHealth) {
  const world = { nowMs: 1000, told: [] as string[] };
  const warmTargets = new SessionAffinity({ monotonicMs: () => world.nowMs, tell: (news) => world.told.push(news) });
  const tables = { warmTargets, health };
  const plan = (given: Route, messages: readonly ChatMessage[], session?: string, projectId = 'p') =>
    keepWarm(given, { projectId, session, request: { messages } }, tables);
  /** One turn that this target answers. */
  const answer = (given: Route, messages: readonly ChatMessage[], by: typeof A, session?: string) => {
    const { session: name } = plan(given, messages, session);
    if (name !== undefined) warmTargets.note(name, by);
  };
  return { world, warmTargets, plan, answer };
}

const START = [says('system', 'Be brief.'), says('user', 'Hello')];
const NEXT = [...START, says('assistant', 'Hi'), says('user', 'And then?')];
const first = ({ targets: [{ provider }] }: Route) => provider;

describe.each(['weighted', 'least_latency', 'cheapest'] as const)('%s', (strategy) => {
  test('a conversation stays where it was answered, others go where the strategy says', () => {
    const { plan, answer } = open();
    answer(route(strategy), START, B);
    expect(first(plan(route(strategy), NEXT))).toBe('b');
    expect(plan(route(strategy), NEXT).targets.map(({ provider }) => provider)).toEqual(['b', 'a']);
    const other = [says('system', 'Be brief.'), says('user', 'Another'), says('assistant', 'x'), says('user', 'y')];
    expect(first(plan(route(strategy), other))).toBe('a');
  });

  test('prefixes count as spread, however often they occur', () => {
    const { plan, answer } = open();
    answer(route(strategy), START, B);
    expect(first(plan(route(strategy), START))).toBe('a');
  });

  test('a session by name stays from its first request on', () => {
    const { plan, answer } = open();
    answer(route(strategy), START, B, 'mine');
    expect(first(plan(route(strategy), [says('user', 'Something else')], 'mine'))).toBe('b');
    expect(first(plan(route(strategy), START, 'another'))).toBe('a');
  });
});

test('projects and aliases do not share sessions', () => {
  const { plan, answer } = open();
  answer(route('weighted'), START, B, 'mine');
  expect(first(plan(route('weighted'), START, 'mine', 'q'))).toBe('a');
  expect(first(plan({ ...route('weighted'), scope: 'alias other' }, START, 'mine'))).toBe('a');
});

test('after a failover the conversation stays, and its row says who was passed over', () => {
  const { plan, answer } = open();
  answer(route('priority'), START, B);
  const kept = plan(route('priority'), NEXT);
  expect(first(kept)).toBe('b');
  expect(kept.passedOver).toEqual([{ target: A, reason: 'session_affinity' }]);
  answer(route('priority'), NEXT, A);
  expect(plan(route('priority'), NEXT).passedOver).toBeUndefined();
});

test('not with a target that is in trouble, or not allowed any more', () => {
  const { plan, answer } = open({ ...noTargetHealth, isOpen: ({ provider }) => provider === 'b' });
  answer(route('weighted'), START, B);
  expect(first(plan(route('weighted'), NEXT))).toBe('a');
  const well = open();
  well.answer(route('weighted'), START, B);
  const C = target('c');
  expect(first(well.plan(route('weighted', [A, C]), NEXT))).toBe('a');
});

test('nor once its cache has gone cold', () => {
  const { world, plan, answer } = open();
  answer(route('weighted'), START, B);
  world.nowMs += WARM_MS - 1;
  expect(first(plan(route('weighted'), NEXT))).toBe('b');
  world.nowMs += 2;
  expect(first(plan(route('weighted'), NEXT))).toBe('a');
});

test('fallback answers are never cached', () => {
  const { plan } = open();
  for (const given of [{ ...route('weighted'), keepsConversations: undefined }, route('weighted', [A])]) {
    expect(plan(given, NEXT, 'mine')).toBe(given);
  }
});

test('text without a prefix is unchanged', () => {
  const { plan } = open();
  const given = route('weighted');
  expect(plan(given, [says('assistant', 'x')])).toBe(given);
});

test('a long beginning is told apart by its first part, in bounded time', () => {
  const { plan } = open();
  const long = (end: string) => [says('user', `${'x'.repeat(5_000_000)}${end}`)];
  expect(plan(route('weighted'), long('a')).session).toBe(plan(route('weighted'), long('b')).session as string);
});

describe('messages between processes', () => {
  test('is heard, told in one go, and not again before it is due', async () => {
    const { world, warmTargets } = open();
    const there = open();
    warmTargets.note('one', A);
    warmTargets.note('one', A);
    warmTargets.note('two', B);
    await Bun.sleep(600);
    expect(world.told).toHaveLength(1);
    for (const news of world.told) there.warmTargets.hear(news);
    expect(there.warmTargets.find('one')).toEqual({ provider: 'a', model: 'm' });
    expect(there.warmTargets.find('two')).toEqual({ provider: 'b', model: 'm' });
    expect(there.world.told).toEqual([]);
    warmTargets.stop();
  });

  test.each(['', 'x', '{}', '[1]', '[["a","b"]]', '[["a","b",1]]', `[["a","b","${'x'.repeat(600)}"]]`])(
    'is nothing where it is odd: %s',
    (news) => {
      const { warmTargets } = open();
      warmTargets.hear(news);
      expect(warmTargets.size).toBe(0);
    },
  );

  test('is bounded, and so is what is remembered', async () => {
    const { world, warmTargets } = open();
    for (let i = 0; i < 60_000; i++) warmTargets.note(String(i), A);
    expect(warmTargets.size).toBe(50_000);
    await Bun.sleep(600);
    expect((JSON.parse(world.told[0] ?? '[]') as unknown[]).length).toBe(500);
    warmTargets.stop();
  });
});
