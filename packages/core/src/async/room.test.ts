import { describe, expect, test } from 'bun:test';
import { Held, Room } from './room';

const open = (bounds: ConstructorParameters<typeof Room>[0]) => {
  const room = new Room({ maxWaitMs: 30, ...bounds });
  const holder = (key?: string) => {
    const held = new Held(room);
    held.key = key;
    return held;
  };
  return { holder };
};
const failureOf = async (waiting: Promise<void> | undefined) => waiting?.catch((error: unknown) => error);

describe('room for what is held whole', () => {
  test('is waited for in order, and refused where it takes too long', async () => {
    const { holder } = open({ maxBytes: 100 });
    const [first, second, third] = [holder(), holder(), holder()];
    expect(first.take(60)).toBeUndefined();
    const order: string[] = [];
    const waiting = second.take(90)?.then(() => order.push('second'));
    // There is room for it, but whoever came first would never get any.
    const refused = third.take(10)?.then(() => order.push('third'));
    first.end();
    await Promise.all([waiting, refused]);
    expect(order).toEqual(['second', 'third']);
    expect(await failureOf(holder().take(50))).toMatchObject({ kind: 'overloaded', param: 'body', retryAfterMs: 1000 });
  });

  test('a request that is alone holds what it needs', () => {
    const { holder } = open({ maxBytes: 100 });
    const held = holder();
    expect(held.take(500)).toBeUndefined();
    expect(held.take(500)).toBeUndefined();
  });

  test('of one key has a share, so other keys pass its waiting requests', async () => {
    const { holder } = open({ maxBytes: 100, maxBytesOfKey: 50 });
    const [first, second] = [holder('a'), holder('a')];
    expect(first.take(40)).toBeUndefined();
    const waiting = second.take(20);
    expect(waiting).toBeInstanceOf(Promise);
    const other = holder('b');
    expect(other.take(50)).toBeUndefined();
    first.end();
    await waiting;
    expect([second.bytes, other.bytes]).toEqual([20, 50]);
  });

  test('requests that grow together end one after the other, and none of them waits for ever', async () => {
    const { holder } = open({ maxBytes: 100 });
    const ended: number[] = [];
    const grow = async (number: number) => {
      const held = holder();
      for (let step = 0; step < 10; step++) {
        await held.take(10);
        await Promise.resolve();
      }
      ended.push(number);
      held.end();
    };
    await Promise.all(Array.from({ length: 20 }, (_, number) => grow(number)));
    expect(ended).toHaveLength(20);
  });

  test('is refused at once to an answer that floods this process, where as many of its key or of all do so already', () => {
    const { holder } = open({ maxFloods: 5, maxFloodsOfKey: 3 });
    const flooding = Array.from({ length: 3 }, () => holder('a'));
    for (const held of flooding) held.takeFlood();
    flooding[0]?.takeFlood();
    expect(() => holder('a').takeFlood()).toThrow('no memory left');
    for (let number = 0; number < 2; number++) holder('b').takeFlood();
    expect(() => holder('c').takeFlood()).toThrow('no memory left');
    flooding[0]?.endFlood();
    flooding[0]?.end();
    flooding[1]?.end();
    for (let number = 0; number < 2; number++) holder('a').takeFlood();
    expect(() => holder('c').takeFlood()).toThrow('no memory left');
  });

  test('is waited for by no more answers than may flood, as the rest of them comes meanwhile', async () => {
    const { holder } = open({ maxBytes: 1000, maxBytesOfKey: 1000, maxFloodsOfKey: 2 });
    expect(holder('a').tryTake(990)).toBe(true);
    const [first, second, third] = [holder('a'), holder('a'), holder('a')];
    const waiting = [first, second].map((held) => failureOf(held.takeAnswer(100)));
    expect(() => third.takeAnswer(100)).toThrow('no memory left');
    expect(await Promise.all(waiting)).toMatchObject([{ kind: 'overloaded' }, { kind: 'overloaded' }]);
  });

  test('who held more than the bounds lets the next one go on as soon as it keeps less', async () => {
    const { holder } = open({ maxBytes: 100, maxBytesOfKey: 100 });
    const [first, second] = [holder('a'), holder('a')];
    await first.takeAnswer(5);
    await second.takeAnswer(1);
    await first.takeAnswer(20);
    const waiting = second.takeAnswer(10);
    expect([first.bytes, waiting]).toEqual([200, expect.any(Promise)]);
    await first.keepOfAnswer(2);
    await waiting;
    expect([first.bytes, second.bytes]).toEqual([2, 88]);
  });

  test('is free once all who hold it have ended; who leaves while waiting takes none', async () => {
    const { holder } = open({ maxBytes: 100 });
    const first = holder();
    void first.take(100);
    first.share();
    first.end();
    const [gone, next] = [holder(), holder()];
    const left = gone.take(10);
    gone.end();
    await left;
    expect(gone.bytes).toBe(0);
    const waiting = next.take(80);
    expect(waiting).toBeInstanceOf(Promise);
    first.end();
    await waiting;
    first.end();
    expect(next.tryTake(20)).toBe(true);
    expect(holder().tryTake(1)).toBe(false);
    next.giveBack(50);
    expect(holder().tryTake(50)).toBe(true);
  });
});
