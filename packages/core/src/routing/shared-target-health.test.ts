import { afterEach, describe, expect, test } from 'bun:test';
import { BREAKER_SETTINGS } from './circuit-breaker';
import { SharedTargetHealth } from './shared-target-health';
import { targetKey } from './target';
import { HALF_OPEN_KEPT_MS, noOtherProcess, type TargetHealthStore } from './target-health-store';
import { MemoryTargetHealth } from './testing/memory-target-health';

const large = { provider: 'acme', model: 'large' };
const { minFailures, openMs } = BREAKER_SETTINGS;

/** Several processes on one store, and one clock for all. */
function createWorld() {
  const clock = { ms: 1_000_000 };
  const store = new MemoryTargetHealth(() => clock.ms);
  let isAway = false;
  const process = (owner: string) => {
    const own = store.open(owner);
    const guarded: TargetHealthStore = {
      exchange: (reports) => (isAway ? Promise.reject(new Error('away')) : own.exchange(reports)),
      close: () => {},
    };
    return new SharedTargetHealth({ store: guarded, monotonicMs: () => clock.ms, random: () => 0 });
  };
  return {
    clock,
    process,
    setAway: (away: boolean) => {
      isAway = away;
    },
  };
}

const now = ({ clock }: ReturnType<typeof createWorld>) => ({ startedMs: clock.ms });

function failOften(health: SharedTargetHealth, world: ReturnType<typeof createWorld>): void {
  for (let i = 0; i < minFailures; i++) health.failed(large, 'server_error', now(world));
}

describe('shared state of targets', () => {
  const started: SharedTargetHealth[] = [];
  afterEach(() => {
    for (const health of started.splice(0)) health.stop();
  });

  test('a breaker that opens in one process is open in the others at their next exchange', async () => {
    const world = createWorld();
    const [one, two] = [world.process('one'), world.process('two')];
    failOften(one, world);
    expect([one.isOpen(large), two.isOpen(large)]).toEqual([true, false]);
    await one.exchange();
    await two.exchange();
    expect([one.refuses(large), two.refuses(large)]).toEqual(['breaker_open', 'breaker_open']);
    expect(two.list()).toEqual([{ ...large, mode: 'open', openForMs: openMs, downForMs: 0, coolForMs: 0 }]);
  });

  test('all processes retry a restored target, and open requests do not close it again', async () => {
    const world = createWorld();
    const [one, two] = [world.process('one'), world.process('two')];
    const [began, small] = [now(world), { provider: 'acme', model: 'small' }];
    world.clock.ms += 1;
    failOften(one, world);
    one.failed(small, 'server_error', { ...now(world), retryAfterMs: 86_400_000 });
    one.failed({ provider: 'other', model: 'm' }, 'server_error', { ...now(world), retryAfterMs: 60_000 });
    await one.exchange();
    const fresh = world.process('fresh');
    await fresh.restore('acme');
    for (const health of [one, two, fresh]) {
      await health.exchange();
      expect([health.refuses(large), health.refuses(small)]).toEqual([undefined, undefined]);
      expect(health.refuses({ provider: 'other', model: 'm' })).toBe('cooling_down');
    }
    await one.restore('acme');
    one.failed(small, 'server_error', { ...began, retryAfterMs: 60_000 });
    expect(one.refuses(small)).toBeUndefined();
    one.failed(small, 'server_error', { ...now(world), retryAfterMs: 60_000 });
    expect(one.refuses(small)).toBe('cooling_down');
    world.setAway(true);
    await one.restore('acme');
    expect(one.refuses(small)).toBeUndefined();
    world.setAway(false);
    for (const health of [one, two]) await health.exchange();
    expect(two.refuses(small)).toBeUndefined();
  });

  test('half-open: one request of one process probes; its success closes the breaker for all', async () => {
    const world = createWorld();
    const [one, two] = [world.process('one'), world.process('two')];
    failOften(one, world);
    await one.exchange();
    await two.exchange();
    world.clock.ms += openMs;
    expect([one.refuses(large), two.refuses(large)]).toEqual(['breaker_open', 'breaker_open']);
    await two.exchange();
    await one.exchange();
    expect([two.refuses(large), two.refuses(large), one.refuses(large)]).toEqual([
      undefined,
      'breaker_open',
      'breaker_open',
    ]);
    two.succeeded(large, now(world));
    await two.exchange();
    await one.exchange();
    expect([one.refuses(large), two.refuses(large)]).toEqual([undefined, undefined]);
    expect(one.list()).toMatchObject([{ mode: 'closed' }]);
  });

  test('a probe that fails opens it for longer; one that nobody finished may be repeated', async () => {
    const world = createWorld();
    const one = world.process('one');
    failOften(one, world);
    world.clock.ms += openMs;
    one.refuses(large);
    await one.exchange();
    expect(one.refuses(large)).toBeUndefined();
    one.abandoned(large);
    expect(one.refuses(large)).toBeUndefined();
    await one.exchange();
    one.failed(large, 'timeout', now(world));
    await one.exchange();
    expect(one.list()).toMatchObject([{ mode: 'open', openForMs: 2 * openMs }]);
  });

  test('429: rests as long as the vendor says, else a little and then longer; the breaker stays closed', async () => {
    const world = createWorld();
    const [one, two] = [world.process('one'), world.process('two')];
    one.failed(large, 'rate_limited', { ...now(world), retryAfterMs: 7000 });
    await one.exchange();
    await two.exchange();
    expect([one.refuses(large), two.refuses(large)]).toEqual(['cooling_down', 'cooling_down']);
    world.clock.ms += 7000;
    expect([one.refuses(large), two.refuses(large)]).toEqual([undefined, undefined]);
    const rests: number[] = [];
    for (let i = 0; i < 3; i++) {
      one.failed(large, 'rate_limited', now(world));
      const restMs = one.list()[0]?.coolForMs ?? 0;
      rests.push(restMs);
      world.clock.ms += restMs;
    }
    expect(rests).toEqual([500, 1000, 2000]);
  });

  test.each(['rejected', 'not_found', 'rate_limited'] as const)('%s never opens a breaker', (failure) => {
    const world = createWorld();
    const one = world.process('one');
    for (let i = 0; i < 100; i++) one.failed(large, failure, now(world));
    expect(one.list().filter(({ mode }) => mode !== 'closed')).toEqual([]);
  });

  test("what a vendor says of one project's own keys concerns no other project", () => {
    const world = createWorld();
    const one = world.process('one');
    const projectId = crypto.randomUUID();
    for (let i = 0; i < minFailures; i++) one.failed(large, 'auth', { ...now(world), ownKeysOf: projectId });
    expect([one.refuses(large, projectId), one.refuses(large, crypto.randomUUID()), one.isOpen(large)]).toEqual([
      'breaker_open',
      undefined,
      false,
    ]);
    expect(one.list()).toEqual([]);
  });

  test('without the store each goes by what it sees, probes by itself, and tells the others later', async () => {
    const world = createWorld();
    const [one, two] = [world.process('one'), world.process('two')];
    world.setAway(true);
    failOften(one, world);
    await one.exchange();
    expect(one.refuses(large)).toBe('breaker_open');
    world.clock.ms += openMs;
    // The first that comes is the probe, and nobody is asked whether it may.
    expect([one.refuses(large), one.refuses(large)]).toEqual([undefined, 'breaker_open']);
    one.failed(large, 'connection', now(world));
    await one.exchange();
    world.setAway(false);
    await one.exchange();
    await two.exchange();
    expect(two.list()).toMatchObject([{ mode: 'open' }]);
  });

  test('a waiting request gets the probe before the next one', async () => {
    const world = createWorld();
    const [one, two] = [world.process('one'), world.process('two')];
    failOften(one, world);
    await one.exchange();
    await two.exchange();
    expect(two.refuses(large)).toBe('breaker_open');
    world.clock.ms += openMs;
    await two.exchange();
    expect([two.refuses(large), one.refuses(large)]).toEqual([undefined, 'breaker_open']);
  });

  test('changes are told at once, not at the next tick only', async () => {
    const world = createWorld();
    const [one, two] = [world.process('one'), world.process('two')];
    started.push(one, two);
    one.start();
    await Bun.sleep(5);
    failOften(one, world);
    await Bun.sleep(60);
    await two.exchange();
    expect(two.isOpen(large)).toBe(true);
  });

  test('latency is smoothed, and forgotten after a while', () => {
    const world = createWorld();
    const one = world.process('one');
    expect(one.latencyMs(large)).toBeUndefined();
    one.succeeded(large, { startedMs: world.clock.ms - 100 });
    expect(one.latencyMs(large)).toBe(100);
    one.succeeded(large, { startedMs: world.clock.ms - 200 });
    expect(one.latencyMs(large)).toBe(120);
    world.clock.ms += 300_001;
    expect(one.latencyMs(large)).toBeUndefined();
  });

  test('any number of model names is remembered only so far, and those in trouble longest', () => {
    const world = createWorld();
    const one = world.process('one');
    failOften(one, world);
    for (let i = 0; i < 20_000; i++) one.succeeded({ provider: 'acme', model: `m${i}` }, now(world));
    expect(one.isOpen(large)).toBe(true);
    expect(one.latencyMs({ provider: 'acme', model: 'm19999' })).toBe(0);
    expect(one.latencyMs({ provider: 'acme', model: 'm0' })).toBeUndefined();
    expect(targetKey(large)).toBe('acme/large');
  });

  test('a process without others probes by itself, and forgets a half-open target nobody asks for', async () => {
    const clock = { ms: 1_000_000 };
    const alone = new SharedTargetHealth({ store: noOtherProcess, monotonicMs: () => clock.ms, random: () => 0 });
    const mark = () => ({ startedMs: clock.ms });
    for (let i = 0; i < minFailures; i++) alone.failed(large, 'server_error', mark());
    await alone.exchange();
    expect(alone.refuses(large)).toBe('breaker_open');
    clock.ms += openMs;
    expect([alone.refuses(large), alone.refuses(large)]).toEqual([undefined, 'breaker_open']);
    alone.failed(large, 'server_error', mark());
    clock.ms += 2 * openMs + HALF_OPEN_KEPT_MS;
    expect(alone.list()).toMatchObject([{ mode: 'half_open' }]);
    await alone.exchange();
    expect(alone.list()).toMatchObject([{ mode: 'closed' }]);
    expect(alone.refuses(large)).toBeUndefined();
  });
});
