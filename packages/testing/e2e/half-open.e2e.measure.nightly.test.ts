import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startHttpBackend } from '../fake-upstream/start-http-backend';
import { createTestKey } from '../stores/start-gateway';
import { ask, postChat, startEnvironment, type TestEnvironment } from './environment';
import { watchGateway } from './watch-gateway';

const EACH = 500;
const SERVED = 20;
const backend = startHttpBackend();
let env: TestEnvironment;
let key: string;
beforeAll(async () => {
  env = await startEnvironment({ kind: 'embedded', env: { BACKEND_ECHO_URL: backend.url } });
  ({ apiKey: key } = await createTestKey(env.gateway));
});
afterAll(async () => {
  await env.close();
  await backend.stop();
});

type Connection = Awaited<ReturnType<typeof Bun.connect>>;

/** A connection that has sent so much of a request. */
const begun = (sent: string, onData: (chunk: Uint8Array) => void = () => {}): Promise<Connection> => {
  const { hostname, port } = new URL(env.gateway.url);
  const data = (_: Connection, chunk: Uint8Array) => onData(chunk);
  const socket = { open: (one: Connection) => void one.write(sent), data };
  return Bun.connect({ hostname, port: Number(port), socket });
};

test('a thousand trickling connections delay no other request', async () => {
  await (await postChat(env.gateway, key, ask('first of all'))).text();
  const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${key}\r\n`;
  const body = `${head}Content-Type: application/json\r\nContent-Length: 2000\r\n\r\n{"model":`;
  const open: Connection[] = [];
  const { livezMs, grewMib } = await watchGateway(env.gateway, async () => {
    for (const sent of [head, body]) {
      open.push(...(await Promise.all(Array.from({ length: EACH }, () => begun(sent)))));
    }
    for (let round = 0; round < SERVED; round++) {
      // One more byte of each: of a header's name, or of space in the JSON.
      open.forEach((one, i) => void one.write(i < EACH ? 'x' : ' '));
      expect((await postChat(env.gateway, key, ask(`question ${round}`))).status).toBe(200);
    }
  });
  // They are half open still: none was refused or given up before its time.
  expect(open.filter(({ readyState }) => readyState === 1)).toHaveLength(2 * EACH);
  expect(grewMib).toBeLessThan(200);
  expect(livezMs).toBeLessThan(150);
  for (const one of open) one.terminate();
  expect((await postChat(env.gateway, key, ask('and after'))).status).toBe(200);
}, 20_000);

test('a body that trickles gets 408 after half a minute', async () => {
  const answers = ['/v1/chat/completions', '/infer/echo/slow'].map(async (path) => {
    const head = `POST ${path} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${key}\r\n`;
    const answer = Promise.withResolvers<string>();
    const socket = await begun(`${head}Content-Length: 1000\r\n\r\n`, (chunk) =>
      answer.resolve(Buffer.from(chunk).toString()),
    );
    const timer = setInterval(() => void socket.write('x'), 500);
    return answer.promise.finally(() => clearInterval(timer));
  });
  for (const answer of await Promise.all(answers)) expect(answer).toStartWith('HTTP/1.1 408');
}, 100_000);
