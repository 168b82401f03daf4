import { expect, test } from 'bun:test';
import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:net';
import { mayBeBilled, notConnected } from './upstream-failure';
import { watchConnecting } from './watch-connecting';

class Dialled extends EventEmitter {
  readonly destroyed = Promise.withResolvers<void>();
  constructor(readonly place: { readonly host: string; readonly port: number }) {
    super();
  }
  destroy(): this {
    this.destroyed.resolve();
    return this;
  }
}

function watch(url: string, withinMs = 20) {
  const dialled = Promise.withResolvers<Dialled>();
  const failed = Promise.withResolvers<'failed'>();
  const dial = (place: Dialled['place']) => {
    const socket = new Dialled(place);
    dialled.resolve(socket);
    return socket as never;
  };
  const stop = watchConnecting({ url, withinMs, onFailed: () => failed.resolve('failed'), dial });
  return { stop, dialled: dialled.promise, failed: failed.promise };
}

test('a host that takes no connection in time is told of', async () => {
  const { dialled, failed } = watch('https://vendor.test/v1');
  expect(await failed).toBe('failed');
  const { place, destroyed } = await dialled;
  expect(place).toEqual({ host: 'vendor.test', port: 443 });
  await destroyed.promise;
  expect(mayBeBilled(notConnected('vendor', 30_000.4), 'vendor')).toBe(false);
  expect(notConnected('vendor', 30_000.4).message).toBe('vendor accepted no connection within 30000 ms.');
});

test.each(['connect', 'error'])('%s: it is there, and the connection is let go of', async (event) => {
  const { dialled, failed } = watch('http://[::1]:81/v1', 100);
  const socket = await dialled;
  expect(socket.place).toEqual({ host: '::1', port: 81 });
  socket.emit(event, new Error('refused'));
  await socket.destroyed.promise;
  expect(await Promise.race([failed, Bun.sleep(120)])).toBeUndefined();
});

test('a real host; and an answer that came ends the watch', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const stop = watchConnecting({
    url: `http://127.0.0.1:${port}/v1`,
    withinMs: 20,
    onFailed: () => expect.unreachable(),
  });
  await once(server, 'connection');
  stop();
  server.close();
  const { stop: stopSoon, failed } = watch('http://vendor.test/v1');
  stopSoon();
  expect(await Promise.race([failed, Bun.sleep(40)])).toBeUndefined();
});
