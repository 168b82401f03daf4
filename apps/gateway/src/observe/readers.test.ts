import { describe, expect, test } from 'bun:test';
import { Readers } from './readers';

const MIB = 1024 * 1024;

function open(given: { readonly maxBytesOfKey?: number } = {}) {
  const world = { nowMs: 0, unsent: new Map<number, number>(), ended: [] as Request[], cut: [] as string[] };
  const ports = new Map<Request, number>();
  const readers = new Readers({
    ...{ timeoutMs: 60_000, tickMs: 1e9, monotonicMs: () => world.nowMs, ...given },
    readUnsent: async () => (address) => world.unsent.get(address.port),
  });
  readers.connections = {
    addressOf: (request) => ({ address: '127.0.0.1', port: ports.get(request) ?? 0 }),
    end: (request) => void world.ended.push(request),
  };
  const begin = (name: string, key = 'a') => {
    const request = new Request('http://gateway.test/');
    ports.set(request, ports.size + 1);
    const reader = readers.begin(request, key, () => void world.cut.push(name));
    reader.asked();
    return { reader, request, port: ports.size };
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
    for (const nowMs of [0, 1000, 30_000, 60_999]) await tickAt(nowMs);
    expect(world.cut).toEqual([]);
    await tickAt(61_000);
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
    const { world, begin, tickAt } = open({ maxBytesOfKey: 4 * MIB });
    const stalled = (name: string, bytes: number, key?: string) => begin(name, key).reader.gave(bytes);
    stalled('first', 2 * MIB);
    await tickAt(0);
    await tickAt(500);
    for (const name of ['second', 'third']) stalled(name, 1.5 * MIB);
    stalled('other', 2.5 * MIB, 'b');
    for (let number = 0; number < 100; number++) stalled(`small ${number}`, 1000);
    await tickAt(1000);
    await tickAt(1500);
    expect(world.cut).toEqual(['first']);
    // A vendor may have sent more meanwhile than was given on.
    await tickAt(7000);
    expect(world.cut.length).toBeGreaterThan(90);
    expect(world.cut).not.toContain('other');
  });
});
