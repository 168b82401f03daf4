import { expect, test } from 'bun:test';
import type { RouteTarget } from '../routing/routing-tables';
import { explainRoute } from './explain-route';

const target = (name: string): RouteTarget => ({ provider: name, model: 'm', weight: 1, priced: undefined });
const tried = (name: string, outcome: string, latencyMs = 5) => ({
  ...{ provider: name, model: 'm', outcome, startMs: 0, latencyMs },
});
const [a, b, c] = [target('a'), target('b'), target('c')];
const all = { targets: [a, b, c] as const, strategy: 'weighted' as const };

test.each([
  ['the first of three', all, [tried('a', 'ok')], 'a=weighted b=standby c=standby'],
  ['a warm one', { ...all, isWarm: true as const }, [tried('a', 'ok')], 'a=session_affinity b=standby c=standby'],
  ['the second, as the first failed', all, [tried('a', 'timeout'), tried('b', 'ok')], 'a=timeout b=failover c=standby'],
  [
    'two attempts at one',
    all,
    [tried('a', 'timeout'), tried('a', 'server_error'), tried('b', 'ok')],
    'a=server_error b=failover c=standby',
  ],
  [
    'the second, as the first was not asked',
    all,
    [tried('a', 'drained', 0), tried('b', 'ok')],
    'a=drained b=weighted c=standby',
  ],
  [
    'the only one that fits',
    { ...all, targets: [b] as const },
    [tried('a', 'context_window', 0), tried('b', 'ok')],
    'a=context_window b=weighted',
  ],
  [
    'one before others that do not fit',
    { ...all, targets: [a] as const, unfit: [{ target: b, reason: 'no_vision' as const }] },
    [tried('a', 'ok')],
    'a=weighted b=no_vision',
  ],
  ['nobody', all, [tried('a', 'timeout'), tried('b', 'auth'), tried('c', 'drained', 0)], 'a=timeout b=auth c=drained'],
  [
    'an open one asked as the last resort',
    all,
    [tried('a', 'breaker_open', 0), tried('b', 'timeout'), tried('c', 'auth'), tried('a', 'ok')],
    'b=timeout c=auth a=failover',
  ],
])('%s', (_name, route, attempts, expected) => {
  expect(
    explainRoute(route, attempts)
      ?.map(({ provider, reason }) => `${provider}=${reason}`)
      .join(' '),
  ).toBe(expected);
});

test('without a choice there is nothing to explain', () => {
  const sole = { ...all, targets: [a] as const };
  expect(explainRoute(sole, [tried('a', 'server_error'), tried('a', 'ok')])).toBeUndefined();
  expect(explainRoute(all, [])).toBeUndefined();
});
