// The runtime resolves dots and backslashes before anybody sees the address: over sockets, since clients do as well.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { readTarget } from './read-target';

let server: ReturnType<typeof Bun.serve>;
beforeAll(() => {
  server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    fetch(request) {
      try {
        return Response.json(readTarget(request));
      } catch (error) {
        return new Response(String(error), { status: 400 });
      }
    },
  });
});
afterAll(() => server.stop(true));

/** What comes of an address that is sent as it is. */
function send(path: string): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  let text = '';
  const socket = connect(server.port ?? 0, '127.0.0.1', () => {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: gateway.test\r\nConnection: close\r\n\r\n`);
  });
  socket.on('data', (chunk) => {
    text += chunk.toString();
  });
  socket.on('close', () => {
    const [head = '', body = ''] = text.split('\r\n\r\n');
    resolve(head.startsWith('HTTP/1.1 200') ? JSON.parse(body) : head.slice(9, 12));
  });
  return promise;
}

test.each(['/infer/node/%2e%2e/py/predict', '/infer/node/../py/predict', '/infer/node/a\\..\\..\\py/predict'])(
  '%s counts as a request to the resolved backend, with its rules',
  async (path) => {
    expect(await send(path)).toEqual({ backend: 'py', method: 'GET', path: '/predict', search: '' });
  },
);

test.each([
  '/infer/node/%2e%2e/%2e%2e/admin/v1/keys',
  '/infer/node/%252e%252e/py',
  '/infer/node/..%2fpy',
  '/infer/node//py',
])('%s leads to no backend', async (path) => {
  expect(await send(path)).toBe('400');
});
