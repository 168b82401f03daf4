import { expect, test } from 'bun:test';
import { startHttpBackend } from '../fake-upstream/start-http-backend';
import { createTestKey } from '../stores/start-gateway';
import { startEnvironment } from './environment';

test('a body that trickles gets 408 after half a minute', async () => {
  const backend = startHttpBackend();
  const env = await startEnvironment({ kind: 'embedded', env: { BACKEND_ECHO_URL: backend.url } });
  try {
    const { apiKey } = await createTestKey(env.gateway);
    const { hostname, port } = new URL(env.gateway.url);
    const answers = ['/v1/chat/completions', '/infer/echo/slow'].map(async (path) => {
      const head = `POST ${path} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${apiKey}\r\n`;
      const answer = Promise.withResolvers<string>();
      const data = (_: unknown, chunk: Uint8Array) => answer.resolve(Buffer.from(chunk).toString());
      const socket = await Bun.connect({ hostname, port: Number(port), socket: { data } });
      socket.write(`${head}Content-Length: 1000\r\n\r\n`);
      const timer = setInterval(() => void socket.write('x'), 500);
      return answer.promise.finally(() => clearInterval(timer));
    });
    for (const answer of await Promise.all(answers)) expect(answer).toStartWith('HTTP/1.1 408');
  } finally {
    await env.close();
    await backend.stop();
  }
}, 100_000);
