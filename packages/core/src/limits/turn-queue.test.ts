import { describe, expect, test } from 'bun:test';
import { GatewayError } from '../errors/gateway-error';
import { createTurnClock } from './turn-clock.fixture';
import { type Turn, TurnQueue } from './turn-queue';

function createWorld() {
  const time = createTurnClock();
  const queue = new TurnQueue(time.clock);
  const called: string[] = [];
  const join = (name: string, more: { lane?: string; projectId?: string; untilMs?: number } = {}) => {
    const caller = new AbortController();
    const { lane = 'key', projectId = 'project', untilMs = 1000 } = more;
    const turn = queue.join(lane, { projectId, untilMs, signal: caller.signal });
    if (turn === undefined) return undefined;
    const wait = () =>
      turn.mine().then(
        () => called.push(name),
        (error: unknown) => called.push(`${name} ${error instanceof GatewayError ? error.kind : error}`),
      );
    return { turn, caller, wait };
  };
  const joined = (...given: Parameters<typeof join>) => {
    const one = join(...given);
    if (one === undefined) throw new Error('the queue is full');
    return one;
  };
  /** Asks as the first, and is refused for that long. */
  const refuse = (one: { readonly turn: Turn; readonly wait: () => Promise<unknown> }, forMs: number) => {
    one.turn.denied(forMs);
    void one.wait();
  };
  return { ...time, queue, called, join, joined, refuse };
}

describe('a queue for a limit', () => {
  test('calls one after the other, each when the refusal before it has ended', async () => {
    const { joined, refuse, advance, called, queue } = createWorld();
    const [a, b] = [joined('a'), joined('b')];
    refuse(a, 100);
    void b.wait();
    await advance(99);
    expect(called).toEqual([]);
    await advance(1);
    expect(called).toEqual(['a']);
    a.turn.leave(true);
    await advance(0);
    expect(called).toEqual(['a', 'b']);
    refuse(b, 50);
    await advance(50);
    expect(called).toEqual(['a', 'b', 'b']);
    b.turn.leave(true);
    expect([queue.size, queue.isBusy('key')]).toEqual([0, false]);
  });

  test('one that gives up leaves the time of its refusal to the next', async () => {
    const { joined, refuse, advance, called } = createWorld();
    const [a, b] = [joined('a', { untilMs: 40 }), joined('b')];
    refuse(a, 100);
    void b.wait();
    await advance(40);
    expect([called, a.turn.isOver]).toEqual([['a'], true]);
    a.turn.leave(false);
    await advance(59);
    expect(called).toEqual(['a']);
    await advance(1);
    expect(called).toEqual(['a', 'b']);
  });

  test('a place that becomes free calls the first early, also one that is just asking', async () => {
    const { joined, refuse, advance, called, queue } = createWorld();
    const a = joined('a');
    refuse(a, 1000);
    await advance(10);
    queue.freed('key');
    queue.freed('other');
    await advance(5);
    expect(called).toEqual(['a']);
    queue.freed('key');
    refuse(a, 900);
    await advance(5);
    expect(called).toEqual(['a', 'a']);
    refuse(a, 900);
    await advance(899);
    expect(called).toEqual(['a', 'a']);
  });

  test('a caller who leaves makes room at once, and nothing keeps running', async () => {
    const { joined, refuse, advance, called, queue, timers } = createWorld();
    const [a, b] = [joined('a'), joined('b')];
    refuse(a, 100);
    void b.wait();
    b.caller.abort();
    a.caller.abort();
    await advance(0);
    expect(called.toSorted()).toEqual(['a client_closed', 'b client_closed']);
    for (const { turn } of [a, b]) turn.leave(false);
    expect([queue.size, queue.isBusy('key'), timers.size]).toEqual([0, false, 0]);
    const late = joined('late');
    late.caller.abort();
    await late.wait();
    expect(called.at(-1)).toBe('late client_closed');
  });

  test('limits do not wait for each other, and a project has so many places', async () => {
    const { join, joined, refuse, advance, called } = createWorld();
    refuse(joined('slow'), 500);
    void joined('other', { lane: 'other' }).wait();
    await advance(0);
    expect(called).toEqual(['other']);
    for (let i = 2; i < 1000; i++) joined(`${i}`);
    expect([join('too many'), join('elsewhere', { projectId: 'second' }) === undefined]).toEqual([undefined, false]);
  });
});
