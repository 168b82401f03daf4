import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { UpstreamFailure } from '../errors/gateway-error';
import { AttemptPlan, type AttemptStep, MIN_ATTEMPT_MS } from './attempt-plan';
import { type Target, targetKey } from './target';
import type { SkipReason } from './target-health';

const target = (model: string): Target => ({ provider: 'p', model });
const [a, b, c] = [target('a'), target('b'), target('c')];

interface World {
  targets?: readonly Target[];
  requestTimeoutMs?: number;
  closed?: Partial<Record<string, SkipReason>>;
}

const planOf = ({ targets = [a, b, c], requestTimeoutMs = 30_000, closed = {} }: World = {}) =>
  new AttemptPlan(
    {
      targets,
      timeoutMsOf: () => requestTimeoutMs,
      refuses: ({ model }) => closed[model],
      random: () => 0.5,
    },
    0,
  );

/** Lets every attempt fail in the same way; gives the models asked. */
function failAll(plan: AttemptPlan<Target>, failure: UpstreamFailure, retryAfterMs?: number): string[] {
  const asked: string[] = [];
  for (let step = plan.next(0); step !== undefined; step = plan.next(0)) {
    asked.push(step.target.model);
    if (!plan.failed(step.target, failure, retryAfterMs)) break;
  }
  return asked;
}

describe('which target is asked when', () => {
  test.each<[UpstreamFailure, string[]]>([
    ['connection', ['a', 'a', 'b', 'b', 'c', 'c']],
    ['server_error', ['a', 'a', 'b', 'b', 'c', 'c']],
    ['rate_limited', ['a', 'b', 'c']],
    ['auth', ['a', 'b', 'c']],
    ['not_found', ['a', 'b', 'c']],
    ['timeout', ['a', 'b', 'c']],
    ['malformed', ['a', 'b', 'c']],
    ['truncated', ['a', 'b', 'c']],
    ['rejected', ['a']],
  ])('%s', (failure, expected) => {
    expect(failAll(planOf(), failure)).toEqual(expected);
  });

  test('a second attempt waits a little, and at least as long as the vendor asks for', () => {
    const plan = planOf();
    plan.failed(plan.next(0)?.target ?? a, 'server_error');
    expect(plan.next(0)?.waitMs).toBe(150);
    const asked = planOf();
    asked.failed(asked.next(0)?.target ?? a, 'server_error', 1200);
    expect(asked.next(0)).toMatchObject({ target: a, waitMs: 1200 });
  });

  test('a vendor that wants a long pause gets it: the next target is asked', () => {
    expect(failAll(planOf(), 'server_error', 10_000)).toEqual(['a', 'b', 'c']);
  });

  test('open and cooling targets come last, once, and the log names them as skipped', () => {
    const plan = planOf({ closed: { a: 'breaker_open', b: 'cooling_down' } });
    const first = plan.next(0);
    expect(first?.target).toBe(c);
    expect(first?.passedOver.map(({ target, reason }) => [target.model, reason])).toEqual([
      ['a', 'breaker_open'],
      ['b', 'cooling_down'],
    ]);
    plan.failed(c, 'timeout');
    expect(failAll(plan, 'connection')).toEqual(['a', 'b']);
  });

  test('a drained target is never asked, not even as the last resort, and always named', () => {
    const drained = { a: 'drained', b: 'breaker_open', c: 'drained' } as const;
    const plan = planOf({ closed: drained });
    const step = plan.next(0);
    expect(step?.target).toBe(b);
    expect(step?.passedOver.map(({ target, reason }) => `${target.model} ${reason}`)).toEqual([
      'a drained',
      'c drained',
    ]);
    plan.failed(b, 'server_error');
    expect([plan.next(0), plan.takeSkipped()]).toEqual([undefined, []]);
    const alone = planOf({ targets: [a], closed: drained });
    expect(alone.next(0)).toBeUndefined();
    expect(alone.takeSkipped()).toEqual([{ target: a, reason: 'drained' }]);
  });

  test('a hedge that stays at its target leaves the skipped ones to the next step', () => {
    const plan = planOf({ targets: [a, b], closed: { b: 'drained' } });
    plan.next(0);
    expect(plan.nextHedge(0)).toMatchObject({ target: a, passedOver: [] });
    expect(plan.takeSkipped()).toHaveLength(1);
  });

  test('all open: asked all the same, in their order, and none of them counts as passed over', () => {
    const plan = planOf({ closed: { a: 'breaker_open', b: 'breaker_open', c: 'breaker_open' } });
    const steps: AttemptStep<Target>[] = [];
    for (let step = plan.next(0); step !== undefined; step = plan.next(0)) {
      steps.push(step);
      plan.failed(step.target, 'server_error');
    }
    expect(steps.map((step) => step.target.model)).toEqual(['a', 'b', 'c']);
    expect(steps.flatMap((step) => step.passedOver)).toEqual([]);
  });

  test('a hedge goes to the next target that may be asked, else to the same one again', () => {
    const plan = planOf({ closed: { b: 'cooling_down' } });
    plan.next(0);
    expect(plan.nextHedge(0)?.target).toBe(c);
    const alone = planOf({ targets: [a] });
    alone.next(0);
    expect(alone.nextHedge(0)?.target).toBe(a);
    expect(alone.nextHedge(0)).toBeUndefined();
  });

  test('30 s and four targets that hang: 30, 20, 5 and 5 seconds', () => {
    const plan = planOf({ targets: [a, b, c, target('d')] });
    const times: number[] = [];
    let nowMs = 0;
    for (let step = plan.next(nowMs); step !== undefined; step = plan.next(nowMs)) {
      times.push(step.timeoutMs);
      nowMs += step.timeoutMs;
      plan.failed(step.target, 'timeout');
    }
    expect(times).toEqual([30_000, 20_000, 5_000, 5_000]);
  });

  test('a target has its own time-out, and the longest of them bounds them all', () => {
    const own: Record<string, number> = { a: 300, b: 40_000 };
    const plan = new AttemptPlan(
      {
        ...{ targets: [a, b], refuses: () => undefined, random: () => 0.5 },
        timeoutMsOf: ({ model }) => own[model] ?? 0,
      },
      0,
    );
    expect(plan.next(0)?.timeoutMs).toBe(300);
    plan.failed(a, 'timeout');
    expect(plan.next(79_000)?.timeoutMs).toBe(1000);
  });

  test('the time law: every target is asked, twice at most, within 2 × the time-out (or a second for each target)', () => {
    const failures = [
      'connection',
      'server_error',
      'rate_limited',
      'auth',
      'not_found',
      'timeout',
      'malformed',
    ] as const;
    fc.assert(
      fc.property(
        fc.record({
          count: fc.integer({ min: 1, max: 8 }),
          requestTimeoutMs: fc.integer({ min: 100, max: 60_000 }),
          open: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
          failures: fc.array(
            fc.record({
              failure: fc.constantFrom(...failures),
              part: fc.double({ min: 0, max: 1, noNaN: true }),
              retryAfterMs: fc.option(fc.integer({ min: 0, max: 5000 }), { nil: undefined }),
            }),
            { minLength: 16, maxLength: 16 },
          ),
        }),
        (world) => {
          const targets = Array.from({ length: world.count }, (_, i) => target(`m${i}`));
          const closed = Object.fromEntries(
            targets.flatMap(({ model }, i) => (world.open[i] ? [[model, 'breaker_open' as const]] : [])),
          );
          const plan = planOf({ targets, requestTimeoutMs: world.requestTimeoutMs, closed });
          const asked = new Map<string, number>();
          const leastMs = Math.min(MIN_ATTEMPT_MS, world.requestTimeoutMs);
          let nowMs = 0;
          for (const { failure, part, retryAfterMs } of world.failures) {
            const step = plan.next(nowMs);
            if (step === undefined) break;
            const key = targetKey(step.target);
            asked.set(key, (asked.get(key) ?? 0) + 1);
            // Only a second attempt may have less.
            expect(step.timeoutMs).toBeGreaterThanOrEqual(asked.get(key) === 1 ? leastMs : Math.min(leastMs, 250));
            expect(step.timeoutMs).toBeLessThanOrEqual(world.requestTimeoutMs);
            nowMs += step.waitMs + step.timeoutMs * (failure === 'timeout' ? 1 : part);
            plan.failed(step.target, failure, retryAfterMs);
          }
          expect(plan.next(nowMs)).toBeUndefined();
          expect(asked.size).toBe(world.count);
          expect(Math.max(...asked.values())).toBeLessThanOrEqual(2);
          const mostMs = Math.max(2 * world.requestTimeoutMs, world.count * MIN_ATTEMPT_MS);
          expect(nowMs).toBeLessThanOrEqual(mostMs + 1e-6);
        },
      ),
    );
  });
});
