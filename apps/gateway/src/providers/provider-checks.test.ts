import { expect, test } from 'bun:test';
import type { UpstreamFailure } from '@llm0/core/errors/gateway-error';
import { checkedTarget } from '@llm0/core/routing/checked-provider';
import { SharedTargetHealth } from '@llm0/core/routing/shared-target-health';
import { noOtherProcess } from '@llm0/core/routing/target-health-store';
import type { ProbeOutcome } from '@llm0/providers/probe-provider';
import { upstreamFailure } from '@llm0/providers/transport/call-provider';
import { type CheckedProvider, ProviderChecks } from './provider-checks';

function createWorld() {
  let nowMs = 1000;
  const world = { providers: [{ name: 'a', intervalMs: 1000 }] as CheckedProvider[], asked: [] as string[] };
  const outcomes: string[] = [];
  const waiting = new Map<string, (outcome: ProbeOutcome | undefined) => void>();
  const health = new SharedTargetHealth({ store: noOtherProcess, monotonicMs: () => nowMs });
  const checks = new ProviderChecks({
    ...{ list: () => world.providers, health, monotonicMs: () => nowMs },
    test: (name) => {
      world.asked.push(name);
      return new Promise((resolve) => waiting.set(name, resolve));
    },
    onChecked: ({ provider, outcome }) => outcomes.push(`${provider} ${outcome}`),
  });
  const answer = async (name: string, failure?: UpstreamFailure) => {
    const error = failure && upstreamFailure(failure, name, 'said so.');
    waiting.get(name)?.({ check: 'models', latencyMs: 1, ...(error && { error }) });
    for (let i = 0; i < 20; i++) await Promise.resolve();
  };
  const advance = (ms: number) => {
    nowMs += ms;
    checks.run();
  };
  const isPaused = (name: string) => health.refuses(checkedTarget(name)) !== undefined;
  return { world, outcomes, answer, advance, isPaused };
}

test('each provider is asked once in its interval, and a slow one delays no other', async () => {
  const { world, advance, answer } = createWorld();
  world.providers.push({ name: 'slow', intervalMs: 1000 });
  advance(0);
  advance(999);
  expect(world.asked).toEqual(['a', 'slow']);
  await answer('a');
  advance(1);
  expect(world.asked).toEqual(['a', 'slow', 'a']);
  await answer('slow');
  advance(0);
  expect(world.asked).toEqual(['a', 'slow', 'a', 'slow']);
  await answer('a');
  await answer('slow');
  world.providers.length = 0;
  advance(5000);
  expect(world.asked).toHaveLength(4);
});

test.each<[UpstreamFailure, boolean]>([
  ['connection', true],
  ['server_error', true],
  ['auth', true],
  ['timeout', true],
  ['rate_limited', false],
  ['not_found', false],
  ['rejected', false],
])('%s pauses the provider: %p; a good answer lifts the pause', async (failure, pauses) => {
  const { outcomes, advance, answer, isPaused } = createWorld();
  advance(0);
  await answer('a', failure);
  expect([isPaused('a'), isPaused('b')]).toEqual([pauses, false]);
  advance(1000);
  await answer('a');
  expect([isPaused('a'), outcomes]).toEqual([false, [`a ${pauses ? 'failed' : 'unknown'}`, 'a ok']]);
});

test('a pause lasts over late checks, and ends by itself', async () => {
  const { advance, answer, isPaused, world } = createWorld();
  world.providers = [{ name: 'a', intervalMs: 60_000 }];
  advance(0);
  await answer('a', 'connection');
  world.providers = [];
  advance(149_000);
  expect(isPaused('a')).toBe(true);
  advance(2000);
  expect(isPaused('a')).toBe(false);
});
