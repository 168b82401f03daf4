import { describe, expect, test } from 'bun:test';
import { Readers } from './readers';

const MIB = 1024 * 1024;

function open(bounds: { readonly ofKey?: number; readonly ofAll?: number } = {}) {
  const world = { nowMs: 0, unsent: new Map<number, number>(), ended: [] as Request[], cut: [] as string[] };
  const ports = new Map<Request, number>();
  const readers = new Readers({
    ...{ timeoutMs: 60_000, tickMs: 1e9, monotonicMs: () => world.nowMs, bounds },
    readUnsent: async () => (address) => world.unsent.get(address.port),
  });
  readers.connections = {
    addressOf: (request) => ({ address: '127.0.0.1', port: ports.get(request) ?? 0 }),
    end: (request) => void world.ended.push(request),
  };
  const begin = (name: string, key = 'a') => {
    const request = new Request('http://gateway.test/');
    ports.set(request, ports.size + 1);
    const ahead = { isFlooded: false };
    const reader = readers.begin({ request, key, ahead }, () => void world.cut.push(name));
    reader.asked();
    return { reader, request, port: ports.size, ahead };
  };
  const tickAt = async (nowMs: number) => {
    world.nowMs = nowMs;
    await readers.tick();
  };
  return { world, readers, begin, tickAt };
}

describe('a caller that is answered', () => {
  test('and takes nothing for SLOW_READER_TIMEOUT is cut, and its connection ends', async () => {
    const { world, readers, begin, tickAt } = open();
    const { reader, request } = begin('slow');
    reader.gave(100);
    for (const nowMs of [0, 1000, 30_000, 59_999]) await tickAt(nowMs);
    expect(world.cut).toEqual([]);
    await tickAt(60_000);
    expect([world.cut, world.ended, readers.count]).toEqual([['slow'], [request], 0]);
    await tickAt(200_000);
    expect(world.cut).toEqual(['slow']);
  });

  test('is not cut while a vendor is waited for, nor where it takes something now and then', async () => {
    const { world, begin, tickAt } = open();
    const silent = begin('silent');
    const dripping = begin('dripping');
    silent.reader.gave(1);
    silent.reader.asked();
    dripping.reader.gave(1);
    for (let nowMs = 0; nowMs < 400_000; nowMs += 1000) {
      if (nowMs % 50_000 === 0) {
        dripping.reader.asked();
        dripping.reader.gave(1);
      }
      await tickAt(nowMs);
    }
    expect(world.cut).toEqual([]);
  });

  test('is not cut while the system gets rid of something, however little', async () => {
    const { world, begin, tickAt } = open();
    const { reader, port } = begin('thin');
    reader.gave(MIB);
    for (let nowMs = 0; nowMs < 400_000; nowMs += 1000) {
      world.unsent.set(port, 4_000_000 - Math.floor(nowMs / 50_000));
      await tickAt(nowMs);
    }
    expect(world.cut).toEqual([]);
    for (let nowMs = 400_000; nowMs < 530_000; nowMs += 1000) await tickAt(nowMs);
    expect(world.cut).toEqual(['thin']);
  });

  test('shares a bound with all of its key that take nothing: who waits longest is cut', async () => {
    const { world, begin, tickAt } = open({ ofKey: 6_000_000 });
    const flooded = (name: string, key?: string) => {
      const { reader, ahead } = begin(name, key);
      reader.gave(MIB);
      ahead.isFlooded = true;
    };
    flooded('first');
    await tickAt(0);
    await tickAt(100);
    for (const name of ['second', 'third']) flooded(name);
    for (const name of ['others', 'others too']) flooded(name, 'b');
    await tickAt(200);
    await tickAt(300);
    expect(world.cut).toEqual(['first']);
  });

  test('shares one with those of all keys', async () => {
    const { world, begin, tickAt } = open({ ofAll: 6_000_000 });
    for (const name of ['first', 'second', 'third']) {
      const { reader, ahead } = begin(name, name);
      reader.gave(MIB);
      ahead.isFlooded = true;
      await tickAt(world.nowMs + 100);
    }
    await tickAt(1000);
    expect(world.cut).toEqual(['first']);
  });

  test('counts by how fast its answer came: hundreds of slow ones may pause for seconds, a few fast ones may not', async () => {
    const { world, begin, tickAt } = open();
    const slow = Array.from({ length: 300 }, (_, number) => begin(`slow ${number}`).reader);
    const fast = Array.from({ length: 40 }, (_, number) => begin(`fast ${number}`, 'b').reader);
    for (let nowMs = 0; nowMs < 5000; nowMs += 100) {
      for (const [readers, bytes] of [
        [slow, 1000],
        [fast, 500_000],
      ] as const) {
        for (const reader of readers) {
          reader.asked();
          reader.gave(bytes);
        }
      }
      await tickAt(nowMs);
    }
    for (let nowMs = 5000; nowMs < 9000; nowMs += 100) await tickAt(nowMs);
    expect(world.cut).toHaveLength(30);
    expect(world.cut.filter((name) => name.startsWith('slow'))).toEqual([]);
  });

  test('counts for nothing where its answer is there already', async () => {
    const { world, readers, tickAt } = open({ ofKey: 1000 });
    for (let number = 0; number < 20; number++) {
      const request = new Request('http://gateway.test/');
      const reader = readers.begin({ request, key: 'a' }, () => void world.cut.push('whole'));
      reader.asked();
      reader.gave(MIB);
    }
    for (let nowMs = 0; nowMs < 20_000; nowMs += 100) await tickAt(nowMs);
    expect(world.cut).toEqual([]);
  });
});
