import { describe, expect, test } from 'bun:test';
import { Held, Room } from '../async/room';
import type { EventBatch } from '../chat/event';
import type { ChatRequest } from '../chat/request';
import { ZERO_USAGE } from '../chat/usage';
import { GatewayError } from '../errors/gateway-error';
import { guessUsage, lastUsage } from '../pricing/guess-usage';
import type { Subscriber } from './flight';
import { FlightTable } from './flight-table';
import type { UpstreamResponse } from './upstream-response';

const REQUEST: ChatRequest = {
  model: 'm',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  stream: false,
  extra: {},
};

const text = (value: string): EventBatch => ({ events: [{ type: 'text', choice: 0, text: value }] });

/** An upstream whose batches are sent one by one by the test. */
function manualUpstream() {
  const waiting: ((result: IteratorResult<EventBatch>) => void)[] = [];
  const state = { cancelled: false, reads: 0, aborted: false };
  const batches: AsyncIterator<EventBatch> = {
    next: () => {
      state.reads += 1;
      return new Promise((resolve) => waiting.push(resolve));
    },
    return: async () => {
      state.cancelled = true;
      return { done: true, value: undefined };
    },
  };
  const answer: UpstreamResponse = {
    target: { provider: 'p', model: 'm' },
    attempts: [],
    wastedNanoUsd: 0,
    dropped: [],
    failoverCount: 0,
    firstWaitMs: 0,
    batches,
  };
  return {
    state,
    start: async (signal: AbortSignal) => {
      signal.addEventListener('abort', () => {
        state.aborted = true;
      });
      return answer;
    },
    send: async (batch: EventBatch | null) => {
      await Bun.sleep(1);
      const resolve = waiting.shift();
      if (resolve === undefined) throw new Error('nobody is reading');
      resolve(batch === null ? { done: true, value: undefined } : { done: false, value: batch });
      await Bun.sleep(1);
    },
  };
}

/** A place on the key's flight, which begins where there is none. */
function subscribe(
  table: FlightTable,
  key: string,
  start: (signal: AbortSignal) => Promise<UpstreamResponse>,
): Subscriber {
  const joined = table.join(key);
  if (joined !== undefined) return joined;
  const abort = new AbortController();
  const spent = (read: readonly EventBatch[]) => ({
    ...{ attempts: [], usage: ZERO_USAGE, isBilled: true },
    costNanoUsd: 100 + read.length,
  });
  return table.start(key, { abort, response: start(abort.signal), spent });
}

describe('flight', () => {
  test('followers read everything from the start and only the leader pays', async () => {
    const table = new FlightTable();
    const upstream = manualUpstream();
    let starts = 0;
    const start = (signal: AbortSignal) => {
      starts += 1;
      return upstream.start(signal);
    };
    const leader = subscribe(table, 'k', start);
    const first = leader.next();
    await upstream.send(text('a'));
    expect(await first).toEqual(text('a'));
    const follower = subscribe(table, 'k', start);
    expect([starts, leader.isFollower, follower.isFollower]).toEqual([1, false, true]);
    expect(await follower.next()).toEqual(text('a'));
    const ends = Promise.all([leader.next(), follower.next()]);
    await upstream.send(null);
    expect(await ends).toEqual([null, null]);
    expect([leader.pays(), follower.pays()]).toEqual([true, false]);
    expect(table.size).toBe(0);
  });

  test('when the leader leaves early the oldest follower pays', async () => {
    const table = new FlightTable();
    const upstream = manualUpstream();
    const leader = subscribe(table, 'k', upstream.start);
    const second = subscribe(table, 'k', upstream.start);
    const third = subscribe(table, 'k', upstream.start);
    expect(leader.pays()).toBe(false);
    leader.leave();
    const end = second.next();
    await upstream.send(null);
    expect(await end).toBeNull();
    expect([leader.pays(), second.pays(), third.pays()]).toEqual([false, true, false]);
    expect(upstream.state.cancelled).toBe(false);
  });

  test('the last one to leave cancels the upstream and pays for what came', async () => {
    const table = new FlightTable();
    const upstream = manualUpstream();
    const leader = subscribe(table, 'k', upstream.start);
    const follower = subscribe(table, 'k', upstream.start);
    await leader.flight.answer;
    leader.leave();
    expect(upstream.state.cancelled).toBe(false);
    follower.leave();
    expect([upstream.state.cancelled, upstream.state.aborted]).toEqual([true, true]);
    expect([leader.pays(), follower.pays()]).toEqual([false, true]);
    expect(table.size).toBe(0);
  });

  test('a failure reaches everybody, and the next request starts anew', async () => {
    const table = new FlightTable();
    let starts = 0;
    const failing = async (): Promise<UpstreamResponse> => {
      starts += 1;
      await Bun.sleep(2);
      throw new Error('down');
    };
    const leader = subscribe(table, 'k', failing);
    const follower = subscribe(table, 'k', failing);
    await expect(leader.flight.answer).rejects.toThrow('down');
    await expect(follower.next()).rejects.toThrow('down');
    expect([leader.pays(), follower.pays()]).toEqual([true, false]);
    const again = subscribe(table, 'k', failing);
    await expect(again.flight.answer).rejects.toThrow('down');
    expect(starts).toBe(2);
  });

  test('a payer that leaves after the end still pays', async () => {
    const table = new FlightTable();
    const upstream = manualUpstream();
    const leader = subscribe(table, 'k', upstream.start);
    const follower = subscribe(table, 'k', upstream.start);
    const end = follower.next();
    await upstream.send(null);
    await end;
    leader.leave();
    expect([leader.pays(), follower.pays()]).toEqual([true, false]);
  });

  test('the gateway reads no further than the fastest reader', async () => {
    const table = new FlightTable();
    const upstream = manualUpstream();
    const leader = subscribe(table, 'k', upstream.start);
    await leader.flight.answer;
    await Bun.sleep(5);
    expect(upstream.state.reads).toBe(0);
    leader.leave();
  });

  test('an answer that breaks off is told to whoever watches its target, once, and not when all have left', async () => {
    const told: unknown[] = [];
    const broken = new GatewayError('upstream_error', 'broke', { failure: 'connection' });
    const start = async (): Promise<UpstreamResponse> => ({
      ...{ target: { provider: 'p', model: 'm' }, attempts: [], wastedNanoUsd: 0, dropped: [], failoverCount: 0 },
      firstWaitMs: 0,
      batches: { next: () => Promise.reject(broken) },
      onBroken: (error) => told.push(error),
    });
    const table = new FlightTable();
    const subscribers = [subscribe(table, 'k', start), subscribe(table, 'k', start)];
    for (const subscriber of subscribers) await expect(subscriber.next()).rejects.toBe(broken);
    expect(told).toEqual([broken]);
  });

  test('a failure goes to all, the cost of its attempts to the payer alone', async () => {
    const attempt = { provider: 'p', model: 'm', failure: 'timeout', latencyMs: 5, costNanoUsd: 70 };
    const failure = new GatewayError('upstream_timeout', 'late', { failure: 'timeout', attempts: [attempt] });
    const start = () => Promise.reject(failure);
    const table = new FlightTable();
    const subscribers = [subscribe(table, 'k', start), subscribe(table, 'k', start)];
    const shares = [];
    for (const subscriber of subscribers) {
      await expect(subscriber.flight.answer).rejects.toBe(failure);
      shares.push(subscriber.shareOf(failure) as GatewayError);
    }
    expect(shares.map((share) => share.attempts?.map(({ costNanoUsd }) => costNanoUsd))).toEqual([[70], [undefined]]);
    expect(shares.map(({ kind, failure, message }) => [kind, failure, message])).toEqual([
      ['upstream_timeout', 'timeout', 'late'],
      ['upstream_timeout', 'timeout', 'late'],
    ]);
  });
});

const nothingSpent = () => ({ attempts: [], usage: ZERO_USAGE, isBilled: false, costNanoUsd: 0 });

describe('stored part of an answer', () => {
  const received = (subscriber: Subscriber) => subscriber.received();

  /** Reads so many batches of a megabyte of text each. */
  async function readMegabytes(count: number, key: string | undefined, table = new FlightTable(1024 * 1024)) {
    const upstream = manualUpstream();
    const abort = new AbortController();
    const leader = table.start(key, { abort, response: upstream.start(abort.signal), spent: nothingSpent });
    for (let i = 0; i < count; i++) {
      const next = leader.next();
      await upstream.send(text('x'.repeat(1024 * 1024)));
      await next;
    }
    return { leader, upstream, table };
  }

  test('without joining: keeps unread batches and the sum of the rest', async () => {
    const { leader } = await readMegabytes(3, undefined);
    expect(received(leader)).toEqual([
      { events: [], gone: { pieces: 3, outputBytes: 3 * 1024 * 1024, reasoningBytes: 0, ended: 0 } },
    ]);
    expect(guessUsage(REQUEST, received(leader)).outputTokens).toBe(
      guessUsage(REQUEST, Array(3).fill(text('x'.repeat(1024 * 1024)))).outputTokens,
    );
  });

  test("with joining: keeps all, up to the cache's limit", async () => {
    const { leader, table, upstream } = await readMegabytes(7, 'k');
    expect(received(leader)).toHaveLength(7);
    const follower = table.join('k') as Subscriber;
    for (let i = 0; i < 3; i++) {
      const next = leader.next();
      await upstream.send(text('x'.repeat(1024 * 1024)));
      await next;
    }
    expect([table.join('k'), table.size]).toEqual([undefined, 0]);
    let read = 0;
    for (; read < 10; read++) expect((await follower.next())?.events).toHaveLength(1);
    expect(received(follower)).toHaveLength(1);
    const ends = Promise.all([leader.next(), follower.next()]);
    await upstream.send(null);
    expect([await ends, leader.pays(), follower.pays()]).toEqual([[null, null], true, false]);
  });

  test('a reported usage is found again after its batch is gone', async () => {
    const upstream = manualUpstream();
    const abort = new AbortController();
    const leader = new FlightTable().start(undefined, {
      abort,
      response: upstream.start(abort.signal),
      spent: nothingSpent,
    });
    const usage = { ...ZERO_USAGE, inputTokens: 12 };
    for (const events of [[{ type: 'usage', usage }], [{ type: 'text', choice: 0, text: 'a' }]] as const) {
      const next = leader.next();
      await upstream.send({ events });
      await next;
    }
    expect(lastUsage(received(leader))).toEqual(usage);
  });
});

test('batches for late followers take room; without room nobody can join', async () => {
  for (const [maxBytes, mayJoin] of [
    [150_000, false],
    [300_000, true],
  ] as const) {
    const room = new Room({ maxBytes });
    // Alone, a request may hold what it likes.
    new Held(room).tryTake(1);
    const table = new FlightTable();
    const upstream = manualUpstream();
    const abort = new AbortController();
    const call = {
      response: upstream.start(abort.signal),
      spent: () => ({ attempts: [], costNanoUsd: 0, usage: ZERO_USAGE, isBilled: false }),
    };
    const subscriber = table.start('key', { ...call, abort, held: new Held(room) });
    for (let number = 0; number < 3; number++) {
      const reading = subscriber.next();
      await upstream.send(text('x'.repeat(70_000)));
      await reading;
    }
    expect(table.join('key') !== undefined).toBe(mayJoin);
    subscriber.leave();
  }
});

test('who is far behind the others loses its place, and its answer breaks off', async () => {
  const upstream = manualUpstream();
  const table = new FlightTable(1024);
  const call = () => ({ response: upstream.start(new AbortController().signal), ...rest() });
  const rest = () => ({ abort: new AbortController(), spent: () => ({}) as never });
  const slow = table.start('k', call());
  const fast = table.join('k') as Subscriber;
  await slow.flight.answer;
  for (let number = 0; number < 6; number++) {
    const reading = fast.next();
    await upstream.send(text('x'.repeat(1_000_000)));
    await reading;
  }
  await expect(Promise.resolve(slow.next())).rejects.toMatchObject({ kind: 'overloaded' });
  expect([slow.pays(), fast.pays(), fast.received().length]).toEqual([false, true, 1]);
  slow.leave();
  const ending = fast.next();
  await upstream.send(null);
  expect(await ending).toBeNull();
  expect(upstream.state.cancelled).toBe(false);
});
