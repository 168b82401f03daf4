import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createTestKey } from '../stores/start-gateway';
import { ask, postChat, startEnvironment, type TestEnvironment } from './environment';
import { watchGateway } from './watch-gateway';

const EACH = 500;
const SERVED = 20;
let env: TestEnvironment;
let key: string;
beforeAll(async () => {
  env = await startEnvironment({ kind: 'embedded' });
  ({ apiKey: key } = await createTestKey(env.gateway));
});
afterAll(() => env.close());

type Connection = Awaited<ReturnType<typeof Bun.connect>>;

/** A connection that has sent so much of a request. */
const begun = (sent: string): Promise<Connection> => {
  const { hostname, port } = new URL(env.gateway.url);
  const socket = { open: (one: Connection) => void one.write(sent), data: () => {} };
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
