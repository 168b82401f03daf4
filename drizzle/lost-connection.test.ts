import { expect, test } from 'bun:test';
import { TEST_DATABASES } from '@llm0/testing/stores/test-databases';
import { connectDatabase } from './client';

/** `AuthenticationOk` and `ReadyForQuery` of the wire protocol. */
const LET_IN = [0x52, 0, 0, 0, 8, 0, 0, 0, 0];
const READY = [0x5a, 0, 0, 0, 5, 0x49];

const real = TEST_DATABASES.find(({ name }) => name === 'postgres');
if (real !== undefined) {
  test('a server that drops connections while they begin ends no process', async () => {
    const cut = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        data(socket, bytes) {
          // Lets it in, and is gone at its first query.
          if (bytes[0] === 0) socket.write(new Uint8Array([...LET_IN, ...READY]));
          else socket.end();
        },
      },
    });
    const database = connectDatabase({ url: `postgres://postgres@127.0.0.1:${cut.port}/postgres` });
    try {
      const failure = await database.ping().catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'CONNECTION_CLOSED' });
      await Bun.sleep(100);
    } finally {
      cut.stop(true);
      await database.close();
    }
  }, 30_000);

  // The client's own code would throw outside any promise and end the process: see patches/.
  test('a query on a connection whose server end is gone is refused, and the process lives', async () => {
    const database = await real.open();
    try {
      const reserved = await database.client.reserve();
      const [row] = await reserved<{ pid: number }[]>`select pg_backend_pid() as pid`;
      await database.client`select pg_terminate_backend(${row?.pid ?? 0})`;
      await Bun.sleep(100);
      const failure = await reserved`select 1`.catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: 'CONNECTION_CLOSED' });
      reserved.release();
      expect(await database.client`select 1 as one`).toMatchObject([{ one: 1 }]);
    } finally {
      await database.close();
    }
  }, 30_000);
}
